-- name: statements
-- audience: the holder of a lease writes for one audience
-- By what these facts are known when they are said again.
SELECT statement FROM memory_unit
WHERE id = ANY(%(ids)s::uuid[]) AND audience_id = %(audience)s AND statement IS NOT NULL

-- name: live
-- audience: the holder of a lease writes for one audience
-- Those of the facts that are as they were read, and still wait where they did, locked in one order.
SELECT u.id
FROM memory_unit u JOIN unnest(%(ids)s::uuid[], %(revisions)s::integer[], %(proofs)s::integer[], %(waiting)s::boolean[])
    AS read (id, revision, proofs, waits) ON read.id = u.id
WHERE u.bank = %(bank)s AND u.audience_id = %(audience)s AND u.revision = read.revision AND u.proof_count = read.proofs AND u.status = 'active'
  AND (NOT read.waits OR (
      u.consolidated_at IS NULL AND u.consolidation_failed_at IS NULL
      AND NOT EXISTS (SELECT 1 FROM consolidation_pass p WHERE p.unit = u.id AND p.scope = %(scope)s::text[])))
ORDER BY u.id FOR NO KEY UPDATE OF u

-- name: standing
-- audience: the holder of a lease writes for one audience
-- Those of the observations that still stand.
SELECT u.id FROM memory_unit u
WHERE u.id = ANY(%(ids)s::uuid[]) AND u.bank = %(bank)s AND u.audience_id = %(audience)s AND u.tags = %(scope)s::text[]
  AND u.fact_type = 'observation' AND u.status = 'active'
ORDER BY u.id FOR NO KEY UPDATE

-- name: keep_versions
-- audience: observations that the holder of a lease has locked
-- What they say until now.
INSERT INTO observation_version (observation, version, text, tags, occurred_start, occurred_end, mentioned_at, reason, changed_at)
SELECT u.id, coalesce((SELECT max(v.version) FROM observation_version v WHERE v.observation = u.id), 0) + 1,
       u.text, u.tags, u.occurred_start, u.occurred_end, u.mentioned_at, changed.reason, %(now)s
FROM unnest(%(ids)s::uuid[], %(reasons)s::text[]) AS changed (id, reason) JOIN memory_unit u ON u.id = changed.id

-- name: trim_versions
-- Only the last versions are kept.
DELETE FROM observation_version v
WHERE v.observation = ANY(%(ids)s::uuid[])
  AND v.version <= (SELECT max(n.version) FROM observation_version n WHERE n.observation = v.observation) - %(kept)s

-- name: create
-- audience: rows are only added, for the audience of a lease
-- New observations, each with a document number of its own, so that nobody is its neighbour.
INSERT INTO memory_unit (id, bank, audience_id, document_number, position, fact_type, text, tags, kept_by_kind, created_at,
                         updated_at)
SELECT made.id, %(bank)s, %(audience)s, nextval('document_number'), %(position)s, 'observation', made.text, %(scope)s::text[],
       'consolidation', %(now)s, %(now)s
FROM unnest(%(ids)s::uuid[], %(texts)s::text[]) AS made (id, text)

-- name: say
-- audience: observations that the holder of a lease has locked
-- What observations say from now on.
UPDATE memory_unit u SET text = said.text
FROM unnest(%(ids)s::uuid[], %(texts)s::text[]) AS said (id, text)
WHERE u.id = said.id

-- name: cite
-- audience: rows are only added, for the audience of a lease
-- On what observations stand, from their present state on.
INSERT INTO observation_source (observation, source, bank, audience_id, version)
SELECT pair.observation, pair.source, %(bank)s, %(audience)s,
       coalesce((SELECT max(v.version) FROM observation_version v WHERE v.observation = pair.observation), 0)
FROM unnest(%(observations)s::uuid[], %(sources)s::uuid[]) AS pair (observation, source)
ON CONFLICT DO NOTHING

-- name: take_in
-- audience: observations that the holder of a lease has locked
-- What stood under others stands under the ones that take them in.
INSERT INTO observation_source (observation, source, bank, audience_id, version)
SELECT pair.heir, s.source, s.bank, s.audience_id,
       coalesce((SELECT max(v.version) FROM observation_version v WHERE v.observation = pair.heir), 0)
