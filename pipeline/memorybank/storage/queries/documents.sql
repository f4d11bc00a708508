-- name: lock
-- audience: an operation stages the documents of the audience of its claim
-- Documents about to be written, locked in the order of their numbers, as by all who lock several: no deadlock.
SELECT d.number, d.id, d.audience_id, d.original_text, d.retain_params, d.tags, d.submitted_at,
       (SELECT max(e.created_at) FROM document_event e WHERE e.document = d.number AND e.kind = 'retag') AS retagged_at
FROM document d WHERE d.bank = %(bank)s AND d.audience_id = %(audience_id)s AND d.id = ANY(%(ids)s)
ORDER BY d.number FOR UPDATE

-- name: put
-- Writes a document. Its audience never changes.
INSERT INTO document (bank, id, audience_id, is_placed, original_text, text_length, content_hash, retain_params, metadata,
                      tags, observation_scopes, submitted_at, created_at, updated_at)
SELECT %(bank)s, %(id)s, a.id, a.kind <> 'bank', %(original_text)s, %(text_length)s, %(content_hash)s, %(retain_params)s,
       %(metadata)s, %(tags)s, %(observation_scopes)s, %(submitted_at)s, %(now)s, %(now)s
FROM audience a WHERE a.id = %(audience_id)s
ON CONFLICT (bank, id, audience_id) DO UPDATE
SET original_text = excluded.original_text, text_length = excluded.text_length, content_hash = excluded.content_hash,
    retain_params = excluded.retain_params, metadata = excluded.metadata, tags = excluded.tags,
    observation_scopes = excluded.observation_scopes, submitted_at = excluded.submitted_at,
    updated_at = excluded.updated_at
RETURNING number

-- name: find
-- One document that the viewer may see: of several with this id the oldest, as in all that reads or changes one.
SELECT number, id, audience_id, original_text, retain_params, tags, submitted_at
FROM document
WHERE bank = %(bank)s AND id = %(id)s AND (%(sees_all)s OR audience_id = ANY(%(audiences)s::bigint[]))
ORDER BY number LIMIT 1

-- name: lock_all
-- The documents with this id that the viewer may see, held for a change.
SELECT number FROM document
WHERE bank = %(bank)s AND id = %(id)s AND (%(sees_all)s OR audience_id = ANY(%(audiences)s::bigint[]))
ORDER BY number FOR UPDATE

-- name: count_units
-- audience: the documents were found under the viewer, and their units share their audience
-- What goes with documents: no other says it.
SELECT count(*) AS units FROM memory_unit u
WHERE u.document = ANY(%(numbers)s) AND NOT EXISTS (
    SELECT 1 FROM unit_mention m JOIN chunk c ON c.id = m.chunk WHERE m.unit = u.id AND c.document <> ALL(%(numbers)s))

-- name: delete
-- audience: the documents were found under the viewer
-- Chunks, units, search rows, links and mentions go by foreign key; units that others mention move to them first.
DELETE FROM document WHERE number = ANY(%(numbers)s)

-- name: tag_document
-- audience: the document was found under the viewer
-- New tags of a document.
UPDATE document SET tags = %(tags)s, updated_at = %(now)s WHERE number = %(number)s

-- name: tag_chunks
-- audience: the document was found under the viewer, and its chunks share its audience
-- New tags for facts still to be drawn.
UPDATE chunk SET tags = %(tags)s WHERE document = %(number)s

-- name: tag_units
-- audience: the document was found under the viewer, and its units share its audience
-- New tags of the facts, in the one order in which facts have them.
UPDATE memory_unit SET tags = %(unit_tags)s, updated_at = %(now)s WHERE document = %(number)s
