-- name: pending
-- audience: facts of all audiences, which the caller never mixes
-- Facts that wait, the oldest first, with the scopes in which they are done. Those that only few may see wait for a fuller
-- batch, or until they are old enough.
SELECT u.id, u.audience_id AS audience, u.text, u.context, u.fact_type, u.occurred_start, u.occurred_end,
       last_said(u.id, u.mentioned_at) AS mentioned_at, u.mentioned_at_assumed, u.tags, u.observation_scopes AS scopes, u.created_at, u.proof_count, u.revision,
       (SELECT coalesce(jsonb_agg(p.scope), '[]') FROM consolidation_pass p WHERE p.unit = u.id) AS done
FROM memory_unit u JOIN audience a ON a.id = u.audience_id
WHERE u.bank = %(bank)s AND u.consolidated_at IS NULL AND u.consolidation_failed_at IS NULL
  AND u.fact_type <> 'observation' AND u.status = 'active'
  AND (%(scopes)s::jsonb IS NULL OR EXISTS (
      SELECT 1
      FROM (SELECT array(SELECT jsonb_array_elements_text(one)) AS tags FROM jsonb_array_elements(%(scopes)s) AS one) AS asked
      WHERE has_scope(u.tags, u.observation_scopes, asked.tags)
        AND NOT EXISTS (SELECT 1 FROM consolidation_pass p WHERE p.unit = u.id AND p.scope = asked.tags)))
  AND (a.kind = 'bank' OR u.created_at <= %(waited)s OR %(batch)s <= (
      SELECT count(*) FROM (
          SELECT 1 FROM memory_unit alike
          WHERE alike.bank = u.bank AND alike.consolidated_at IS NULL AND alike.consolidation_failed_at IS NULL
            AND alike.fact_type <> 'observation' AND alike.status = 'active' AND alike.audience_id = u.audience_id
            AND alike.tags = u.tags AND alike.observation_scopes IS NOT DISTINCT FROM u.observation_scopes
          LIMIT %(batch)s) AS full_batch))
ORDER BY u.created_at, u.id
LIMIT %(limit)s

-- name: candidates
-- audience: observations of one audience and scope, for facts of the same
-- What each of these facts may be about: by turns the nearest, and the nearest of those that share a name with it which few
-- have; each with its newest sources.
WITH asked AS MATERIALIZED (
    SELECT u.id, e.vector
    FROM unnest(%(facts)s::uuid[]) AS fact (id)
    CROSS JOIN LATERAL (SELECT u.id, u.document_number, u.position FROM memory_unit u
                        WHERE u.id = fact.id AND u.audience_id = %(audience)s OFFSET 0) AS u
    JOIN embedding e ON e.bank = %(bank)s AND e.document = u.document_number AND e.position = u.position
                        AND e.model = %(model)s
), held AS MATERIALIZED (
    SELECT u.id, e.vector
    FROM memory_unit u
    JOIN embedding e ON e.bank = %(bank)s AND e.document = u.document_number AND e.position = u.position
                        AND e.model = %(model)s
    WHERE u.bank = %(bank)s AND u.audience_id = %(audience)s AND u.tags = %(scope)s::text[]
      AND u.fact_type = 'observation' AND u.status = 'active'
), named AS MATERIALIZED (
    SELECT DISTINCT asked.id AS fact, held.id, held.vector <=> asked.vector AS distance
    FROM asked
    JOIN unit_entity own ON own.unit = asked.id
    CROSS JOIN LATERAL (SELECT count(*) AS units FROM (SELECT 1 FROM unit_entity ue WHERE ue.entity = own.entity
                                                       LIMIT %(rare)s + 1) AS few) AS known
    JOIN unit_entity other ON other.entity = own.entity AND known.units <= %(rare)s
    JOIN held ON held.id = other.unit
), placed AS (
    SELECT asked.id AS fact, nearest.id, nearest.distance,
           row_number() OVER (PARTITION BY asked.id ORDER BY nearest.distance) AS place
    FROM asked
    CROSS JOIN LATERAL (SELECT held.id, held.vector <=> asked.vector AS distance FROM held
                        ORDER BY held.vector <=> asked.vector LIMIT %(each)s) AS nearest
    UNION ALL
    SELECT fact, id, distance, row_number() OVER (PARTITION BY fact ORDER BY distance) FROM named
), chosen AS (
    SELECT id, min(distance) AS distance, row_number() OVER (PARTITION BY fact ORDER BY min(place), min(distance), id) AS rank
    FROM placed GROUP BY fact, id
), near AS (
    SELECT id, 1 - min(distance) AS nearness FROM chosen WHERE rank <= %(each)s GROUP BY id
)
SELECT u.id, u.text, u.tags, u.proof_count, u.occurred_start, u.occurred_end, u.mentioned_at, near.nearness, cited.sources
FROM near
JOIN memory_unit u ON u.id = near.id AND u.audience_id = %(audience)s
CROSS JOIN LATERAL (
    SELECT jsonb_agg(jsonb_build_object('id', f.id, 'text', f.text, 'occurred_start', f.occurred_start, 'occurred_end',
                                        f.occurred_end, 'mentioned_at', f.said)
                     ORDER BY f.said DESC NULLS LAST, f.id DESC) AS sources
    FROM (SELECT f.*, last_said(f.id, f.mentioned_at) AS said
          FROM observation_source s JOIN memory_unit f ON f.id = s.source
          WHERE s.observation = u.id AND s.audience_id = %(audience)s AND f.audience_id = %(audience)s
          ORDER BY said DESC NULLS LAST, f.id DESC LIMIT %(sources)s) AS f) AS cited
