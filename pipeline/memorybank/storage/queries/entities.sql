-- name: find
-- audience: spellings of one audience, named by the lease that asks
-- Entities by key, then by a spelling learned in this audience. Names with an entity of their own come first.
SELECT e.id, e.key, e.name, e.kind, NULL::integer AS document, NULL::text AS alias
FROM entity e WHERE e.bank = %(bank)s AND e.key = ANY(%(keys)s) AND NOT e.is_label
UNION ALL
SELECT e.id, e.key, e.name, e.kind, NULL, a.key
FROM entity_alias a JOIN entity e ON e.id = a.entity
WHERE a.bank = %(bank)s AND a.key = ANY(%(keys)s) AND a.audience_id = %(audience_id)s

-- name: of_documents
-- audience: the caller has locked these documents and writes or deletes under their audience
-- Names in documents, for resolving shorter forms and for pruning.
SELECT DISTINCT e.id, e.key, e.name, e.kind, u.document, NULL::text AS alias
FROM memory_unit u
JOIN unit_entity ue ON ue.unit = u.id
JOIN entity e ON e.id = ue.entity
WHERE u.document = ANY(%(numbers)s::integer[]) AND NOT e.is_label

-- name: hold
-- Names that exist, kept from being pruned, locked in key order.
SELECT id, key FROM entity
WHERE bank = %(bank)s AND key = ANY(%(keys)s) AND NOT is_label
ORDER BY key FOR KEY SHARE

-- name: add
-- Names that do not exist yet, made in key order. Another transaction may make the same: then this waits for it.
INSERT INTO entity (id, bank, key, name, kind, created_at)
SELECT n.id, %(bank)s, n.key, n.name, n.kind, %(now)s
FROM unnest(%(ids)s::uuid[], %(keys)s::text[], %(names)s::text[], %(kinds)s::text[]) AS n (id, key, name, kind)
ORDER BY n.key
ON CONFLICT (bank, key, is_label) DO NOTHING

-- name: lock_aliases
-- One transaction of a bank at a time changes its aliases.
SELECT pg_advisory_xact_lock(hashtextextended('entity_alias', %(bank)s))

-- name: forget
-- audience: spellings of one audience, named by the lease that learns them
-- A spelling that means two entities means none.
DELETE FROM entity_alias a
USING unnest(%(keys)s::text[], %(entities)s::uuid[]) AS n (key, entity)
WHERE a.bank = %(bank)s AND a.audience_id = %(audience_id)s AND a.key = n.key AND a.entity <> n.entity
RETURNING a.key

-- name: learn
-- Other spellings, but for those just found to be ambiguous.
INSERT INTO entity_alias (bank, key, audience_id, entity, name)
SELECT %(bank)s, n.key, %(audience_id)s, n.entity, n.name
FROM unnest(%(keys)s::text[], %(names)s::text[], %(entities)s::uuid[]) AS n (key, name, entity)
WHERE n.key <> ALL(%(ambiguous)s::text[])
ON CONFLICT DO NOTHING

-- name: copy_mentions
-- audience: rows are only added, for facts of the audience of a claim
-- Which unit mentions what.
COPY unit_entity (unit, entity, bank) FROM STDIN (FORMAT BINARY)

-- name: mention_more
-- audience: rows are only added, for facts of the audience of a claim
-- What a unit that was said again mentions beside what it did.
INSERT INTO unit_entity (unit, entity, bank)
SELECT n.unit, n.entity, %(bank)s FROM unnest(%(units)s::uuid[], %(entities)s::uuid[]) AS n (unit, entity)
ON CONFLICT DO NOTHING

-- name: copy_moved
-- audience: a longer form of a name was found in a document that the lease writes
-- Mentions of the shorter form, as mentions of the longer one.
INSERT INTO unit_entity (unit, entity, bank)
SELECT ue.unit, %(target)s, ue.bank
FROM memory_unit u JOIN unit_entity ue ON ue.unit = u.id
WHERE u.document = %(document)s AND ue.entity = %(source)s
ON CONFLICT DO NOTHING

-- name: delete_moved
-- audience: a longer form of a name was found in a document that the lease writes
-- Mentions of the shorter form that were moved.
DELETE FROM unit_entity ue USING memory_unit u
WHERE u.id = ue.unit AND u.document = %(document)s AND ue.entity = %(source)s

-- name: lock_orphans
-- Entities that nothing seems to mention; one that is just being mentioned is passed over.
SELECT e.id FROM entity e
WHERE e.bank = %(bank)s AND e.id = ANY(%(ids)s::uuid[])
  AND NOT EXISTS (SELECT 1 FROM unit_entity ue WHERE ue.entity = e.id)
ORDER BY e.key FOR UPDATE SKIP LOCKED

-- name: delete_orphans
-- Looked at again under the lock, with what was committed before it.
DELETE FROM entity e
WHERE e.id = ANY(%(ids)s::uuid[]) AND NOT EXISTS (SELECT 1 FROM unit_entity ue WHERE ue.entity = e.id)

-- name: of_chunks
-- audience: staging deletes chunks of a document that it has locked and whose audience it has checked
-- Names that facts of these chunks mention, for pruning.
SELECT DISTINCT ue.entity
FROM memory_unit u JOIN unit_entity ue ON ue.unit = u.id
WHERE u.chunk = ANY(%(chunks)s::uuid[])
