-- The facts and observations of a bank: what they say, how facts stand, what observations stand on.
SELECT u.id, u.text, u.fact_type, consolidation_state(u) AS state, u.occurred_start, u.occurred_end,
       ARRAY(SELECT s.source FROM observation_source s WHERE s.observation = u.id) AS sources
FROM memory_unit u
WHERE u.bank = %(bank)s
ORDER BY u.created_at, u.id
