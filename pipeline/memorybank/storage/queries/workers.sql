-- name: hurry
-- For sessions that a thread depends on: all their statements are short, so a long one means that something is wrong.
SELECT set_config('statement_timeout', '5s', false)

-- name: register
-- Says that this process works, or works again after its session was lost.
INSERT INTO worker (id, host, pid) VALUES (%(id)s, %(host)s, %(pid)s)
ON CONFLICT (id) DO UPDATE SET beat_at = now()
RETURNING lock_key

-- name: hold
-- The sign of life that ends with the session: a shared lock in the space of two-number advisory locks.
SELECT pg_advisory_lock_shared(%(space)s, %(lock_key)s)

-- name: beat
-- The sign of life that is also seen where a pooler hides the lock.
UPDATE worker SET beat_at = now() WHERE id = %(id)s RETURNING lock_key

-- name: beat_leases
-- audience: a worker holds leases of every audience
-- Renews the leases that rounds run under and ends those whose round is over without having settled. A lease that ran
-- out stays so. Rows that are being written wait for the next beat.
UPDATE operation o
SET lease_expires_at = CASE WHEN o.lease_token = ANY(%(tokens)s::uuid[])
                            THEN now() + make_interval(secs => %(lease_seconds)s) ELSE now() END
FROM (SELECT id FROM operation
      WHERE status = 'processing' AND worker = %(id)s AND lease_expires_at > now()
        AND lease_token = ANY(%(tokens)s::uuid[] || %(loose)s::uuid[])
      FOR NO KEY UPDATE SKIP LOCKED) AS held
WHERE o.id = held.id
RETURNING o.lease_token, o.cancel_requested

-- name: unregister
-- A worker that ends in order.
DELETE FROM worker WHERE id = %(id)s

-- name: listen
-- Where work is rung for.
LISTEN memorybank_operation

-- name: ring
-- audience: workers run operations of every audience
-- What is due, first by priority. To ring is itself a claim: nobody else rings for it before the re-ring time.
WITH due AS (
    SELECT o.id FROM operation o
    WHERE o.status = 'pending' AND NOT o.is_parent AND o.kind = ANY(%(kinds)s) AND o.due_at <= now()
      AND (o.rung_at IS NULL OR o.rung_at < now() - make_interval(secs => %(rering_seconds)s))
      AND (o.serial_keys = '{}' OR NOT EXISTS (
          SELECT 1 FROM operation e
          WHERE e.bank = o.bank AND e.audience_id = o.audience_id AND e.serial_keys && o.serial_keys AND e.serial_keys <> '{}'
            AND e.status IN ('pending', 'processing') AND (e.status = 'processing' OR e.id < o.id)))
    ORDER BY o.priority DESC, o.due_at, o.id
    LIMIT %(limit)s
    FOR NO KEY UPDATE OF o SKIP LOCKED
), rung AS (
    UPDATE operation o SET rung_at = now() FROM due WHERE o.id = due.id
    RETURNING o.id, o.kind, o.priority, o.due_at
)
SELECT id, kind FROM rung ORDER BY priority DESC, due_at, id

-- name: unring
-- audience: workers run operations of every audience
-- Gives back what was rung for and will not be claimed here.
UPDATE operation SET rung_at = NULL WHERE id = ANY(%(ids)s::uuid[]) AND status = 'pending'

-- name: lapsed
-- audience: the sweeper looks after operations of every audience
-- Leases whose holder is gone: over by the clock, or the holder has neither lock nor beat for a few seconds (after a
-- restart of the server nobody had a chance to beat before it ran).
SELECT o.id, o.lease_token, o.parent
FROM operation o LEFT JOIN worker w ON w.id = o.worker
WHERE o.status = 'processing'
  AND (o.lease_expires_at <= now() OR w.id IS NULL
       OR (greatest(w.beat_at, pg_postmaster_start_time()) < now() - make_interval(secs => %(dead_seconds)s)
           AND NOT EXISTS (
               SELECT 1 FROM pg_locks l
               WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND l.classid = %(space)s AND l.objid = w.lock_key
                 AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()))))
ORDER BY o.id

-- name: living
-- How many workers are connected.
SELECT count(DISTINCT l.objid) AS living FROM pg_locks l
WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND l.classid = %(space)s AND l.granted
  AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())

-- name: prune
-- audience: a worker serves the whole installation; no content is read
-- Forgets workers that are gone and hold nothing.
DELETE FROM worker w
WHERE w.beat_at < now() - make_interval(secs => %(forget_seconds)s)
  AND NOT EXISTS (SELECT 1 FROM operation o WHERE o.worker = w.id AND o.status = 'processing')
