-- name: add
-- audience: a new row, in the audience of the caller
-- A model that was never built; nothing where the id is taken.
INSERT INTO mental_model (bank, audience_id, id, name, source_query, tags, max_tokens, trigger, is_managed, folder, cron_due_at,
                          created_at, updated_at)
VALUES (%(bank)s, %(audience_id)s, %(id)s, %(name)s, %(source_query)s, %(tags)s, %(max_tokens)s, %(trigger)s,
        %(is_managed)s, %(folder)s, %(cron_due_at)s, %(now)s, %(now)s)
ON CONFLICT (bank, id) DO NOTHING
RETURNING number

-- name: get
-- One model with what it says now. `read_at` is the server's clock, as in `wanted_at`.
SELECT m.number, m.bank, m.audience_id, m.id, m.name, m.source_query, m.tags, m.max_tokens, m.trigger, m.is_managed, m.folder,
       m.version, m.built_query, m.seen_at, m.refreshed_at, m.full_refreshed_at, m.failed_at, m.rebuild, m.created_at,
       clock_timestamp() AS read_at,
       m.rebuild OR m.failed_at IS NOT NULL OR (m.version > 0 AND m.built_query IS DISTINCT FROM m.source_query)
           OR has_news(m) AS is_stale,
       coalesce(v.response, '{}') AS response, said.statements
FROM mental_model m
LEFT JOIN mental_model_version v ON v.model = m.number AND v.version = m.version
CROSS JOIN LATERAL (
    SELECT coalesce(jsonb_agg(jsonb_build_array(s.section, s.text, cited.units) ORDER BY s.place), '[]') AS statements
    FROM mental_model_statement s
    CROSS JOIN LATERAL (
        SELECT coalesce(jsonb_agg(DISTINCT o.unit), '[]') AS units FROM mental_model_source o
        WHERE (o.model, o.version, o.place) = (s.model, s.version, s.place) AND o.cited) AS cited
    WHERE s.model = m.number AND s.version = m.version) AS said
WHERE m.bank = %(bank)s AND (%(id)s::text IS NULL OR m.id = %(id)s)
  AND (%(number)s::bigint IS NULL OR m.number = %(number)s)
  AND (%(managed)s::boolean IS NULL OR m.is_managed = %(managed)s)
  AND tags_match(m.tags, %(tags)s::text[], %(tags_match)s)
  AND (%(sees_all)s OR m.audience_id = ANY(%(audiences)s::bigint[]))
ORDER BY m.created_at DESC, m.number DESC
LIMIT %(limit)s OFFSET %(offset)s

-- name: count
-- How many models a list has over all its pages.
SELECT count(*) AS total FROM mental_model m
WHERE m.bank = %(bank)s AND tags_match(m.tags, %(tags)s::text[], %(tags_match)s)
  AND (%(managed)s::boolean IS NULL OR m.is_managed = %(managed)s)
  AND (%(sees_all)s OR m.audience_id = ANY(%(audiences)s::bigint[]))

-- name: sources
-- The memories that models cite in what they say now, as they are now.
SELECT DISTINCT o.model, u.id, u.text, u.fact_type, u.context, u.occurred_start, u.occurred_end
FROM mental_model m
JOIN mental_model_source o ON o.model = m.number AND o.version = m.version AND o.cited
JOIN memory_unit u ON u.id = o.unit AND u.audience_id = m.audience_id
WHERE m.number = ANY(%(models)s::bigint[]) AND (%(sees_all)s OR m.audience_id = ANY(%(audiences)s::bigint[]))
ORDER BY o.model, u.id

-- name: history
-- What a model said before, the newest first.
SELECT v.version, v.reason, v.replaced_at,
       (SELECT coalesce(jsonb_agg(jsonb_build_array(s.section, s.text, '[]'::jsonb) ORDER BY s.place), '[]')
        FROM mental_model_statement s WHERE s.model = v.model AND s.version = v.version) AS statements
FROM mental_model m JOIN mental_model_version v ON v.model = m.number
WHERE m.number = %(model)s AND v.replaced_at IS NOT NULL AND (%(sees_all)s OR m.audience_id = ANY(%(audiences)s::bigint[]))
ORDER BY v.version DESC

-- name: update
-- audience: the caller has found it under its viewer
-- What is asked of a model; None leaves a field as it is. Other evidence makes it stale as a whole.
UPDATE mental_model SET
    name = coalesce(%(name)s, name), source_query = coalesce(%(source_query)s, source_query),
    tags = coalesce(%(tags)s::text[], tags), max_tokens = coalesce(%(max_tokens)s::integer, max_tokens),
    trigger = coalesce(%(trigger)s::jsonb, trigger),
    cron_due_at = CASE WHEN %(trigger)s::jsonb IS NULL THEN cron_due_at ELSE %(cron_due_at)s::timestamptz END,
    rebuild = rebuild OR (%(elsewhere)s AND version > 0), updated_at = %(now)s