FROM unnest(%(heirs)s::uuid[], %(gone)s::uuid[]) AS pair (heir, gone) JOIN observation_source s ON s.observation = pair.gone
ON CONFLICT DO NOTHING

-- name: hand_models
-- audience: observations that the holder of a lease has locked
-- What mental models say on the ground of others stands on the ones that take them in.
UPDATE mental_model_source o SET unit = pair.heir
FROM unnest(%(heirs)s::uuid[], %(gone)s::uuid[]) AS pair (heir, gone) WHERE o.unit = pair.gone

-- name: delete
-- audience: observations that the holder of a lease has locked
-- Those that others took in.
DELETE FROM memory_unit WHERE id = ANY(%(gone)s::uuid[])

-- name: weigh
-- audience: observations that the holder of a lease has locked, and their sources
-- How many facts they stand on, and when: from the first beginning to the last end, where these are in order.
UPDATE memory_unit u
SET proof_count = cited.proofs, occurred_start = cited.started,
    occurred_end = CASE WHEN cited.ended < cited.started THEN NULL ELSE cited.ended END,
    mentioned_at = cited.mentioned, mentioned_at_assumed = cited.assumed, updated_at = %(now)s
FROM (SELECT s.observation, count(*) AS proofs, min(f.occurred_start) AS started, max(f.occurred_end) AS ended,
             max(last_said(f.id, f.mentioned_at)) AS mentioned, bool_and(f.mentioned_at_assumed) AS assumed
      FROM observation_source s JOIN memory_unit f ON f.id = s.source
      WHERE s.observation = ANY(%(ids)s::uuid[]) GROUP BY s.observation) AS cited
WHERE u.id = cited.observation

-- name: unname
-- They are about to be named anew.
DELETE FROM unit_entity WHERE unit = ANY(%(ids)s::uuid[])

-- name: name
-- audience: observations that the holder of a lease has locked
-- They name what their sources name, by the same keys.
INSERT INTO unit_entity (unit, entity, bank, keys, via)
SELECT named.unit, named.entity, %(bank)s,
       CASE WHEN NOT bool_and(named.plain) THEN array_agg(named.key) END,
       CASE WHEN NOT bool_and(named.plain) THEN array_agg(named.via) END
FROM (SELECT DISTINCT s.observation AS unit, ue.entity, way.key, way.via, way.key = e.key AND way.via = e.id AS plain
      FROM observation_source s JOIN unit_entity ue ON ue.unit = s.source JOIN entity e ON e.id = ue.entity
      CROSS JOIN LATERAL unnest(coalesce(ue.keys, ARRAY[e.key]), coalesce(ue.via, ARRAY[e.id])) AS way (key, via)
      WHERE s.observation = ANY(%(ids)s::uuid[])) AS named
GROUP BY named.unit, named.entity

-- name: addresses
-- audience: observations that the holder of a lease has locked
-- Where observations stand.
SELECT id, document_number AS document, mentioned_at FROM memory_unit WHERE id = ANY(%(ids)s::uuid[])

-- name: pass
-- audience: facts that the holder of a lease has locked
-- In a scope done: facts that have several.
INSERT INTO consolidation_pass (unit, scope)
SELECT fact.id, %(scope)s::text[]
FROM unnest(%(ids)s::uuid[], %(passes)s::integer[]) AS fact (id, passes)
WHERE fact.passes > 1
ON CONFLICT DO NOTHING

-- name: finish
-- audience: facts that the holder of a lease has locked
-- Done: facts with no scope left.
UPDATE memory_unit u SET consolidated_at = %(now)s
FROM unnest(%(ids)s::uuid[], %(passes)s::integer[]) AS fact (id, passes)
WHERE u.id = fact.id
  AND (fact.passes <= 1 OR (SELECT count(*) FROM consolidation_pass p WHERE p.unit = fact.id) >= fact.passes)

-- name: fail
-- audience: facts that the holder of a lease has locked
-- Facts that no answer could be had for; they wait until somebody asks for them.
UPDATE memory_unit SET consolidation_failed_at = %(now)s WHERE id = ANY(%(ids)s::uuid[])

-- name: documents
-- audience: facts that the holder of a lease has locked
-- In which documents these facts live.
SELECT DISTINCT document FROM memory_unit WHERE id = ANY(%(ids)s::uuid[]) AND document IS NOT NULL ORDER BY document
