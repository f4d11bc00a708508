-- name: of_document
-- audience: staging compares a document that it has locked and whose audience it has checked
-- The chunks a document has, for delta.
SELECT * FROM chunk WHERE document = %(document)s ORDER BY ordinal

-- name: copy
-- audience: staging writes chunks of the audience of its claim
-- New chunks, pending.
COPY chunk (id, bank, audience_id, operation, created_at, document, ordinal, text, content_hash, context, mentioned_at,
            mentioned_at_assumed, utc_offset, tags, metadata, observation_scopes, entities, resolve_entities, strategy)
FROM STDIN

-- name: defer_order
-- Places may be taken twice while chunks change them.
SET CONSTRAINTS chunk_document_ordinal_key DEFERRED

-- name: check_order
-- Each place is taken once again.
SET CONSTRAINTS chunk_document_ordinal_key IMMEDIATE

-- name: move
-- audience: staging moves chunks of a document that it has locked and whose audience it has checked
-- New places of chunks.
UPDATE chunk c SET ordinal = m.ordinal
FROM unnest(%(ids)s::uuid[], %(ordinals)s::integer[]) AS m (id, ordinal)
WHERE c.id = m.id

-- name: free_addresses
-- audience: staging moves chunks of a document that it has locked and whose audience it has checked
-- Puts units of moving chunks below zero: their addresses are unique at every moment.
UPDATE memory_unit SET position = -1 - position WHERE chunk = ANY(%(ids)s::uuid[])

-- name: move_units
-- audience: staging moves chunks of a document that it has locked and whose audience it has checked
-- Addresses of units follow their chunk; search rows follow by foreign key.
UPDATE memory_unit u SET position = m.ordinal * 1024 + (-1 - u.position) %% 1024
FROM unnest(%(ids)s::uuid[], %(ordinals)s::integer[]) AS m (id, ordinal)
WHERE u.chunk = m.id

-- name: describe_units
-- audience: staging changes chunks of a document that it has locked and whose audience it has checked
-- What facts take from their item; tags that a fact has beyond its chunk's stay. Before `describe`, which forgets them.
UPDATE memory_unit u
SET tags = (SELECT coalesce(array_agg(DISTINCT tag COLLATE "C"), '{}')
            FROM unnest(array(SELECT unnest(u.tags) EXCEPT SELECT unnest(c.tags)) || %(tags)s::text[]) AS tag),
    metadata = %(metadata)s, observation_scopes = %(observation_scopes)s, updated_at = %(now)s,
    context = CASE WHEN 'context' = ANY(u.corrected) THEN u.context ELSE %(context)s END
FROM chunk c
WHERE c.id = %(id)s AND u.chunk = c.id

-- name: describe
-- audience: staging changes chunks of a document that it has locked and whose audience it has checked
-- What a chunk takes from its item.
UPDATE chunk SET tags = %(tags)s, metadata = %(metadata)s, observation_scopes = %(observation_scopes)s,
                 context = %(context)s
WHERE id = %(id)s

-- name: describe_mentions
-- audience: staging changes chunks of a document that it has locked and whose audience it has checked
-- What mentions take from their item.
UPDATE unit_mention SET context = %(context)s WHERE chunk = %(id)s

-- name: adopt
-- audience: staging takes over chunks of a document that it has locked and whose audience it has checked
-- Chunks that an earlier operation lost or never reached.
UPDATE chunk c SET operation = %(operation)s, state = 'pending', error = NULL, text = m.text
FROM unnest(%(ids)s::uuid[], %(texts)s::text[]) AS m (id, text)
WHERE c.id = m.id

-- name: keep_texts
-- audience: staging changes chunks of a document that it has locked and whose audience it has checked
-- Texts of chunks with facts, as the bank now keeps them or not.
UPDATE chunk c SET text = CASE WHEN %(keep)s THEN m.text END
FROM chunk o LEFT JOIN unnest(%(ids)s::uuid[], %(texts)s::text[]) AS m (id, text) ON m.id = o.id
WHERE c.id = o.id AND c.document = %(document)s AND c.state IN ('extracted', 'replaced') AND (m.id IS NOT NULL OR NOT %(keep)s)

-- name: delete
-- audience: staging deletes chunks of a document that it has locked and whose audience it has checked
-- Chunks that are gone from the text; their facts go by foreign key.
DELETE FROM chunk WHERE id = ANY(%(ids)s::uuid[])

