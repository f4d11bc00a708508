-- name: insert
-- Queues one operation. A rung one is left alone by workers until the re-ring time: its submitter runs it itself.
INSERT INTO operation (id, bank, audience_id, kind, parent, is_parent, priority, serial_keys, items_count, payload,
                       result, rung_at, created_at, updated_at)
VALUES (%(id)s, %(bank)s, %(audience_id)s, %(kind)s, %(parent)s, %(is_parent)s, %(priority)s, %(serial_keys)s,
        %(items_count)s, %(payload)s, %(result)s, CASE WHEN %(rung)s THEN now() END, %(at)s, %(at)s)

-- name: notify
-- Rings: means only "look now". Sent with the commit, or not at all.
SELECT pg_notify('memorybank_operation', '')

-- name: lock_serial_keys
-- audience: a worker claims operations of every audience
-- Lets one claim at a time look at work that shares a serial key: two that look together would not see each other.
-- What is not pending here gets no lock, so it must not be claimed in this transaction.
WITH asked AS MATERIALIZED (
    SELECT bank, serial_keys FROM operation WHERE id = %(id)s AND status = 'pending'
), keys AS MATERIALIZED (
    SELECT DISTINCT bank, key FROM asked, unnest(serial_keys) AS key ORDER BY key
)
SELECT EXISTS (SELECT 1 FROM asked) AS pending,
       (SELECT count(pg_advisory_xact_lock(hashtextextended(key, bank))) FROM keys) AS locked

-- name: claim
-- audience: a worker claims operations of every audience, and then writes under the audience of its claim
-- Takes the lease and counts the attempt. An older live operation that shares a serial key goes first.
UPDATE operation o
SET status = 'processing', fresh = false, attempts = o.attempts + 1, lease_token = %(token)s, worker = %(worker)s, rung_at = NULL,
    lease_expires_at = now() + make_interval(secs => %(lease_seconds)s), updated_at = %(at)s
FROM bank b
WHERE o.id = %(id)s AND b.id = o.bank AND o.status = 'pending' AND NOT o.is_parent AND o.due_at <= now()
  AND (o.serial_keys = '{}' OR NOT EXISTS (
      SELECT 1 FROM operation e
      WHERE e.bank = o.bank AND e.audience_id = o.audience_id AND e.serial_keys && o.serial_keys AND e.serial_keys <> '{}'
        AND e.status IN ('pending', 'processing') AND (e.status = 'processing' OR e.id < o.id)))
RETURNING o.bank, b.bank_id, o.audience_id, o.kind, o.payload, o.attempts, o.parent

-- name: fence
-- audience: the holder of a lease asks for its own row
-- Locks the row of a lease that still holds, and lets the server end the transaction of a process that stands still
-- for longer than that: it could neither write on nor let others. And lets plans be kept in it: planned anew for each
-- row, the checks of foreign keys cost five times as much (43 us a row against 8). A plan that was made while a table
-- was small must not read it whole when it is not small any more.
SELECT attempts, cancel_requested,
       set_config('idle_in_transaction_session_timeout',
                  ceil(extract(epoch FROM lease_expires_at - clock_timestamp()) * 1000)::int::text, true),
       set_config('plan_cache_mode', 'auto', true), set_config('enable_seqscan', 'off', true)
FROM operation
WHERE id = %(id)s AND lease_token = %(token)s AND lease_expires_at > clock_timestamp()
FOR NO KEY UPDATE

-- name: progress
-- audience: the holder of a lease writes its own row
-- More was done and is committed with this: the attempts begin anew.
UPDATE operation
SET attempts = CASE WHEN %(processed)s::int > coalesce((progress ->> 'processed')::int, 0) THEN 0 ELSE attempts END,
    progress = %(progress)s, updated_at = %(at)s
WHERE id = %(id)s

-- name: lock
-- audience: the caller has checked that it may, or is a worker
-- Locks one row. Locks are taken from the parent down, children by id.
SELECT status, parent, is_parent FROM operation WHERE id = %(id)s FOR NO KEY UPDATE

