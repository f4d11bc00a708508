-- name: alone
-- One change of the directory at a time; it ends with the transaction.
SELECT pg_advisory_xact_lock(%(number)s)

-- name: organizations
-- Every organization.
SELECT id, external_id, name, memory_access, created_at, updated_at FROM organization ORDER BY external_id

-- name: people
-- Every person.
SELECT id, external_id, name, handle, email, organization, role, created_at, updated_at FROM person ORDER BY external_id

-- name: agents
-- Every agent.
SELECT id, external_id, name, handle, description, owner, organization, bank_id, created_at, updated_at
FROM agent ORDER BY external_id

-- name: places
-- Every place with its members; a thread has those of its root.
SELECT p.id, p.external_id, r.kind, r.organization, r.agent, p.root, p.title, p.created_at, p.updated_at,
       ARRAY(SELECT m.person FROM place_member m WHERE m.place = r.id ORDER BY m.person) AS members
FROM place p JOIN place r ON r.id = p.root ORDER BY p.external_id

-- name: organization
-- One organization.
SELECT id, external_id, name, memory_access, created_at, updated_at FROM organization WHERE id = %(id)s

-- name: person
-- One person.
SELECT id, external_id, name, handle, email, organization, role, created_at, updated_at FROM person WHERE id = %(id)s

-- name: agent
-- One agent.
SELECT id, external_id, name, handle, description, owner, organization, bank_id, created_at, updated_at
FROM agent WHERE id = %(id)s

-- name: agents_in
-- The agents of a bank.
SELECT id, external_id, name, handle, description, owner, organization, bank_id, created_at, updated_at
FROM agent WHERE bank_id = %(bank_id)s ORDER BY external_id

-- name: agents_of
-- These agents.
SELECT id, external_id, name, handle, description, owner, organization, bank_id, created_at, updated_at
FROM agent WHERE id = ANY(%(ids)s::uuid[]) ORDER BY external_id

-- name: public
-- Those of the places that all of an organization may read.
SELECT id FROM place
WHERE id = ANY(%(places)s::uuid[]) AND kind = 'public' AND organization = %(organization)s::uuid

-- name: place
-- The root of a place, and the one person of a direct talk.
SELECT r.id, r.kind, r.organization, r.agent,
       CASE r.kind WHEN 'dm' THEN (SELECT m.person FROM place_member m WHERE m.place = r.id) END AS person
FROM place p JOIN place r ON r.id = p.root WHERE p.id = %(id)s

-- name: members
-- Who is in a place, threads as their root.
SELECT m.person FROM place p JOIN place_member m ON m.place = p.root WHERE p.id = %(id)s ORDER BY m.person

-- name: owned
-- Whether nobody else has an agent in a bank.
SELECT NOT EXISTS (SELECT FROM agent WHERE bank_id = %(bank_id)s AND owner IS DISTINCT FROM %(person)s) AS owned

-- name: names
-- How people and agents are called.
SELECT 'person' AS kind, id, name, organization FROM person WHERE id = ANY(%(ids)s::uuid[])
UNION ALL
SELECT 'agent', id, name, organization FROM agent WHERE id = ANY(%(ids)s::uuid[])

-- name: rooms
-- How places are called.
SELECT id, kind, title FROM place WHERE id = ANY(%(ids)s::uuid[])

-- name: put_organization
-- As declared; new or not.
INSERT INTO organization (id, external_id, name, memory_access, created_at, updated_at)
VALUES (%(id)s, %(external_id)s, %(name)s, %(memory_access)s, %(now)s, %(now)s)
ON CONFLICT (id) DO UPDATE SET name = excluded.name, memory_access = excluded.memory_access, updated_at = excluded.updated_at
WHERE (organization.name, organization.memory_access) IS DISTINCT FROM (excluded.name, excluded.memory_access)

