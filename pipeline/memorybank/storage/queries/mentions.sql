-- name: alone
-- No other transaction writes or deletes facts of this bank until this one ends. Plans may be kept in it, see
-- operations.fence: else what goes by foreign key is planned for each row.
SELECT pg_advisory_xact_lock(hashtextextended('facts', %(bank)s)), set_config('plan_cache_mode', 'auto', true)

-- name: alone_for
-- audience: an operation asks whether its own documents are there
-- The same, if one of these documents exists: what is new takes nothing away.
SELECT pg_advisory_xact_lock(hashtextextended('facts', known.bank))
FROM (SELECT d.bank FROM document d
      WHERE d.bank = %(bank)s AND d.audience_id = %(audience_id)s AND d.id = ANY(%(ids)s::text[]) LIMIT 1) AS known

-- name: beside
-- Nobody deletes facts of this bank until the transaction ends, nor writes statements that fall into these buckets in
-- this audience. In order: two that share several never wait for each other.
SELECT pg_advisory_xact_lock_shared(hashtextextended('facts', %(bank)s))
UNION ALL
SELECT pg_advisory_xact_lock(hashtextextended(format('statement %%s', bucket), %(audience_id)s))
FROM unnest(%(buckets)s::integer[]) AS bucket

-- name: same
-- audience: new facts are compared with facts of the audience that their lease writes for
-- The oldest active fact that says the same, of the same tags, metadata and scopes, where there is one. Written so that
-- one index fits, whatever the planner knows: by any other it would read the bank for each.
SELECT asked.place, held.id, held.chunk
FROM jsonb_to_recordset(%(asked)s) AS asked (place integer, statement text, tags text[], metadata jsonb, scopes jsonb)
CROSS JOIN LATERAL (
    SELECT u.id, u.chunk
    FROM (SELECT m.id, m.chunk, m.bank, m.audience_id, m.tags, m.metadata, m.observation_scopes FROM memory_unit m
          WHERE m.statement = decode(asked.statement, 'hex') AND m.status = 'active'
            AND about_key(m.bank, m.tags, m.metadata, m.observation_scopes)
                = about_key(%(bank)s, asked.tags, asked.metadata, asked.scopes) OFFSET 0) AS u
    WHERE u.bank = %(bank)s AND u.audience_id = %(audience_id)s
      AND u.tags = asked.tags AND u.metadata = asked.metadata AND u.observation_scopes IS NOT DISTINCT FROM asked.scopes
    ORDER BY u.id LIMIT 1
) AS held

-- name: curated
-- audience: the holder of a lease reads what its own operation replaces
-- Facts that people have corrected or invalidated in the chunks which an operation replaces, as they were read.
SELECT u.id AS unit, said.chunk, said.document, coalesce(u.read_statement, u.statement) AS statement,
       coalesce(u.read_text, u.text) AS text, u.corrected && ARRAY['text', 'entities'] AS names_own
FROM (SELECT u.id, c.id AS chunk, c.document FROM chunk c JOIN memory_unit u ON u.chunk = c.id
      WHERE c.operation = %(operation)s AND c.state = 'replaced'
      UNION
      SELECT m.unit, c.id, c.document FROM chunk c JOIN unit_mention m ON m.chunk = c.id
      WHERE c.operation = %(operation)s AND c.state = 'replaced') AS said
JOIN memory_unit u ON u.id = said.id
WHERE is_curated(u)
ORDER BY u.id

-- name: copy
-- audience: rows are only added, for facts of the audience of a claim
-- What was said again.
COPY unit_mention (bank, audience_id, unit, chunk, place, context, mentioned_at, mentioned_at_assumed) FROM STDIN

-- name: described
-- audience: the caller changes chunks of a document that it has locked and whose audience it has checked
-- A chunk, if it will have other tags, metadata or scopes.
SELECT c.id FROM chunk c
WHERE c.id = %(id)s
  AND NOT (c.tags @> %(tags)s::text[] AND c.tags <@ %(tags)s::text[] AND c.metadata = %(metadata)s
           AND c.observation_scopes IS NOT DISTINCT FROM %(observation_scopes)s::jsonb)

-- name: retagged
-- audience: the caller changes a document that it has locked under the viewer
-- Chunks of a document that say facts which will have other tags.
SELECT DISTINCT c.id
FROM chunk c
JOIN (SELECT u.chunk, u.tags FROM memory_unit u WHERE u.document = %(document)s
      UNION ALL
      SELECT m.chunk, u.tags FROM chunk d JOIN unit_mention m ON m.chunk = d.id JOIN memory_unit u ON u.id = m.unit
      WHERE d.document = %(document)s) AS said ON said.chunk = c.id
WHERE said.tags <> %(tags)s::text[]

-- name: rehome
-- Facts of these chunks that are said in others too live there from now on.
SELECT rehome(%(ids)s::uuid[])

-- name: shared
-- audience: the caller changes chunks of a document that it has locked and whose audience it has checked
-- Facts that live elsewhere and are said in these chunks too; the chunk where each would live if it were theirs.
SELECT DISTINCT ON (m.unit) m.unit, m.chunk
FROM unit_mention m JOIN memory_unit u ON u.id = m.unit
WHERE m.chunk = ANY(%(ids)s::uuid[]) AND u.chunk <> ALL(%(ids)s::uuid[])
ORDER BY m.unit, m.mentioned_at, m.place

