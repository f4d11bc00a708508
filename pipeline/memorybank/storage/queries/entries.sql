-- name: list
-- audience: an agent's entries, for itself and its owner, who the caller has found to be asking
-- Keys with their values; of a key of several agents the newest. One that was retired as a memory is not told.
SELECT DISTINCT ON (k.key) k.key, k.value::text AS value, k.updated_at
FROM kv_entry k LEFT JOIN memory_unit u ON u.id = k.unit
WHERE k.agent = ANY(%(agents)s::uuid[]) AND (k.unit IS NULL OR u.status = 'active')
ORDER BY k.key, k.updated_at DESC, k.agent

-- name: put
-- audience: an agent's entry, written by itself or its owner, under the lock on facts
-- A value, and the memory by which recall has found the one before.
INSERT INTO kv_entry AS k (agent, key, value, audience_id, created_at, updated_at)
VALUES (%(agent)s, %(key)s, %(value)s::json, %(audience_id)s, %(now)s, %(now)s)
ON CONFLICT (agent, key) DO UPDATE
    SET value = excluded.value, audience_id = excluded.audience_id, updated_at = excluded.updated_at
RETURNING k.unit, (SELECT u.text FROM memory_unit u WHERE u.id = k.unit AND u.status = 'active') AS text,
          EXISTS (SELECT FROM memory_unit u WHERE u.id = k.unit AND u.pinned_at IS NOT NULL) AS pinned

-- name: show
-- By what recall finds an entry from now on.
UPDATE kv_entry SET unit = %(unit)s WHERE agent = %(agent)s AND key = %(key)s

-- name: forget_unseen
-- Entries that recall does not find: whose others are forgotten as memories, these go with them.
DELETE FROM kv_entry k USING audience a
WHERE a.id = k.audience_id AND a.bank = %(bank)s AND k.unit IS NULL
  AND (%(sees_all)s OR k.audience_id = ANY(%(audiences)s::bigint[]))
