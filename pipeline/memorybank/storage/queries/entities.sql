-- name: find
-- audience: names of one audience, given by the lease that asks
-- What keys mean in this audience; of a first name that dozens bear, the first ones show that it tells nothing. Each step
-- is fenced: on tables that were never analysed the planner reads the whole audience for each key.
SELECT found.called, found.rule, found.root, e.id, e.key, e.sense, own.name, own.kind,
       r.key AS root_key, r.sense AS root_sense, r.name AS root_name
FROM unnest(%(keys)s::text[]) AS asked (key)
CROSS JOIN LATERAL (
    SELECT n.key AS called, n.rule, n.root, n.entity FROM entity_name n
    WHERE n.bank = %(bank)s AND n.audience_id = %(audience_id)s AND n.key = asked.key
    ORDER BY n.rule = 'part', n.entity LIMIT 12) AS found
CROSS JOIN LATERAL (SELECT * FROM entity e WHERE e.id = found.entity OFFSET 0) AS e
CROSS JOIN LATERAL (
    SELECT n.name, n.kind FROM entity_name n
    WHERE n.bank = %(bank)s AND n.audience_id = %(audience_id)s AND n.key = e.key AND n.entity = e.id OFFSET 0) AS own
LEFT JOIN LATERAL (
    SELECT r.key, r.sense, n.name FROM entity r
    JOIN entity_name n ON n.bank = %(bank)s AND n.audience_id = %(audience_id)s AND n.key = r.key AND n.entity = r.id
    WHERE r.id = found.root OFFSET 0) AS r ON true

-- name: present
-- audience: documents that the lease writes, which are of its audience
-- What the newest units of documents mention, so that later chunks are read with earlier ones.
SELECT DISTINCT newest.document, e.id, e.key, e.sense, coalesce(own.name, e.name) AS name, coalesce(own.kind, '') AS kind
FROM unnest(%(documents)s::integer[]) AS asked (document)
CROSS JOIN LATERAL (
    SELECT u.id, u.document_number AS document FROM memory_unit u
    WHERE u.bank = %(bank)s AND u.document_number = asked.document AND u.audience_id = %(audience_id)s
    ORDER BY u.position DESC LIMIT 256) AS newest
CROSS JOIN LATERAL (SELECT ue.entity FROM unit_entity ue WHERE ue.unit = newest.id OFFSET 0) AS said
CROSS JOIN LATERAL (SELECT * FROM entity e WHERE e.id = said.entity AND NOT e.is_label OFFSET 0) AS e
LEFT JOIN LATERAL (
    SELECT n.name, n.kind FROM entity_name n
    WHERE n.bank = %(bank)s AND n.audience_id = %(audience_id)s AND n.key = e.key AND n.entity = e.id OFFSET 0) AS own
    ON true

-- name: near
-- audience: mentions of one audience, given by the lease that asks
-- What else is named in the chunks that mentioned these entities last: a hub costs no more than others.
SELECT asked.entity, coalesce(beside.entities, '{}') AS entities, last.mentions
FROM unnest(%(ids)s::uuid[]) AS asked (entity)
CROSS JOIN LATERAL (
    SELECT count(*) AS mentions, (array_agg(DISTINCT named.chunk))[1:4] AS chunks
    FROM (SELECT u.chunk
          FROM unit_entity ue
          CROSS JOIN LATERAL (SELECT u.chunk FROM memory_unit u
                              WHERE u.id = ue.unit AND u.audience_id = %(audience_id)s AND u.chunk IS NOT NULL OFFSET 0) AS u
          WHERE ue.entity = asked.entity ORDER BY ue.unit DESC LIMIT 16) AS named) AS last
CROSS JOIN LATERAL (
    SELECT array_agg(DISTINCT other.entity) AS entities
    FROM unnest(last.chunks) AS held (chunk)
    CROSS JOIN LATERAL (SELECT u.id FROM memory_unit u
                        WHERE u.chunk = held.chunk AND u.audience_id = %(audience_id)s LIMIT 32) AS u
    CROSS JOIN LATERAL (SELECT ue.entity FROM unit_entity ue WHERE ue.unit = u.id OFFSET 0) AS other
    WHERE other.entity <> asked.entity) AS beside

