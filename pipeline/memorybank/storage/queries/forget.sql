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

-- name: documents
-- Chunks go by foreign key.
DELETE FROM document d
WHERE d.bank = %(bank)s AND (%(sees_all)s OR d.audience_id = ANY(%(audiences)s::bigint[]))
