-- name: by_key
-- From here on rows are looked up by their keys: a plan once made stays right, and to plan takes as long as to look up. No
-- table is read whole, as a plan that was made while it was tiny would do for ever.
SELECT set_config('plan_cache_mode', 'force_generic_plan', true), set_config('enable_seqscan', 'off', true)

-- name: each
-- From here on each statement is planned for its own parameters again, as elsewhere.
SELECT set_config('plan_cache_mode', 'force_custom_plan', true), set_config('enable_seqscan', 'on', true)