-- name: of_documents
-- audience: the caller has locked these documents and deletes them under the viewer
-- Names in documents and in what stands on them, for pruning.
SELECT DISTINCT ue.entity
FROM unnest(%(ids)s::integer[]) AS asked (number)
CROSS JOIN LATERAL said_in(asked.number) AS said (unit)
LEFT JOIN observation_source s ON s.source = said.unit
JOIN unit_entity ue ON ue.unit IN (said.unit, s.observation)

-- name: of_chunks
-- audience: staging deletes chunks of a document that it has locked and whose audience it has checked
-- Names that facts of these chunks, and what stands on them, mention, for pruning.
SELECT DISTINCT ue.entity
FROM (SELECT u.id AS unit FROM memory_unit u WHERE u.chunk = ANY(%(ids)s::uuid[])
      UNION
      SELECT m.unit FROM unit_mention m WHERE m.chunk = ANY(%(ids)s::uuid[])) AS said
LEFT JOIN observation_source s ON s.source = said.unit
JOIN unit_entity ue ON ue.unit IN (said.unit, s.observation)

-- name: of_units
-- audience: the caller has found these units under the viewer, and changes them
-- Names in units and in what stands on them, for pruning.
SELECT DISTINCT ue.entity
FROM unnest(%(ids)s::uuid[]) AS asked (id)
LEFT JOIN observation_source s ON s.source = asked.id
JOIN unit_entity ue ON ue.unit IN (asked.id, s.observation)

-- name: hold
-- Entities that exist, kept from being pruned, locked in key order: others of the same names too, for they are few.
SELECT e.id, e.key, e.sense, e.is_label
FROM entity e
WHERE e.bank = %(bank)s AND e.key = ANY(%(keys)s::text[])
ORDER BY e.key, e.sense, e.is_label FOR KEY SHARE

-- name: add
-- Entities that do not exist yet, made in key order. Another transaction may make the same: then this waits for it.
INSERT INTO entity (id, bank, key, sense, is_label, name, created_at)
SELECT n.id, %(bank)s, n.key, n.sense, n.is_label, n.name, %(now)s
FROM unnest(%(ids)s::uuid[], %(keys)s::text[], %(senses)s::text[], %(labels)s::boolean[], %(names)s::text[])
     AS n (id, key, sense, is_label, name)
ORDER BY n.key, n.sense, n.is_label
ON CONFLICT (bank, key, sense, is_label) DO NOTHING

-- name: mention
-- Which unit mentions what, by the chunk that says so. Keys and ways are kept where an entity is named by other than its
-- own key.
INSERT INTO unit_entity (unit, entity, bank, chunk, keys, via)
SELECT n.unit, n.entity, %(bank)s, n.chunk,
       CASE WHEN NOT bool_and(n.plain) THEN array_agg(n.key) END, CASE WHEN NOT bool_and(n.plain) THEN array_agg(n.via) END
FROM unnest(%(units)s::uuid[], %(chunks)s::uuid[], %(entities)s::uuid[], %(keys)s::text[], %(via)s::uuid[],
            %(plain)s::boolean[]) AS n (unit, chunk, entity, key, via, plain)
GROUP BY n.unit, n.entity, n.chunk
ON CONFLICT DO NOTHING

-- name: learn
-- What keys mean in this audience, made in key order. What a text used counts for more than what might be; a kind that
-- is known counts for more than none.
INSERT INTO entity_name (bank, audience_id, key, entity, rule, name, kind, root)
SELECT %(bank)s, %(audience_id)s, n.key, n.entity, n.rule, n.name, n.kind, n.root
FROM unnest(%(keys)s::text[], %(entities)s::uuid[], %(rules)s::text[], %(names)s::text[], %(kinds)s::text[],
            %(roots)s::uuid[]) AS n (key, entity, rule, name, kind, root)