-- name: lock_lapsed
-- audience: the sweeper looks after operations of every audience
-- Locks the row of a lease whose holder is gone; a row that somebody has locked is being written, so it is not.
SELECT attempts, cancel_requested FROM operation
WHERE id = %(id)s AND lease_token = %(token)s
FOR NO KEY UPDATE SKIP LOCKED

-- name: settle
-- audience: the holder of a lease, or the sweeper in its place, writes that row
-- Ends a round: the lease goes, and the row says what is next.
UPDATE operation
SET status = %(status)s, attempts = %(attempts)s, error_message = %(message)s, result = result || %(result)s,
    lease_token = NULL, lease_expires_at = NULL, worker = NULL, rung_at = NULL, updated_at = %(at)s,
    due_at = now() + make_interval(secs => %(delay)s), completed_at = %(completed_at)s, cancel_requested = false
WHERE id = %(id)s
RETURNING serial_keys <> '{}' AS serial, bank, kind, result

-- name: ended_parts
-- audience: a batch and its parts have one audience
-- The parts of a batch, once all have ended.
SELECT status, error_message, result FROM operation
WHERE parent = %(parent)s
  AND NOT EXISTS (SELECT 1 FROM operation WHERE parent = %(parent)s AND status IN ('pending', 'processing'))
ORDER BY id

-- name: settle_parent
-- audience: a batch and its parts have one audience
-- Ends a batch. One that was cancelled stays so, and still gets its counts.
UPDATE operation
SET status = CASE WHEN status = 'cancelled' THEN status ELSE %(status)s END,
    error_message = CASE WHEN status = 'cancelled' THEN error_message ELSE %(message)s END,
    result = result || %(result)s, completed_at = coalesce(completed_at, %(at)s), updated_at = %(at)s
WHERE id = %(parent)s

-- name: cancel_parts
-- audience: a batch and its parts have one audience
-- Cancels what has not begun, and asks what has begun to stop at its next call.
UPDATE operation o
SET status = CASE WHEN o.status = 'pending' THEN 'cancelled' ELSE o.status END,
    cancel_requested = o.status = 'processing',
    completed_at = CASE WHEN o.status = 'pending' THEN %(at)s END, updated_at = %(at)s
FROM (SELECT id FROM operation WHERE (id = %(id)s OR parent = %(id)s) AND status IN ('pending', 'processing')
      ORDER BY id FOR NO KEY UPDATE) AS live
WHERE o.id = live.id

-- name: requeue
-- audience: a batch and its parts have one audience
-- Begins anew what failed or was cancelled, and takes back a cancel that nobody has followed yet.
UPDATE operation o
SET status = CASE WHEN o.status = 'processing' THEN o.status ELSE 'pending' END,
    attempts = CASE WHEN o.status = 'processing' THEN o.attempts ELSE 0 END,
    error_message = NULL, cancel_requested = false, rung_at = NULL, due_at = now(), completed_at = NULL, fresh = false,
    updated_at = %(at)s
FROM (SELECT id FROM operation
      WHERE (id = %(id)s OR parent = %(id)s) AND NOT is_parent
        AND (status IN ('failed', 'cancelled') OR cancel_requested)
      ORDER BY id FOR NO KEY UPDATE) AS ended
WHERE o.id = ended.id
RETURNING o.id

-- name: reopen_parent
-- audience: a batch and its parts have one audience
-- A batch with live parts waits for them.
UPDATE operation SET status = 'pending', error_message = NULL, completed_at = NULL, updated_at = %(at)s
WHERE id = %(id)s

-- name: has_live_parts
-- audience: a batch and its parts have one audience
-- Whether parts of a batch are still to be done or being done.
SELECT EXISTS (SELECT 1 FROM operation WHERE parent = %(id)s AND status IN ('pending', 'processing')) AS live

-- name: hold_documents
-- audience: the caller has checked that it may
-- Documents with chunks that will forget this operation and its parts; in the order in which everybody locks them.
SELECT d.number FROM document d
WHERE d.number IN (SELECT c.document FROM chunk c JOIN operation o ON o.id = c.operation
                   WHERE o.id = %(id)s OR o.parent = %(id)s)
ORDER BY d.number FOR KEY SHARE

-- name: delete
-- audience: the caller has checked that it may
-- Deletes one operation with its parts.
DELETE FROM operation WHERE id = %(id)s

