-- name: waiting
-- audience: a bank has one run, whose work keeps audiences apart
-- The run over everything that waits in a bank: it will see what is new.
SELECT id FROM operation
WHERE bank = %(bank)s AND kind = 'consolidation' AND completed_at IS NULL AND status = 'pending'
  AND NOT payload ? 'scopes'
ORDER BY id LIMIT 1

-- name: add
-- audience: a bank has one run, whose work keeps audiences apart
-- Queues a run. A bank that is being changed or deleted is passed over, for nobody may wait for it here: the sweep comes
-- back to it.
INSERT INTO operation (id, bank, audience_id, kind, serial_keys, payload, created_at, updated_at)
SELECT %(id)s, held.id, a.id, 'consolidation', %(serial_keys)s, %(payload)s, %(now)s, %(now)s
FROM (SELECT b.id FROM bank b WHERE b.id = %(bank)s FOR SHARE SKIP LOCKED) AS held
JOIN audience a ON a.bank = held.id AND a.kind = 'bank'
ON CONFLICT (bank) WHERE kind = 'consolidation' AND status = 'pending' AND fresh AND NOT payload ? 'scopes' DO NOTHING
RETURNING id

-- name: has_backlog
-- audience: nobody is told but the sweep, which queues work that keeps audiences apart
-- Whether facts of a bank wait.
SELECT EXISTS (
    SELECT 1 FROM memory_unit u
    WHERE u.bank = %(bank)s AND u.consolidated_at IS NULL AND u.consolidation_failed_at IS NULL
      AND u.fact_type <> 'observation' AND u.status = 'active') AS waits

-- name: backlogs
-- audience: nobody is told but the sweep, which queues work that keeps audiences apart
-- Banks with facts that have waited long enough and no run for them, none being retained to, and not right after a run:
-- the longer, the longer runs have failed. Walks the partial index from bank to bank.
WITH RECURSIVE waiting (bank, since) AS (
    (SELECT u.bank, u.created_at FROM memory_unit u
     WHERE u.consolidated_at IS NULL AND u.consolidation_failed_at IS NULL AND u.fact_type <> 'observation'
       AND u.status = 'active'
     ORDER BY u.bank, u.created_at LIMIT 1)
    UNION ALL
    SELECT next.bank, next.created_at
    FROM waiting w
    CROSS JOIN LATERAL (
        SELECT u.bank, u.created_at FROM memory_unit u
        WHERE u.bank > w.bank AND u.consolidated_at IS NULL AND u.consolidation_failed_at IS NULL
          AND u.fact_type <> 'observation' AND u.status = 'active'
        ORDER BY u.bank, u.created_at LIMIT 1) AS next
)
SELECT b.id AS bank
FROM waiting w
JOIN bank b ON b.id = w.bank
CROSS JOIN LATERAL (
    SELECT max(o.completed_at) AS at FROM operation o
    WHERE o.bank = b.id AND o.kind = 'consolidation' AND o.status = 'completed') AS success
CROSS JOIN LATERAL (
    SELECT max(o.completed_at) AS at, max(o.completed_at) - min(o.completed_at) AS lasts FROM operation o
    WHERE o.bank = b.id AND o.kind = 'consolidation' AND o.status IN ('failed', 'cancelled')
      AND o.completed_at > coalesce(success.at, '-infinity')) AS failure
WHERE w.since <= now() - make_interval(secs => %(grace_seconds)s)
  AND coalesce((b.config ->> 'enable_observations')::boolean, %(observations)s)
  AND coalesce((b.config ->> 'enable_auto_consolidation')::boolean, %(automatic)s)
  AND NOT EXISTS (SELECT 1 FROM operation o
                  WHERE o.bank = b.id AND o.kind = 'consolidation' AND o.completed_at IS NULL AND NOT o.payload ? 'scopes')
  AND NOT EXISTS (SELECT 1 FROM operation o
                  WHERE o.status = 'processing' AND o.bank = b.id AND o.kind IN ('retain', 'file_convert_retain'))
  AND coalesce(greatest(success.at, failure.at), '-infinity')
      <= now() - least(greatest(failure.lasts, make_interval(secs => %(pause_seconds)s)), make_interval(secs => %(cap_seconds)s))
  AND EXISTS (
      SELECT 1 FROM memory_unit u JOIN audience a ON a.id = u.audience_id
      WHERE u.bank = b.id AND u.consolidated_at IS NULL AND u.consolidation_failed_at IS NULL
        AND u.fact_type <> 'observation' AND u.status = 'active'
        AND u.created_at <= now() - make_interval(
            secs => CASE WHEN a.kind = 'bank' THEN %(grace_seconds)s ELSE %(wait_seconds)s END))
LIMIT %(limit)s
