-- name: add
-- audience: rows are only added, for the audience of the caller
-- An attempt at a model, a failed one too. Who deletes a bank deletes its operations, then the bank: so the operation is
-- held first here too.
WITH held AS MATERIALIZED (SELECT 1 FROM operation WHERE id = %(operation)s FOR KEY SHARE)
INSERT INTO llm_call (id, bank, audience_id, operation, stage, model, attempt, status, error, input_tokens, output_tokens,
                      cached_tokens, thoughts_tokens, cost, duration_ms, created_at)
SELECT %(id)s, %(bank)s, %(audience_id)s, %(operation)s, %(stage)s, %(model)s, %(attempt)s, %(status)s, %(error)s,
       %(input_tokens)s, %(output_tokens)s, %(cached_tokens)s, %(thoughts_tokens)s, %(cost)s, %(duration_ms)s,
       %(created_at)s
WHERE (SELECT count(*) FROM held) >= 0

-- name: spent
-- What an operation spent.
SELECT count(*) AS calls, coalesce(sum(l.input_tokens), 0)::integer AS input_tokens,
       coalesce(sum(l.output_tokens), 0)::integer AS output_tokens,
       coalesce(sum(l.cached_tokens), 0)::integer AS cached_tokens,
       coalesce(sum(l.thoughts_tokens), 0)::integer AS thoughts_tokens, coalesce(sum(l.cost), 0) AS cost
FROM llm_call l
WHERE l.operation = %(operation)s AND (%(sees_all)s OR l.audience_id = ANY(%(audiences)s::bigint[]))
