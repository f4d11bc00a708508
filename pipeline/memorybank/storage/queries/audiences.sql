-- name: find
-- The number of a circle, if it is there.
SELECT id FROM audience
WHERE bank = %(bank)s AND kind = %(kind)s AND organization IS NOT DISTINCT FROM %(organization)s::uuid
  AND agent IS NOT DISTINCT FROM %(agent)s::uuid AND person IS NOT DISTINCT FROM %(person)s::uuid
  AND place IS NOT DISTINCT FROM %(place)s::uuid

-- name: add
-- A circle; who adds it at the same time is waited for.
INSERT INTO audience (bank, kind, organization, agent, person, place)
VALUES (%(bank)s, %(kind)s, %(organization)s, %(agent)s, %(person)s, %(place)s)
ON CONFLICT DO NOTHING

-- name: hold
-- Whose circle is made stay in the directory until the transaction ends, and how many of them are there.
WITH person AS (SELECT FROM person WHERE id = %(person)s::uuid FOR SHARE),
agent AS (SELECT FROM agent WHERE id = %(agent)s::uuid FOR SHARE)
SELECT (SELECT count(*) FROM person) + (SELECT count(*) FROM agent) AS held

-- name: get
-- What circle a number stands for.
SELECT kind, organization, agent, person, place FROM audience WHERE id = %(id)s

-- name: of_agent
-- The circles that go with an agent, by bank: its own, its direct talks, and those of places where it alone talks.
SELECT b.bank_id, array_agg(a.id) AS audiences FROM audience a JOIN bank b ON b.id = a.bank
WHERE a.agent = %(id)s AND a.kind IN ('agent', 'dm') OR a.place IN (SELECT p.id FROM place p WHERE p.agent = %(id)s)
GROUP BY b.bank_id ORDER BY b.bank_id

-- name: of_place
-- The circle that goes with a place, by bank; a thread has none of its own.
SELECT b.bank_id, array_agg(a.id) AS audiences FROM audience a JOIN bank b ON b.id = a.bank
WHERE a.place = %(id)s GROUP BY b.bank_id ORDER BY b.bank_id

-- name: of_organization
-- The circles that go with an organization, by bank: what it knows, and what was said in it of anybody.
SELECT b.bank_id, array_agg(a.id) AS audiences FROM audience a JOIN bank b ON b.id = a.bank
WHERE a.organization = %(id)s GROUP BY b.bank_id ORDER BY b.bank_id

-- name: of_person
-- The circles that go with a person, by bank: their direct talks, which nobody else could see.
SELECT b.bank_id, array_agg(a.id) AS audiences FROM audience a JOIN bank b ON b.id = a.bank
WHERE a.person = %(id)s AND a.kind = 'dm' GROUP BY b.bank_id ORDER BY b.bank_id

-- name: remove
-- Circles that nobody can be in any more, when nothing is known in them: what comes too late finds none.
DELETE FROM audience WHERE id = ANY(%(ids)s::bigint[])

-- name: resolve
-- What a Reach sees, in one bank or in all, and the banks that somebody has to do with: those of their agents, of the
-- agents of their organization and places, and where a circle is theirs. A person who is `anywhere` sees all of their places,
-- else the one `place` counts; memberships are read here, for hundreds of them cost more to send than to find. `placed`: the
-- bank has to do with the place.
WITH seen AS (
    SELECT a.id, a.bank FROM audience a JOIN bank b ON b.id = a.bank
    WHERE (%(bank_id)s::text IS NULL OR b.bank_id = %(bank_id)s)
      AND CASE a.kind
          WHEN 'bank' THEN %(all_banks)s OR b.bank_id = ANY(%(banks)s::text[])
          WHEN 'agent' THEN %(all_agents)s OR a.agent = ANY(%(agents)s::uuid[])
          WHEN 'organization' THEN a.organization = %(organization)s::uuid
          WHEN 'subject' THEN (a.organization = %(subjects_of)s::uuid OR a.agent = %(author)s::uuid)
                                 AND (%(of_whom)s::uuid IS NULL OR a.person = %(of_whom)s::uuid)
                              OR a.person = %(about)s::uuid
          WHEN 'place' THEN a.place = %(place)s::uuid OR a.place IN (
              SELECT m.place FROM place_member m WHERE m.person = %(anywhere)s::uuid)
          WHEN 'dm' THEN a.person = %(dm_person)s::uuid AND (%(dm_agent)s::uuid IS NULL OR a.agent = %(dm_agent)s::uuid)
      END
)
SELECT ARRAY(SELECT id FROM seen) AS audiences,
       ARRAY(SELECT b.bank_id FROM bank b WHERE b.id IN (SELECT bank FROM seen)
             UNION
             SELECT g.bank_id FROM agent g
             WHERE (%(bank_id)s::text IS NULL OR g.bank_id = %(bank_id)s)
               AND (g.id = ANY(%(own_agents)s::uuid[]) OR g.organization = %(member_of)s::uuid
                    OR EXISTS (SELECT FROM place_member m JOIN place p ON p.id = m.place WHERE m.person = %(member)s::uuid
                               AND (p.agent = g.id OR p.agent IS NULL AND p.organization = g.organization)))) AS banks,
       EXISTS (SELECT FROM agent g
               WHERE g.bank_id = %(bank_id)s AND (g.id = %(place_agent)s::uuid
                     OR %(place_agent)s::uuid IS NULL AND g.organization = %(place_organization)s::uuid)) AS placed