-- name: copy_units
-- audience: the caller changes chunks of a document that it has locked and whose audience it has checked
-- The same facts once more, at the places of their mentions.
INSERT INTO memory_unit
SELECT made.*
FROM unnest(%(units)s::uuid[], %(copies)s::uuid[], %(chunks)s::uuid[]) AS asked (unit, copy, chunk)
JOIN memory_unit u ON u.id = asked.unit
JOIN unit_mention m ON m.unit = asked.unit AND m.chunk = asked.chunk
JOIN chunk c ON c.id = asked.chunk
CROSS JOIN LATERAL jsonb_populate_record(u, jsonb_build_object(
    'id', asked.copy, 'document', c.document, 'document_number', c.document, 'position', c.ordinal * 1024 + m.place,
    'chunk', c.id, 'context', CASE WHEN 'context' = ANY(u.corrected) THEN u.context ELSE m.context END,
    'mentioned_at', CASE WHEN 'mentioned_at' = ANY(u.corrected) THEN u.mentioned_at ELSE m.mentioned_at END,
    'mentioned_at_assumed', m.mentioned_at_assumed AND 'mentioned_at' <> ALL(u.corrected),
    'consolidated_at', NULL, 'consolidation_failed_at', NULL
)) AS made

-- name: copy_postings
-- audience: the caller changes chunks of a document that it has locked and whose audience it has checked
-- Their terms.
INSERT INTO posting (bank, term, document, position, audience_id, tf, length)
SELECT p.bank, p.term, made.document_number, made.position, p.audience_id, p.tf, p.length
FROM unnest(%(units)s::uuid[], %(copies)s::uuid[]) AS asked (unit, copy)
JOIN memory_unit u ON u.id = asked.unit
JOIN memory_unit made ON made.id = asked.copy
JOIN posting p ON p.bank = u.bank AND p.document = u.document_number AND p.position = u.position

-- name: copy_vectors
-- audience: the caller changes chunks of a document that it has locked and whose audience it has checked
-- Their vectors.
INSERT INTO embedding (bank, document, position, audience_id, model, speaker, traits, text_hash, vector)
SELECT e.bank, made.document_number, made.position, e.audience_id, e.model, e.speaker, e.traits, e.text_hash, e.vector
FROM unnest(%(units)s::uuid[], %(copies)s::uuid[]) AS asked (unit, copy)
JOIN memory_unit u ON u.id = asked.unit
JOIN memory_unit made ON made.id = asked.copy
JOIN embedding e ON e.bank = u.bank AND e.document = u.document_number AND e.position = u.position

-- name: hand_names
-- audience: the caller changes chunks of a document that it has locked and whose audience it has checked
-- What these chunks name is named by the copy.
UPDATE unit_entity ue SET unit = asked.copy
FROM unnest(%(units)s::uuid[], %(copies)s::uuid[]) AS asked (unit, copy)
WHERE ue.unit = asked.unit AND ue.chunk = ANY(%(ids)s::uuid[])

-- name: copy_names
-- What people have said that they name.
INSERT INTO unit_entity (unit, entity, bank, keys, via)
SELECT asked.copy, ue.entity, ue.bank, ue.keys, ue.via
FROM unnest(%(units)s::uuid[], %(copies)s::uuid[]) AS asked (unit, copy)
JOIN unit_entity ue ON ue.unit = asked.unit AND ue.chunk IS NULL

-- name: copy_links
-- What they are linked to, and what is linked to them.
INSERT INTO unit_link (source, target, kind, weight, bank)
SELECT asked.copy, l.target, l.kind, l.weight, l.bank
FROM unnest(%(units)s::uuid[], %(copies)s::uuid[]) AS asked (unit, copy) JOIN unit_link l ON l.source = asked.unit
UNION ALL
SELECT l.source, asked.copy, l.kind, l.weight, l.bank
FROM unnest(%(units)s::uuid[], %(copies)s::uuid[]) AS asked (unit, copy) JOIN unit_link l ON l.target = asked.unit

-- name: delete_homes
-- audience: the caller changes chunks of a document that it has locked and whose audience it has checked
-- Mentions that became the home of a copy.
DELETE FROM unit_mention m
USING unnest(%(units)s::uuid[], %(chunks)s::uuid[]) AS asked (unit, chunk)
WHERE m.unit = asked.unit AND m.chunk = asked.chunk

-- name: hand_over
-- audience: the caller changes chunks of a document that it has locked and whose audience it has checked
-- Other mentions in these chunks are of the copy.
UPDATE unit_mention m SET unit = asked.copy
FROM unnest(%(units)s::uuid[], %(copies)s::uuid[]) AS asked (unit, copy)
WHERE m.unit = asked.unit AND m.chunk = ANY(%(ids)s::uuid[])

-- name: recount
-- audience: the caller changes chunks of a document that it has locked and whose audience it has checked
-- How often each is said now.
UPDATE memory_unit u SET proof_count = 1 + (SELECT count(*) FROM unit_mention m WHERE m.unit = u.id)
WHERE u.id = ANY(%(units)s::uuid[] || %(copies)s::uuid[])
