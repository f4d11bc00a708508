-- name: facts
-- Facts and observations by their ids, as far as they are active.
SELECT u.id, u.text, u.fact_type, u.context, u.occurred_start, u.occurred_end, u.mentioned_at, u.tags, d.id AS document_id
FROM memory_unit u
LEFT JOIN document d ON d.number = u.document AND (%(sees_all)s OR d.audience_id = ANY(%(audiences)s::bigint[]))
WHERE u.bank = %(bank)s AND u.id = ANY(%(ids)s::uuid[]) AND u.status = 'active'
  AND (%(sees_all)s OR u.audience_id = ANY(%(audiences)s::bigint[]))

-- name: around
-- The chunks that facts were drawn from, and those within some steps of them in the document; the nearest first.
SELECT u.id AS fact, c.id AS chunk, c.tags
FROM memory_unit u
JOIN chunk own ON own.id = u.chunk AND (%(sees_all)s OR own.audience_id = ANY(%(audiences)s::bigint[]))
JOIN chunk c ON c.document = own.document AND abs(c.ordinal - own.ordinal) <= %(steps)s
            AND (%(sees_all)s OR c.audience_id = ANY(%(audiences)s::bigint[]))
WHERE u.bank = %(bank)s AND u.id = ANY(%(ids)s::uuid[]) AND u.status = 'active'
  AND (%(sees_all)s OR u.audience_id = ANY(%(audiences)s::bigint[]))
ORDER BY abs(c.ordinal - own.ordinal), array_position(%(ids)s::uuid[], u.id), c.ordinal

-- name: waiting
-- How many visible facts wait for consolidation, counted up to a limit.
SELECT count(*) AS facts FROM (
    SELECT 1 FROM memory_unit u
    WHERE u.bank = %(bank)s AND u.consolidated_at IS NULL AND u.consolidation_failed_at IS NULL
      AND u.fact_type <> 'observation' AND u.status = 'active'
      AND (%(sees_all)s OR u.audience_id = ANY(%(audiences)s::bigint[]))
    LIMIT %(limit)s) AS waiting
