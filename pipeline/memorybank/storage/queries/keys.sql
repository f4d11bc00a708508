-- name: exist
-- Whether any key was ever made.
SELECT EXISTS (SELECT FROM api_key) AS exist

-- name: opened
-- Whom a key or a session stands for, as they are at this moment. A person or an agent that is gone has no key.
SELECT k.id AS key, k.kind, k.banks, k.last_used_at,
       w.id, w.organization, w.role, w.memory_access, w.agents, w.agent_banks, w.places
FROM api_key k
-- OFFSET 0: the one holder by its key, not everybody to join with.
LEFT JOIN LATERAL (SELECT * FROM principal WHERE kind = k.kind AND id = k.principal OFFSET 0) w ON true
WHERE (k.hash = %(key)s::bytea
       OR k.id = (SELECT s.key FROM session s WHERE s.hash = %(session)s::bytea AND s.expires_at > %(now)s))
  AND k.revoked_at IS NULL AND (k.kind = 'operator' OR w.id IS NOT NULL)

-- name: principal
-- A person or an agent, for whom an operator acts.
SELECT kind, NULL AS banks, id, organization, role, memory_access, agents, agent_banks, places
FROM principal WHERE kind = %(kind)s AND id = %(id)s

-- name: used
-- When a key was used last, as far as it matters: not written for each request.
UPDATE api_key SET last_used_at = %(now)s
WHERE id = %(key)s AND (last_used_at IS NULL OR last_used_at < %(before)s)

-- name: list
-- Every key there ever was, the newest first; nobody can read what it is.
SELECT k.id, k.prefix, k.name, k.kind, k.principal, coalesce(p.external_id, a.external_id) AS external_id, k.banks,
       k.created_at, k.last_used_at, k.revoked_at
FROM api_key k
LEFT JOIN person p ON k.kind = 'person' AND p.id = k.principal
LEFT JOIN agent a ON k.kind = 'agent' AND a.id = k.principal
ORDER BY k.created_at DESC, k.id DESC

-- name: add
-- A key; one that is there already stays as it is.
INSERT INTO api_key (id, hash, prefix, name, kind, principal, banks, created_at)
VALUES (%(id)s, %(hash)s, %(prefix)s, %(name)s, %(kind)s, %(principal)s, %(banks)s, %(now)s)
ON CONFLICT (hash) DO NOTHING

-- name: with_hash
-- A key that was given before.
SELECT id, kind, principal, revoked_at FROM api_key WHERE hash = %(hash)s

-- name: held
-- Who has or had a key.
SELECT DISTINCT kind, principal FROM api_key WHERE principal = ANY(%(principals)s::uuid[]) OR kind = 'operator'

-- name: revoke
-- From now on it opens nothing.
UPDATE api_key SET revoked_at = coalesce(revoked_at, %(now)s) WHERE id = %(key)s RETURNING id

-- name: revoke_all
-- The keys of somebody who is removed.
UPDATE api_key SET revoked_at = coalesce(revoked_at, %(now)s) WHERE kind = %(kind)s AND principal = %(principal)s

-- name: begin_session
-- A session of a key.
INSERT INTO session (hash, key, expires_at) VALUES (%(hash)s, %(key)s, %(expires_at)s)

-- name: end_session
-- A session that is over.
DELETE FROM session WHERE hash = %(hash)s

-- name: prune_sessions
-- Sessions that are over.
DELETE FROM session WHERE expires_at <= %(now)s
