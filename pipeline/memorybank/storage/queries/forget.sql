-- name: lock_documents
-- Held first, in the order of their numbers, as by all who lock several: no deadlock.
SELECT d.number FROM document d
WHERE d.bank = %(bank)s AND (%(sees_all)s OR d.audience_id = ANY(%(audiences)s::bigint[]))
ORDER BY d.number FOR UPDATE

-- name: named
-- The entities that the memories to be forgotten mention.
SELECT DISTINCT ue.entity
FROM unit_entity ue JOIN memory_unit u ON u.id = ue.unit
WHERE u.bank = %(bank)s
  AND (%(fact_type)s::text IS NULL OR u.fact_type = %(fact_type)s)
  AND (%(sees_all)s OR u.audience_id = ANY(%(audiences)s::bigint[]))

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