-- name: said
-- audience: staging deletes chunks of a document that it has locked and whose audience it has checked
-- How many facts go with chunks from a document, those that stay elsewhere among them.
SELECT c.document, count(*) AS facts
FROM chunk c
JOIN (SELECT chunk FROM memory_unit WHERE chunk = ANY(%(ids)s::uuid[])
      UNION ALL
      SELECT chunk FROM unit_mention WHERE chunk = ANY(%(ids)s::uuid[])) AS said ON said.chunk = c.id
GROUP BY c.document

-- name: replace
-- audience: staging changes chunks of a document that it has locked and whose audience it has checked
-- Chunks that go when others stand in their place.
UPDATE chunk SET state = 'replaced', operation = %(operation)s WHERE id = ANY(%(ids)s::uuid[])

-- name: replaced
-- audience: the holder of a lease deletes what its own operation has replaced
-- What it has replaced, and whether it may go. Where the same text is among the new chunks, when that is extracted. Other
-- text: when all new chunks are whole, if the document is read again; of a text that is no longer told, when any is
-- extracted or there are none.
SELECT c.id, CASE
    WHEN bool_or(n.content_hash = c.content_hash)
        THEN bool_or(n.content_hash = c.content_hash AND n.state = 'extracted')
    WHEN EXISTS (SELECT 1 FROM document_event e WHERE e.document = c.document AND e.operation = c.operation
                                                  AND e.kind = 'reprocess')
        THEN coalesce(bool_and(n.state = 'extracted' AND n.error IS NULL), true)
    ELSE coalesce(bool_or(n.state = 'extracted'), true) END AS goes
FROM chunk c
LEFT JOIN chunk n ON n.document = c.document AND n.operation = c.operation AND n.state <> 'replaced'
WHERE c.operation = %(operation)s AND c.state = 'replaced'
GROUP BY c.id

-- name: inherit
-- audience: the holder of a lease moves facts between chunks of its own operation
-- Chunks that lost some facts take over those of the replaced chunks of the same text which they did not say again, at
-- the free places behind their own; those that lost none, what people have corrected or invalidated.
WITH pair AS (
    SELECT DISTINCT ON (c.id) c.id AS old, n.id AS new, n.ordinal, n.error IS NOT NULL AS in_part
    FROM chunk c
    JOIN chunk n ON n.document = c.document AND n.operation = c.operation AND n.content_hash = c.content_hash
    WHERE c.operation = %(operation)s AND c.state = 'replaced' AND n.state = 'extracted'
    ORDER BY c.id, n.error IS NULL, n.ordinal
), said AS (
    SELECT p.old AS chunk, u.id AS unit, u.position %% 1024 AS place, true AS home
    FROM memory_unit u JOIN (SELECT old FROM pair UNION SELECT new FROM pair) AS p ON p.old = u.chunk
    UNION ALL
    SELECT p.old, m.unit, m.place, false
    FROM unit_mention m JOIN (SELECT old FROM pair UNION SELECT new FROM pair) AS p ON p.old = m.chunk
), unsaid AS (
    SELECT DISTINCT ON (p.new, s.unit) p.old, p.new, p.ordinal, s.unit, s.place
    FROM pair p JOIN said s ON s.chunk = p.old
    WHERE (p.in_part OR EXISTS (SELECT 1 FROM memory_unit u WHERE u.id = s.unit AND is_curated(u)))
      AND NOT EXISTS (SELECT 1 FROM said n WHERE n.chunk = p.new AND n.unit = s.unit)
    ORDER BY p.new, s.unit, s.home DESC
), placed AS (
    SELECT u.old, u.new, u.ordinal, u.unit,
           row_number() OVER (PARTITION BY u.new ORDER BY u.place, u.unit)
               + (SELECT coalesce(max(n.place), -1) FROM said n WHERE n.chunk = u.new) AS place
    FROM unsaid u
), named AS (
    UPDATE unit_entity e SET chunk = p.new FROM placed p WHERE e.unit = p.unit AND e.chunk = p.old AND p.place < 1024
), mentioned AS (
    UPDATE unit_mention m SET chunk = p.new, place = p.place
    FROM placed p WHERE m.unit = p.unit AND m.chunk = p.old AND p.place < 1024
)
UPDATE memory_unit u SET chunk = p.new, position = p.ordinal * 1024 + p.place
FROM placed p WHERE u.id = p.unit AND u.chunk = p.old AND p.place < 1024