WHERE number = %(number)s

-- name: delete
-- audience: the caller has found it under its viewer
-- All that it ever said goes by foreign key.
DELETE FROM mental_model WHERE number = %(number)s

-- name: ask
-- audience: the caller has found it under its viewer
-- The next refresh is to build it anew.
UPDATE mental_model SET rebuild = true WHERE number = %(number)s

-- name: queue
-- audience: work for the audience of the model
-- Queues a refresh. A bank that is being changed or deleted is passed over, for nobody may wait for it here: the sweep
-- comes back to it.
INSERT INTO operation (id, bank, audience_id, kind, serial_keys, payload, result, created_at, updated_at)
SELECT %(operation)s, held.id, m.audience_id, 'refresh_mental_model', array[%(serial)s || m.number::text],
       jsonb_build_object('mental_model_id', m.id, 'number', m.number), jsonb_build_object('mental_model_id', m.id),
       %(now)s, %(now)s
FROM (SELECT b.id FROM bank b WHERE b.id = %(bank)s FOR SHARE SKIP LOCKED) AS held
JOIN mental_model m ON m.bank = held.id AND m.number = %(number)s
ON CONFLICT (bank, (payload ->> 'mental_model_id')) WHERE kind = 'refresh_mental_model' AND status = 'pending' AND fresh
DO NOTHING
RETURNING id

-- name: waiting
-- audience: work for the audience of the model
-- The refresh of a model that nobody has begun.
SELECT o.id FROM operation o JOIN mental_model m ON m.bank = o.bank AND m.id = o.payload ->> 'mental_model_id'
WHERE o.bank = %(bank)s AND m.number = %(number)s AND o.kind = 'refresh_mental_model' AND o.status = 'pending' AND o.fresh

-- name: want
-- audience: nobody is told but the sweep, which queues work that keeps audiences apart
-- After a run of consolidation: models that follow it and have news.
UPDATE mental_model w SET wanted_at = clock_timestamp(), failures = 0
FROM (SELECT m.number FROM mental_model m
      WHERE m.bank = %(bank)s AND m.wanted_at IS NULL AND m.trigger -> 'refresh_after_consolidation' = 'true' AND has_news(m)
      ORDER BY m.number FOR NO KEY UPDATE OF m) AS held
WHERE w.number = held.number

-- name: due
-- audience: nobody is told but the sweep, which queues work that keeps audiences apart
-- Models whose hour has come, by their cron expression; held, so that one sweep counts it.
SELECT m.number, m.trigger ->> 'refresh_cron' AS cron FROM mental_model m
WHERE m.cron_due_at <= %(now)s
ORDER BY m.number LIMIT %(limit)s FOR NO KEY UPDATE SKIP LOCKED

-- name: set_due
-- audience: nobody is told but the sweep, which queues work that keeps audiences apart
-- The hour has come, and this is the next one.
UPDATE mental_model SET wanted_at = clock_timestamp(), failures = 0, cron_due_at = %(next)s WHERE number = %(number)s

-- name: wanted
-- audience: nobody is told but the sweep, which queues work that keeps audiences apart
-- Models that are to be refreshed, not sooner after the last time than they may, nor right after a failure: the longer,
-- the more of them there were.
SELECT m.number, m.bank
FROM mental_model m JOIN bank b ON b.id = m.bank
WHERE m.wanted_at IS NOT NULL AND m.failures < %(failures)s
  AND coalesce(m.failed_at, '-infinity')
      <= now() - CASE WHEN m.failures > 0 THEN make_interval(secs => %(pause)s * 2 ^ m.failures) ELSE '0' END
  AND coalesce(m.refreshed_at, '-infinity') <= now() - make_interval(secs => coalesce(
      (m.trigger -> 'min_refresh_interval_seconds')::integer,
      (b.config -> 'mental_model_min_refresh_interval_seconds')::integer, %(interval)s))
  AND NOT EXISTS (SELECT 1 FROM operation o
                  WHERE o.bank = m.bank AND o.kind = 'refresh_mental_model' AND o.payload ->> 'mental_model_id' = m.id
                    AND o.status IN ('pending', 'processing'))
ORDER BY m.wanted_at LIMIT %(limit)s

-- name: seen
-- audience: a refresh reads under the audience of its model
-- Until when nothing in its scope is news to who reads now. What transactions that run now have written, or will, is news.
SELECT least(newest.at, (
           SELECT min(a.xact_start) FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
           WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND l.pid <> pg_backend_pid()
             AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
             AND (l.classid::bigint << 32) | l.objid::bigint = hashtextextended('facts', m.bank))) AS at
