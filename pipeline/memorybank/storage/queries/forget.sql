-- name: lock_documents
-- Held first, in the order of their numbers, as by all who lock several: no deadlock.
SELECT d.number FROM document d
WHERE d.bank = %(bank)s AND (%(sees_all)s OR d.audience_id = ANY(%(audiences)s::bigint[]))
ORDER BY d.number FOR UPDATE

-- name: named
-- The entities that the memories to be forgotten mention, and what stands on them.
SELECT DISTINCT ue.entity
FROM memory_unit u
LEFT JOIN observation_source s ON s.source = u.id AND s.audience_id = u.audience_id
JOIN unit_entity ue ON ue.unit IN (u.id, s.observation)
WHERE u.bank = %(bank)s
  AND (%(fact_type)s::text IS NULL OR u.fact_type = %(fact_type)s)
  AND (%(sees_all)s OR u.audience_id = ANY(%(audiences)s::bigint[]))

-- name: said
-- How many of the memories to be forgotten each document says.
SELECT said.document, count(DISTINCT u.id) AS facts
FROM memory_unit u
LEFT JOIN unit_mention m ON m.unit = u.id AND m.audience_id = u.audience_id
LEFT JOIN chunk c ON c.id = m.chunk AND c.audience_id = u.audience_id
CROSS JOIN LATERAL (VALUES (u.document), (c.document)) AS said (document)
WHERE u.bank = %(bank)s AND u.fact_type = %(fact_type)s AND said.document IS NOT NULL
  AND (%(sees_all)s OR u.audience_id = ANY(%(audiences)s::bigint[]))
GROUP BY said.document

-- name: units
-- Search rows, mentions and links go by foreign key.
DELETE FROM memory_unit u
WHERE u.bank = %(bank)s
  AND (%(fact_type)s::text IS NULL OR u.fact_type = %(fact_type)s)
  AND (%(sees_all)s OR u.audience_id = ANY(%(audiences)s::bigint[]))

-- name: work
-- audience: the operator removes whose circles these are
-- What is still to be done for circles that go; what is being done is waited for.
DELETE FROM operation WHERE audience_id = ANY(%(ids)s::bigint[])

-- name: documents
-- Chunks go by foreign key.
DELETE FROM document d
WHERE d.bank = %(bank)s AND (%(sees_all)s OR d.audience_id = ANY(%(audiences)s::bigint[]))

-- name: counted
-- What stands on a memory: observations, and statements of mental models, of all versions.
SELECT (SELECT count(*) FROM observation_source s
        WHERE s.source = u.id AND (%(sees_all)s OR s.audience_id = ANY(%(audiences)s::bigint[]))) AS observations,
       (SELECT count(DISTINCT (m.model, m.version, m.place)) FROM mental_model_source m
        WHERE m.unit = u.id
           OR m.unit IN (SELECT s.observation FROM observation_source s
                         WHERE s.source = u.id AND (%(sees_all)s OR s.audience_id = ANY(%(audiences)s::bigint[])))) AS statements
FROM memory_unit u
WHERE u.bank = %(bank)s AND u.id = %(id)s AND (%(sees_all)s OR u.audience_id = ANY(%(audiences)s::bigint[]))

-- name: withhold
-- The texts that say it.
UPDATE chunk c SET withheld = true
WHERE c.bank = %(bank)s AND (%(sees_all)s OR c.audience_id = ANY(%(audiences)s::bigint[]))
  AND c.id IN (SELECT u.chunk FROM memory_unit u
               WHERE u.id = %(id)s AND (%(sees_all)s OR u.audience_id = ANY(%(audiences)s::bigint[]))
               UNION ALL
               SELECT m.chunk FROM unit_mention m
               WHERE m.unit = %(id)s AND (%(sees_all)s OR m.audience_id = ANY(%(audiences)s::bigint[])))

-- name: one
-- All that hangs on it goes by foreign key and trigger.
DELETE FROM memory_unit u
WHERE u.bank = %(bank)s AND u.id = %(id)s AND (%(sees_all)s OR u.audience_id = ANY(%(audiences)s::bigint[]))

-- name: left
-- Those of the entities that are still there.
SELECT count(*) AS entities FROM entity WHERE id = ANY(%(ids)s::uuid[])
