-- name: knowing_both
-- The viewer's audiences in which both entities are known.
SELECT a.audience_id
FROM entity_name a
JOIN entity_name b ON b.bank = a.bank AND b.audience_id = a.audience_id AND b.entity = %(target)s AND b.rule = 'own'
WHERE a.bank = %(bank)s AND a.entity = %(source)s AND a.rule = 'own'
  AND (%(sees_all)s OR a.audience_id = ANY(%(audiences)s::bigint[]))
ORDER BY a.audience_id

-- name: bearers
-- Entities of these names in the viewer's audiences that know the target, counted as what they were merged into.
SELECT DISTINCT n.key, coalesce(n.root, n.entity) AS entity
FROM entity_name n
JOIN entity_name t ON t.bank = n.bank AND t.audience_id = n.audience_id AND t.entity = %(target)s AND t.rule = 'own'
WHERE n.bank = %(bank)s AND n.key = ANY(%(keys)s::text[]) AND n.rule = 'own'
  AND (%(sees_all)s OR n.audience_id = ANY(%(audiences)s::bigint[]))
ORDER BY n.key, entity

-- name: call
-- A name that nothing bears yet, as an entity without mentions that is merged into the target.
INSERT INTO entity_name (bank, audience_id, key, entity, rule, name, merged_into, root)
SELECT t.bank, t.audience_id, %(key)s, %(source)s, 'own', %(name)s, %(target)s, %(target)s
FROM entity_name t
WHERE t.bank = %(bank)s AND t.entity = %(target)s AND t.rule = 'own'
  AND (%(sees_all)s OR t.audience_id = ANY(%(audiences)s::bigint[]))
ORDER BY t.audience_id
ON CONFLICT DO NOTHING

-- name: redirect
-- audience: the audiences were found under the viewer
-- All names of the merged entity, and of what was merged into it before, count as the target's.
UPDATE entity_name n
SET root = %(target)s,
    merged_into = CASE WHEN n.entity = %(source)s AND n.rule = 'own' THEN %(target)s::uuid ELSE n.merged_into END
WHERE n.bank = %(bank)s AND n.audience_id = ANY(%(knowing)s::bigint[])
  AND (n.entity = %(source)s OR n.root = %(source)s)

-- name: absorb
-- audience: the audiences were found under the viewer
-- Its mentions become the target's, each with its own key and entity. A unit that names both names one, in two ways.
WITH gone AS (
    DELETE FROM unit_entity ue USING memory_unit u, entity e
    WHERE ue.entity = %(source)s AND u.id = ue.unit AND e.id = ue.entity AND u.audience_id = ANY(%(knowing)s::bigint[])
    RETURNING ue.unit, ue.bank, ue.chunk, coalesce(ue.keys, ARRAY[e.key]) AS keys, coalesce(ue.via, ARRAY[e.id]) AS via
)
INSERT INTO unit_entity (unit, entity, bank, chunk, keys, via)
SELECT gone.unit, %(target)s, gone.bank, gone.chunk, gone.keys, gone.via FROM gone
ON CONFLICT (unit, entity, chunk) DO UPDATE SET
    keys = coalesce(unit_entity.keys, ARRAY(SELECT e.key FROM entity e WHERE e.id = unit_entity.entity)) || excluded.keys,
    via = coalesce(unit_entity.via, ARRAY[unit_entity.entity]) || excluded.via

-- name: tree
-- A merged entity and all that was merged into it, by audience, with what they count as.
WITH RECURSIVE tree AS (
    SELECT n.bank, n.audience_id, n.entity, n.root
    FROM entity_name n
    WHERE n.bank = %(bank)s AND n.entity = %(source)s AND n.merged_into IS NOT NULL
      AND (%(sees_all)s OR n.audience_id = ANY(%(audiences)s::bigint[]))
    UNION
    SELECT n.bank, n.audience_id, n.entity, tree.root
    FROM tree
    JOIN entity_name n ON n.bank = tree.bank AND n.root = tree.root AND n.merged_into = tree.entity
    WHERE n.audience_id = tree.audience_id AND (%(sees_all)s OR n.audience_id = ANY(%(audiences)s::bigint[]))
)
SELECT audience_id, entity, root FROM tree