-- name: redescribe
-- audience: the holder of a lease moves facts between chunks of its own operation
-- What people have corrected or invalidated, and what only this operation says, takes from the new chunk what it took from
-- the replaced one.
UPDATE memory_unit u
SET tags = (SELECT coalesce(array_agg(DISTINCT tag COLLATE "C"), '{}')
            FROM unnest(array(SELECT unnest(u.tags) EXCEPT SELECT unnest(c.tags)) || n.tags) AS tag),
    metadata = n.metadata, observation_scopes = n.observation_scopes
FROM chunk c, unit_mention m, chunk n
WHERE c.operation = %(operation)s AND c.state = 'replaced' AND u.chunk = c.id AND is_curated(u)
  AND m.unit = u.id AND n.id = m.chunk AND n.operation = c.operation AND n.state = 'extracted'
  AND (NOT (c.tags @> n.tags AND c.tags <@ n.tags) OR c.metadata <> n.metadata
       OR c.observation_scopes IS DISTINCT FROM n.observation_scopes)
  AND NOT EXISTS (SELECT 1 FROM unit_mention o JOIN chunk other ON other.id = o.chunk
                  WHERE o.unit = u.id AND other.operation IS DISTINCT FROM c.operation)

-- name: pending
-- audience: the holder of a lease reads the chunks of its own operation
-- What an operation must extract next.
SELECT c.id, c.document, d.id AS document_id, c.ordinal, c.text, c.context, c.mentioned_at, c.mentioned_at_assumed,
       c.utc_offset, c.tags, c.metadata, c.observation_scopes, c.entities, c.resolve_entities, c.strategy,
       (SELECT max(n.ordinal) + 1 FROM chunk n WHERE n.document = c.document AND n.state <> 'replaced') AS total
FROM chunk c JOIN document d ON d.number = c.document
WHERE c.operation = %(operation)s AND c.state = 'pending' AND c.text IS NOT NULL
ORDER BY c.document, c.ordinal
LIMIT %(limit)s

-- name: finish
-- audience: the holder of a lease writes the chunks of its own operation
-- Done, once: a chunk that is gone or was done before is not returned. What it takes from its item may have changed
-- while it was read.
UPDATE chunk SET state = 'extracted', error = NULL, text = CASE WHEN %(keep_text)s THEN text END
WHERE id = ANY(%(ids)s::uuid[]) AND operation = %(operation)s AND state = 'pending'
RETURNING id, context, mentioned_at, mentioned_at_assumed, utc_offset, tags, metadata, observation_scopes, entities,
          resolve_entities, strategy

-- name: fail
-- audience: the holder of a lease writes the chunks of its own operation
-- Lost, with the reason.
UPDATE chunk c SET state = 'failed', error = m.error, text = CASE WHEN %(keep_text)s THEN c.text END
FROM unnest(%(ids)s::uuid[], %(errors)s::text[]) AS m (id, error)
WHERE c.id = m.id AND c.operation = %(operation)s AND c.state = 'pending'
RETURNING c.id

-- name: note
-- audience: the holder of a lease writes the chunks of its own operation
-- Extracted, but not all of it.
UPDATE chunk c SET error = m.error
FROM unnest(%(ids)s::uuid[], %(errors)s::text[]) AS m (id, error)
WHERE c.id = m.id AND c.operation = %(operation)s AND c.state = 'extracted'

-- name: retry_failed
-- audience: the holder of a lease writes the chunks of its own operation
-- Somebody asked for the operation to be done again.
UPDATE chunk SET state = 'pending', error = NULL
WHERE operation = %(operation)s AND state = 'failed' AND text IS NOT NULL

-- name: counts
-- audience: the holder of a lease counts the chunks of its own operation
-- What is left and what is lost; errors name the chunk, in order.
SELECT count(*) FILTER (WHERE c.state = 'pending') AS pending,
       count(*) FILTER (WHERE c.state = 'failed') AS failed,
       coalesce(array_agg(format('document %%s, chunk %%s: %%s', d.id, c.ordinal, c.error) ORDER BY c.document, c.ordinal)
                FILTER (WHERE c.error IS NOT NULL), '{}') AS errors
FROM chunk c JOIN document d ON d.number = c.document
WHERE c.operation = %(operation)s AND c.state <> 'replaced'