-- name: hold_bank
-- audience: a lock, nothing is read
-- Keeps a bank from being deleted until the new operations are there: who deletes it must see them.
SELECT 1 FROM bank WHERE id = ANY(%(banks)s::bigint[]) ORDER BY id FOR SHARE

-- name: lock_bank
-- audience: the whole bank goes
-- Locks a bank's operations in the order that everybody locks them; who holds one may still refer to the others.
SELECT id FROM operation WHERE bank = %(bank)s ORDER BY is_parent DESC, id FOR NO KEY UPDATE

-- name: delete_bank
-- audience: the whole bank goes
-- Deletes a bank's operations; who works on one writes nothing from now on.
DELETE FROM operation WHERE bank = %(bank)s

-- name: get
-- One operation as its readers see it. A consolidation is one for all circles of a bank: its numbers are the operator's.
SELECT o.id, o.kind, o.status, o.parent, o.is_parent, o.items_count, o.payload, told.progress,
       coalesce(told.result, '{}') AS result, told.error_message, o.attempts, o.cancel_requested, CASE WHEN o.status = 'pending' AND o.due_at > now() THEN o.due_at END AS retry_at,
       o.created_at, o.updated_at, o.completed_at
FROM operation o
LEFT JOIN LATERAL (SELECT o.progress, o.result, o.error_message WHERE %(sees_all)s OR o.kind <> 'consolidation') AS told ON true
WHERE o.bank = %(bank)s AND o.id = %(id)s
  AND (%(sees_all)s OR o.audience_id = ANY(%(audiences)s::bigint[]))

-- name: parts
-- The parts of a batch in the order they were submitted, without their payload.
SELECT o.id, o.kind, o.status, o.parent, o.is_parent, o.items_count, NULL::jsonb AS payload, o.progress, o.result,
       o.error_message, o.attempts, o.cancel_requested,
       CASE WHEN o.status = 'pending' AND o.due_at > now() THEN o.due_at END AS retry_at,
       o.created_at, o.updated_at, o.completed_at
FROM operation o
WHERE o.parent = %(id)s
  AND (%(sees_all)s OR o.audience_id = ANY(%(audiences)s::bigint[]))
ORDER BY o.id

-- name: list
-- A page of a bank's operations, newest first, without their payload. What begins when anybody's
-- memory comes (consolidation, an index) is listed for operators alone; who asks for one knows its id.
SELECT o.id, o.kind, o.status, o.parent, o.is_parent, o.items_count, NULL::jsonb AS payload, o.progress, o.result,
       o.error_message, o.attempts, o.cancel_requested,
       CASE WHEN o.status = 'pending' AND o.due_at > now() THEN o.due_at END AS retry_at,
       o.created_at, o.updated_at, o.completed_at
FROM operation o
WHERE o.bank = %(bank)s
  AND (%(sees_all)s OR o.audience_id = ANY(%(audiences)s::bigint[]))
  AND (%(status)s::text IS NULL OR o.status = %(status)s)
  AND (%(kind)s::text IS NULL OR o.kind = %(kind)s)
  AND (%(sees_all)s OR o.kind NOT IN ('consolidation', 'vector_index'))
  AND NOT (%(exclude_parents)s AND o.is_parent)
ORDER BY o.created_at DESC, o.id DESC
LIMIT %(limit)s OFFSET %(offset)s

-- name: count
-- How many operations a list has over all its pages.
SELECT count(*) AS total
FROM operation o
WHERE o.bank = %(bank)s
  AND (%(sees_all)s OR o.audience_id = ANY(%(audiences)s::bigint[]))
  AND (%(status)s::text IS NULL OR o.status = %(status)s)
  AND (%(kind)s::text IS NULL OR o.kind = %(kind)s)
  AND (%(sees_all)s OR o.kind NOT IN ('consolidation', 'vector_index'))
  AND NOT (%(exclude_parents)s AND o.is_parent)

-- name: tell
-- Into the outbox.
INSERT INTO event (id, bank, type, payload, created_at) VALUES (%(id)s, %(bank)s, %(type)s, %(payload)s, %(now)s)