ORDER BY n.key, n.entity
ON CONFLICT (bank, audience_id, key, entity) DO UPDATE SET
    rule = CASE WHEN excluded.rule = 'alias' AND entity_name.rule <> 'own' THEN 'alias' ELSE entity_name.rule END,
    kind = CASE WHEN entity_name.kind = '' THEN excluded.kind ELSE entity_name.kind END

-- name: keep
-- audience: the caller has found this unit under the viewer, and changes it
-- Of what a unit names, by whatever chunk, only these are left, and no chunk's: people say so.
WITH gone AS (DELETE FROM unit_entity WHERE unit = %(unit)s RETURNING *)
INSERT INTO unit_entity (unit, entity, bank, keys, via)
SELECT DISTINCT ON (gone.entity) gone.unit, gone.entity, gone.bank, gone.keys, gone.via
FROM gone WHERE gone.entity = ANY(%(entities)s::uuid[])
ORDER BY gone.entity, gone.keys NULLS FIRST

-- name: move
-- audience: a longer form of a name was found in a document that the lease writes
-- Mentions of the shorter form in this document, as mentions of the longer one. What people merged into it stays.
WITH gone AS (
    DELETE FROM unit_entity ue USING memory_unit u, entity e
    WHERE u.id = ue.unit AND e.id = ue.entity AND u.document = %(document)s AND ue.entity = %(source)s
      AND (ue.via IS NULL OR ue.via <@ ARRAY[%(source)s::uuid])
    RETURNING ue.unit, ue.bank, ue.chunk, coalesce(ue.keys, ARRAY[e.key]) AS keys
)
INSERT INTO unit_entity (unit, entity, bank, chunk, keys, via)
SELECT gone.unit, %(root)s, gone.bank, gone.chunk, gone.keys, array_fill(%(target)s::uuid, ARRAY[cardinality(gone.keys)]) FROM gone
ON CONFLICT (unit, entity, chunk) DO UPDATE SET
    keys = coalesce(unit_entity.keys, ARRAY(SELECT e.key FROM entity e WHERE e.id = unit_entity.entity)) || excluded.keys,
    via = coalesce(unit_entity.via, ARRAY[unit_entity.entity]) || excluded.via

-- name: unlearn
-- audience: each name is kept or not by what its own audience still says
-- What no unit of the audience says any more. What people merged stays as long as what they merged it into.
DELETE FROM entity_name n
WHERE n.bank = %(bank)s AND (n.entity = ANY(%(ids)s::uuid[]) OR n.root = ANY(%(ids)s::uuid[]))
  AND NOT EXISTS (
      SELECT 1 FROM unit_entity ue JOIN memory_unit u ON u.id = ue.unit
      WHERE ue.entity = coalesce(n.root, n.entity) AND u.audience_id = n.audience_id
        AND (n.rule <> 'alias' OR n.root IS NOT NULL OR n.key = ANY(ue.keys)))
RETURNING n.entity

-- name: lock_orphans
-- audience: whether any audience still knows an entity
-- Entities that nothing seems to mention; one that is just being mentioned is passed over.
SELECT e.id FROM entity e
WHERE e.bank = %(bank)s AND e.id = ANY(%(ids)s::uuid[])
  AND NOT EXISTS (SELECT 1 FROM unit_entity ue WHERE ue.entity = e.id)
  AND NOT EXISTS (SELECT 1 FROM entity_name n WHERE n.entity = e.id OR n.root = e.id)
ORDER BY e.key FOR UPDATE SKIP LOCKED

-- name: delete_orphans
-- audience: whether any audience still knows an entity
-- Looked at again under the lock, with what was committed before it.
DELETE FROM entity e
WHERE e.id = ANY(%(ids)s::uuid[])
  AND NOT EXISTS (SELECT 1 FROM unit_entity ue WHERE ue.entity = e.id)
  AND NOT EXISTS (SELECT 1 FROM entity_name n WHERE n.entity = e.id OR n.root = e.id)