-- name: give_back
-- audience: the audiences were found under the viewer
-- Mentions that are by themselves of the merged entity, or of what was merged into it, are its own again.
INSERT INTO unit_entity (unit, entity, bank, chunk, keys, via)
SELECT ue.unit, e.id, ue.bank, ue.chunk,
       CASE WHEN own.via <> ARRAY[e.id] OR own.keys <> ARRAY[e.key] THEN own.keys END,
       CASE WHEN own.via <> ARRAY[e.id] OR own.keys <> ARRAY[e.key] THEN own.via END
FROM unit_entity ue
JOIN memory_unit u ON u.id = ue.unit
JOIN entity e ON e.id = %(source)s
CROSS JOIN LATERAL (SELECT array_agg(w.key ORDER BY w.place) AS keys, array_agg(w.via ORDER BY w.place) AS via
                    FROM unnest(ue.keys, ue.via) WITH ORDINALITY AS w (key, via, place)
                    WHERE w.via = ANY(%(leaves)s::uuid[])) AS own
WHERE ue.entity = %(root)s AND ue.via && %(leaves)s::uuid[] AND u.audience_id = ANY(%(knowing)s::bigint[])

-- name: drop_given
-- audience: the audiences were found under the viewer
-- Mentions that were of the merged entity alone.
DELETE FROM unit_entity ue USING memory_unit u
WHERE ue.entity = %(root)s AND ue.via <@ %(leaves)s::uuid[]
  AND u.id = ue.unit AND u.audience_id = ANY(%(knowing)s::bigint[])

-- name: keep_rest
-- audience: the audiences were found under the viewer
-- Mentions that were of others too keep what is not given back.
UPDATE unit_entity ue
SET keys = CASE WHEN rest.via <> ARRAY[e.id] OR rest.keys <> ARRAY[e.key] THEN rest.keys END,
    via = CASE WHEN rest.via <> ARRAY[e.id] OR rest.keys <> ARRAY[e.key] THEN rest.via END
FROM memory_unit u, entity e, unit_entity held
CROSS JOIN LATERAL (SELECT array_agg(w.key ORDER BY w.place) AS keys, array_agg(w.via ORDER BY w.place) AS via
                    FROM unnest(held.keys, held.via) WITH ORDINALITY AS w (key, via, place)
                    WHERE w.via <> ALL(%(leaves)s::uuid[])) AS rest
WHERE ue.entity = %(root)s AND ue.via && %(leaves)s::uuid[] AND held.unit = ue.unit AND held.entity = ue.entity
  AND held.chunk IS NOT DISTINCT FROM ue.chunk AND e.id = ue.entity AND u.id = ue.unit AND u.audience_id = ANY(%(knowing)s::bigint[])

-- name: release
-- audience: the audiences were found under the viewer
-- Its names are its own again, and count for what was merged into it.
UPDATE entity_name n
SET root = CASE WHEN n.entity <> %(source)s THEN %(source)s::uuid END,
    merged_into = CASE WHEN n.entity <> %(source)s THEN n.merged_into END
WHERE n.bank = %(bank)s AND n.audience_id = ANY(%(knowing)s::bigint[]) AND n.root = %(root)s
  AND n.entity = ANY(%(leaves)s::uuid[])

-- name: aliases
-- Other names of an entity: what texts called it, and the names of what was merged into it.
SELECT DISTINCT ON (n.key) n.name, CASE WHEN n.root IS NOT NULL THEN n.entity END AS entity
FROM entity_name n
WHERE n.bank = %(bank)s AND coalesce(n.root, n.entity) = %(entity)s AND (n.rule = 'alias' OR n.root IS NOT NULL AND n.rule = 'own')
  AND (n.entity = %(entity)s OR n.root = %(entity)s)
  AND (%(sees_all)s OR n.audience_id = ANY(%(audiences)s::bigint[]))
ORDER BY n.key, n.rule DESC
