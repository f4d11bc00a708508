-- name: hold_targets
-- audience: the targets were found under the audience of a claim
-- Facts that new links point to, kept from being deleted. One that is being deleted or moved right now is passed over:
-- a link is a hint and not worth waiting for, least of all in a circle.
SELECT id FROM memory_unit WHERE id = ANY(%(ids)s::uuid[]) FOR KEY SHARE SKIP LOCKED

-- name: lock_deletions
-- A link goes with either of its facts: two transactions that delete facts of a bank would wait for each other.
SELECT pg_advisory_xact_lock(hashtextextended('unit_link', %(bank)s))

-- name: copy
-- audience: rows are only added, for facts of the audience of a claim
-- New links.
COPY unit_link (source, target, kind, weight, bank) FROM STDIN (FORMAT BINARY)
