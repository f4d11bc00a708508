-- name: submission
-- audience: a request's id is compared across banks, so that it cannot be used twice
-- A request that was taken before.
SELECT o.bank, o.kind, o.items_count,
       array(SELECT c.id FROM operation c WHERE c.parent = o.id ORDER BY c.id) AS children
FROM operation o WHERE o.id = %(id)s

-- name: set_payload
-- audience: the holder of a lease writes its own row
-- The content has moved to documents and chunks.
UPDATE operation SET payload = %(payload)s WHERE id = %(id)s

-- name: forget_content
-- Documents that are forgotten, in operations that have not written them yet, locked in one order.
WITH held AS (
    SELECT o.id FROM operation o
    WHERE o.bank = %(bank)s AND o.payload ? 'documents'
      AND (%(ids)s::text[] IS NULL OR o.serial_keys && %(ids)s::text[])
      AND (%(sees_all)s OR o.audience_id = ANY(%(audiences)s::bigint[]))
    ORDER BY o.id FOR NO KEY UPDATE
)
UPDATE operation o
SET payload = jsonb_set(o.payload, '{documents}', coalesce((
        SELECT jsonb_agg(part) FROM jsonb_array_elements(o.payload -> 'documents') AS part
        WHERE part ->> 'id' <> ALL(%(ids)s::text[])), '[]'))
FROM held
WHERE o.id = held.id AND (%(sees_all)s OR o.audience_id = ANY(%(audiences)s::bigint[]))

-- name: awaited
-- audience: the holder of a lease reads its own row
-- What an operation shall still write.
SELECT part ->> 'id' AS id
FROM operation o CROSS JOIN LATERAL jsonb_array_elements(o.payload -> 'documents') AS part
WHERE o.id = %(id)s

-- name: carried
-- audience: the holder of a lease reads its own row
-- Counts of earlier rounds; an operation with an outcome that is being worked on was asked for again.
SELECT progress -> 'detail' AS counts, result ? 'unit_ids_count' AS again FROM operation WHERE id = %(id)s

-- name: set_result
-- audience: the holder of a lease writes its own row
-- Counts of an operation that ends as failed.
UPDATE operation SET result = result || %(result)s WHERE id = %(id)s