-- name: put_person
-- As declared; new or not.
INSERT INTO person (id, external_id, name, handle, email, organization, role, created_at, updated_at)
VALUES (%(id)s, %(external_id)s, %(name)s, %(handle)s, %(email)s, %(organization)s, %(role)s, %(now)s, %(now)s)
ON CONFLICT (id) DO UPDATE SET
    name = excluded.name, handle = excluded.handle, email = excluded.email, organization = excluded.organization,
    role = excluded.role, updated_at = excluded.updated_at
WHERE (person.name, person.handle, person.email, person.organization, person.role)
      IS DISTINCT FROM (excluded.name, excluded.handle, excluded.email, excluded.organization, excluded.role)

-- name: put_agent
-- As declared; new or not.
INSERT INTO agent (id, external_id, name, handle, description, owner, organization, bank_id, created_at, updated_at)
VALUES (%(id)s, %(external_id)s, %(name)s, %(handle)s, %(description)s, %(owner)s, %(organization)s, %(bank_id)s,
        %(now)s, %(now)s)
ON CONFLICT (id) DO UPDATE SET
    name = excluded.name, handle = excluded.handle, description = excluded.description, owner = excluded.owner,
    organization = excluded.organization, updated_at = excluded.updated_at
WHERE (agent.name, agent.handle, agent.description, agent.owner, agent.organization)
      IS DISTINCT FROM (excluded.name, excluded.handle, excluded.description, excluded.owner, excluded.organization)

-- name: put_place
-- As declared; new or not.
INSERT INTO place (id, external_id, kind, organization, agent, root, title, created_at, updated_at)
VALUES (%(id)s, %(external_id)s, %(kind)s, %(organization)s, %(agent)s, %(root)s, %(title)s, %(now)s, %(now)s)
ON CONFLICT (id) DO UPDATE SET
    kind = excluded.kind, organization = excluded.organization, agent = excluded.agent, root = excluded.root,
    title = excluded.title, updated_at = excluded.updated_at
WHERE (place.kind, place.organization, place.agent, place.root, place.title)
      IS DISTINCT FROM (excluded.kind, excluded.organization, excluded.agent, excluded.root, excluded.title)

-- name: leave
-- Those who are no longer members.
DELETE FROM place_member WHERE place = %(place)s AND person <> ALL(%(members)s::uuid[])

-- name: join
-- Those who are members from now on.
INSERT INTO place_member (place, person) SELECT %(place)s, unnest(%(members)s::uuid[]) ON CONFLICT DO NOTHING

-- name: remove_organization
-- Fails while anybody or anything is in it.
DELETE FROM organization WHERE id = %(id)s

-- name: remove_person
-- Their places go on without them; fails while they own an agent.
DELETE FROM person WHERE id = %(id)s

-- name: hold
-- Who goes, before facts and places, as by whoever makes a circle of theirs. Who only refers to them is not waited for.
WITH people AS MATERIALIZED (SELECT FROM person WHERE id = ANY(%(ids)s::uuid[]) ORDER BY id FOR NO KEY UPDATE),
agents AS MATERIALIZED (SELECT FROM agent WHERE id = ANY(%(ids)s::uuid[]) ORDER BY id FOR NO KEY UPDATE)
SELECT (SELECT count(*) FROM people) + (SELECT count(*) FROM agents) AS held

-- name: hold_places
-- Places that go, with the agents whose own they are: before facts, as by whoever keeps what was said there.
SELECT 1 FROM place p WHERE p.agent = ANY(%(ids)s::uuid[]) OR p.id = ANY(%(ids)s::uuid[]) OR p.root = ANY(%(ids)s::uuid[])
ORDER BY p.id FOR UPDATE

-- name: remove_agent
-- Places of its own go with it.
DELETE FROM agent WHERE id = %(id)s

-- name: remove_place
-- Its threads go with it.
DELETE FROM place WHERE id = %(id)s

-- name: orphan
-- audience: who wrote it is forgotten in whatever bank and audience
-- What somebody who is removed has left to others has no author any more.
UPDATE memory_unit SET kept_by = NULL WHERE kept_by = %(id)s