ORDER BY near.nearness DESC, u.id
LIMIT %(limit)s

-- name: twins
-- audience: observations of one audience and scope, for texts made of facts of the same
-- Observations so near to new texts that they may say the same.
WITH asked AS MATERIALIZED (
    SELECT given.vector::halfvec AS vector, given.place FROM unnest(%(vectors)s::text[]) WITH ORDINALITY AS given (vector, place)
), held AS MATERIALIZED (
    SELECT u.id, u.text, e.vector
    FROM memory_unit u
    JOIN embedding e ON e.bank = %(bank)s AND e.document = u.document_number AND e.position = u.position
                        AND e.model = %(model)s
    WHERE u.bank = %(bank)s AND u.audience_id = %(audience)s AND u.tags = %(scope)s::text[]
      AND u.fact_type = 'observation' AND u.status = 'active'
)
SELECT asked.place - 1 AS place, held.id, held.text, 1 - (held.vector <=> asked.vector) AS nearness
FROM asked JOIN held ON held.vector <=> asked.vector <= 1 - %(threshold)s
ORDER BY place, nearness DESC, held.id

-- name: alike
-- audience: facts of one audience
-- Facts that state what these do, or are lines that open alike (a key of a speaker): also those done before. They are read
-- without a model only, and lines only where there are some, so no index is kept for them.
SELECT u.id, u.audience_id AS audience, u.text, u.context, u.fact_type, u.occurred_start, u.occurred_end,
       last_said(u.id, u.mentioned_at) AS mentioned_at, u.mentioned_at_assumed, u.tags, u.observation_scopes AS scopes, u.created_at, u.proof_count, u.revision,
       '[]'::jsonb AS done
FROM memory_unit u
WHERE u.id = ANY(
        SELECT other.id FROM memory_unit f JOIN memory_unit other ON other.statement = f.statement
        WHERE f.id = ANY(%(facts)s::uuid[]) AND other.status = 'active' AND f.audience_id = %(audience)s
          AND other.audience_id = %(audience)s
        UNION ALL
        SELECT line.id FROM memory_unit line
        WHERE cardinality(%(openings)s::text[]) > 0 AND line.bank = %(bank)s AND line.audience_id = %(audience)s
          AND EXISTS (SELECT 1 FROM unnest(%(openings)s::text[]) AS opening
                      WHERE starts_with(lower(line.text), lower(opening))))
  AND u.id <> ALL(%(facts)s::uuid[]) AND u.bank = %(bank)s AND u.audience_id = %(audience)s
  AND u.fact_type <> 'observation' AND u.status = 'active'
ORDER BY u.id

-- name: standing_on
-- audience: observations of one audience and scope, for facts of the same
-- The observations that stand on any of these facts, with their newest sources.
SELECT u.id, u.text, u.tags, u.proof_count, u.occurred_start, u.occurred_end, u.mentioned_at, 1.0::float8 AS nearness,
       cited.sources
FROM memory_unit u
CROSS JOIN LATERAL (
    SELECT jsonb_agg(jsonb_build_object('id', f.id, 'text', f.text, 'occurred_start', f.occurred_start, 'occurred_end',
                                        f.occurred_end, 'mentioned_at', f.said)
                     ORDER BY f.said DESC NULLS LAST, f.id DESC) AS sources
    FROM (SELECT f.*, last_said(f.id, f.mentioned_at) AS said
          FROM observation_source s JOIN memory_unit f ON f.id = s.source
          WHERE s.observation = u.id AND s.audience_id = %(audience)s AND f.audience_id = %(audience)s
          ORDER BY said DESC NULLS LAST, f.id DESC LIMIT %(sources)s) AS f) AS cited
WHERE u.id = ANY(SELECT s.observation FROM observation_source s
                 WHERE s.source = ANY(%(facts)s::uuid[]) AND s.audience_id = %(audience)s)
  AND u.bank = %(bank)s AND u.audience_id = %(audience)s AND u.tags = %(scope)s::text[]
  AND u.fact_type = 'observation' AND u.status = 'active'
ORDER BY u.id

-- name: count
-- audience: observations of one audience and scope
-- How many there are.
SELECT count(*) AS observations FROM memory_unit u
WHERE u.bank = %(bank)s AND u.audience_id = %(audience)s AND u.tags = %(scope)s::text[]
  AND u.fact_type = 'observation' AND u.status = 'active'

-- name: scopes
-- Scopes with visible observations, the fullest first.
SELECT u.tags, count(*) AS observations
FROM memory_unit u
WHERE u.bank = %(bank)s AND u.fact_type = 'observation' AND u.status = 'active'
  AND (%(sees_all)s OR u.audience_id = ANY(%(audiences)s::bigint[]))
GROUP BY u.tags
ORDER BY observations DESC, u.tags

-- name: sources
-- The facts that an observation stands on, the newest first, each with the state of the observation that it joined.
SELECT f.id, f.text, f.fact_type, f.context, f.occurred_start, f.mentioned_at, s.version
FROM observation_source s JOIN memory_unit f ON f.id = s.source
WHERE s.observation = %(id)s
  AND (%(sees_all)s OR s.audience_id = ANY(%(audiences)s::bigint[]))
  AND (%(sees_all)s OR f.audience_id = ANY(%(audiences)s::bigint[]))
ORDER BY f.mentioned_at DESC NULLS LAST, f.id DESC

-- name: versions
-- What an observation said before, the newest first.
SELECT v.* FROM observation_version v JOIN memory_unit u ON u.id = v.observation
WHERE v.observation = %(id)s AND (%(sees_all)s OR u.audience_id = ANY(%(audiences)s::bigint[]))
ORDER BY v.version DESC
