-- name: recover
-- Facts that failed wait again.
UPDATE memory_unit u SET consolidation_failed_at = NULL
WHERE u.bank = %(bank)s AND u.consolidation_failed_at IS NOT NULL AND u.status = 'active'
  AND (%(sees_all)s OR u.audience_id = ANY(%(audiences)s::bigint[]))

-- name: documents
-- Documents that visible observations stand on; of one fact, or of all.
SELECT DISTINCT f.document
FROM observation_source asked
JOIN observation_source s ON s.observation = asked.observation AND s.audience_id = asked.audience_id
JOIN memory_unit f ON f.id = s.source AND f.audience_id = s.audience_id
WHERE asked.bank = %(bank)s AND (%(fact)s::uuid IS NULL OR asked.source = %(fact)s) AND f.document IS NOT NULL
  AND (%(sees_all)s OR asked.audience_id = ANY(%(audiences)s::bigint[]))
ORDER BY f.document

-- name: named
-- What observations name that their facts no longer do.
SELECT DISTINCT ue.entity
FROM memory_unit u JOIN unit_entity ue ON ue.unit = u.id
WHERE u.bank = %(bank)s AND u.fact_type = 'observation'
  AND (%(sees_all)s OR u.audience_id = ANY(%(audiences)s::bigint[]))
  AND NOT EXISTS (SELECT 1 FROM observation_source s JOIN unit_entity f ON f.unit = s.source
                  WHERE s.observation = u.id AND f.entity = ue.entity
                    AND (%(sees_all)s OR s.audience_id = ANY(%(audiences)s::bigint[])))

-- name: observations
-- Search rows and what they stood on go by foreign key.
DELETE FROM memory_unit u
WHERE u.bank = %(bank)s AND u.fact_type = 'observation'
  AND (%(sees_all)s OR u.audience_id = ANY(%(audiences)s::bigint[]))

-- name: passes
-- Every scope is to be done again.
DELETE FROM consolidation_pass p USING memory_unit u
WHERE u.id = p.unit AND u.bank = %(bank)s AND (%(sees_all)s OR u.audience_id = ANY(%(audiences)s::bigint[]))

-- name: facts
-- Every fact is to be consolidated again.
UPDATE memory_unit u SET consolidated_at = NULL
WHERE u.bank = %(bank)s AND u.fact_type <> 'observation' AND u.consolidated_at IS NOT NULL
  AND (%(sees_all)s OR u.audience_id = ANY(%(audiences)s::bigint[]))

-- name: of_fact
-- Takes a fact from all that stands on it, which goes with that (see retract_observations).
DELETE FROM observation_source s
WHERE s.source = %(fact)s AND (%(sees_all)s OR s.audience_id = ANY(%(audiences)s::bigint[]))