FROM mental_model m
CROSS JOIN LATERAL (
    SELECT u.updated_at AS at FROM memory_unit u
    WHERE u.bank = m.bank AND u.audience_id = m.audience_id AND u.status = 'active' AND in_scope(m, u.fact_type, u.tags)
    ORDER BY u.updated_at DESC LIMIT 1) AS newest
WHERE m.number = %(number)s

-- name: shown
-- audience: a refresh reads under the audience of its model
-- Memories as they are now; those of other audiences are none.
SELECT u.id, u.text, u.fact_type, u.context, u.occurred_start, u.occurred_end, u.mentioned_at, u.revision, u.updated_at
FROM memory_unit u
WHERE u.id = ANY(%(ids)s::uuid[]) AND u.bank = %(bank)s AND u.audience_id = %(audience_id)s AND u.status = 'active'
ORDER BY array_position(%(ids)s::uuid[], u.id)

-- name: live
-- audience: the holder of a lease writes for the audience of the model
-- Those of the memories that are as they were read, held until the end; in one order.
SELECT u.id FROM memory_unit u JOIN unnest(%(ids)s::uuid[], %(revisions)s::integer[]) AS read (id, revision) ON read.id = u.id
WHERE u.bank = %(bank)s AND u.audience_id = %(audience_id)s AND u.status = 'active' AND u.revision = read.revision
ORDER BY u.id FOR KEY SHARE OF u

-- name: hold
-- audience: the holder of a lease, or who has found it under its viewer
-- Locks a model and says whether it is as it was read.
SELECT m.version = %(version)s AND m.source_query = %(source_query)s AND m.tags = %(tags)s::text[] AS same
FROM mental_model m WHERE m.number = %(number)s FOR NO KEY UPDATE

-- name: replace
-- audience: the holder of a lease, or who has found it under its viewer
-- What a model says becomes what it said; then comes the next version.
WITH old AS (
    UPDATE mental_model_version SET replaced_at = %(now)s WHERE model = %(number)s AND replaced_at IS NULL
)
INSERT INTO mental_model_version (model, version, response, reason, made_at)
VALUES (%(number)s, %(version)s, %(response)s, %(reason)s, %(now)s)

-- name: say
-- audience: the holder of a lease writes for the audience of the model
-- The statements of a version.
INSERT INTO mental_model_statement (model, version, place, section, text)
SELECT %(number)s, %(version)s, said.place, said.section, said.text
FROM unnest(%(places)s::integer[], %(sections)s::text[], %(texts)s::text[]) AS said (place, section, text)

-- name: cite
-- audience: the holder of a lease writes for the audience of the model
-- What the statements stand on, with the facts behind observations.
INSERT INTO mental_model_source (model, version, place, unit, cited)
SELECT %(number)s, %(version)s, pair.place, pair.unit, true
FROM unnest(%(places)s::integer[], %(units)s::uuid[]) AS pair (place, unit)
UNION
SELECT %(number)s, %(version)s, pair.place, s.source, false
FROM unnest(%(places)s::integer[], %(units)s::uuid[]) AS pair (place, unit)
JOIN observation_source s ON s.observation = pair.unit AND s.audience_id = %(audience_id)s

-- name: answer
-- audience: the holder of a lease writes for the audience of the model
-- What else the refresh gave, where it says what it said.
UPDATE mental_model_version SET response = %(response)s WHERE model = %(number)s AND version = %(version)s

-- name: trim
-- audience: the holder of a lease, or who has found it under its viewer
-- No more than so many earlier versions are kept.
DELETE FROM mental_model_version WHERE model = %(number)s AND version < %(version)s - %(kept)s

-- name: settle
-- audience: the holder of a lease writes for the audience of the model
-- It was refreshed. What was wanted since it was read is still.
UPDATE mental_model
SET version = %(version)s, built_query = source_query, seen_at = %(seen_at)s, refreshed_at = %(now)s,
    full_refreshed_at = CASE WHEN %(full)s THEN %(now)s ELSE full_refreshed_at END, failed_at = NULL, failures = 0,
    rebuild = rebuild AND coalesce(wanted_at > %(read_at)s, false),
    wanted_at = CASE WHEN wanted_at > %(read_at)s THEN wanted_at END, updated_at = %(now)s
WHERE number = %(number)s

-- name: clear
-- audience: the caller has found it under its viewer
-- It says nothing now, and has seen nothing.
UPDATE mental_model
SET version = %(version)s, built_query = NULL, seen_at = NULL, refreshed_at = NULL, failed_at = NULL, failures = 0,
    rebuild = false, wanted_at = NULL, updated_at = %(now)s
WHERE number = %(number)s

-- name: fail
-- audience: the holder of a lease writes for the audience of the model
-- A refresh failed: what it says stands, and is tried again.
UPDATE mental_model
SET failed_at = now(), failures = failures + 1, wanted_at = coalesce(wanted_at, clock_timestamp())
WHERE number = %(number)s
