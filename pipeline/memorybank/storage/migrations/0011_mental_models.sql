-- Saved answers: each answers one question over its part of a bank, in sections of statements that name their sources.

-- Whether tags pass the wire's tag group: the rule of tags.py, for statements that look at many models at once.
CREATE FUNCTION group_holds(held text[], asked jsonb) RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    part jsonb;
BEGIN
    IF jsonb_typeof(asked -> 'and') = 'array' THEN
        FOR part IN SELECT jsonb_array_elements(asked -> 'and') LOOP
            IF NOT group_holds(held, part) THEN RETURN false; END IF;
        END LOOP;
        RETURN true;
    ELSIF jsonb_typeof(asked -> 'or') = 'array' THEN
        FOR part IN SELECT jsonb_array_elements(asked -> 'or') LOOP
            IF group_holds(held, part) THEN RETURN true; END IF;
        END LOOP;
        RETURN false;
    ELSIF jsonb_typeof(asked -> 'not') = 'object' THEN
        RETURN NOT group_holds(held, asked -> 'not');
    END IF;
    RETURN tags_match(held, array(SELECT jsonb_array_elements_text(asked -> 'tags')), coalesce(asked ->> 'match', 'any_strict'));
END
$$;

-- `version` 0 was never built, and its content is nothing; each refresh that changes what it says makes the next.
-- `seen_at`: nothing that changed until then is news to it. `built_query`: the question that its content answers.
-- `wanted_at`: a refresh is to be queued as soon as may be; `rebuild`: and shall not lean on what it says now.
CREATE TABLE mental_model (
    number            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    bank              bigint NOT NULL REFERENCES bank ON DELETE CASCADE,
    audience_id       bigint NOT NULL,
    id                text NOT NULL CHECK (id ~ '^[a-z0-9][a-z0-9-]*$'),
    name              text NOT NULL,
    source_query      text NOT NULL,
    tags              text[] NOT NULL DEFAULT '{}',
    max_tokens        integer NOT NULL,
    trigger           jsonb NOT NULL DEFAULT '{}',
    is_managed        boolean NOT NULL DEFAULT false,
    version           integer NOT NULL DEFAULT 0,
    built_query       text,
    seen_at           timestamptz,
    refreshed_at      timestamptz,
    full_refreshed_at timestamptz,
    failed_at         timestamptz,
    failures          integer NOT NULL DEFAULT 0,
    wanted_at         timestamptz,
    rebuild           boolean NOT NULL DEFAULT false,
    cron_due_at       timestamptz,
    created_at        timestamptz NOT NULL,
    updated_at        timestamptz NOT NULL,
    UNIQUE (bank, id),
    FOREIGN KEY (bank, audience_id) REFERENCES audience (bank, id)
);
CREATE INDEX mental_model_wanted ON mental_model (wanted_at) WHERE wanted_at IS NOT NULL;
CREATE INDEX mental_model_cron ON mental_model (cron_due_at) WHERE cron_due_at IS NOT NULL;

-- What a model said, now and before; `response`: what else the refresh gave (structured output, usage, trace).
CREATE TABLE mental_model_version (
    model       bigint NOT NULL REFERENCES mental_model ON DELETE CASCADE,
    version     integer NOT NULL,
    response    jsonb NOT NULL DEFAULT '{}',
    reason      text NOT NULL,
    made_at     timestamptz NOT NULL,
    replaced_at timestamptz,
    PRIMARY KEY (model, version)
);

CREATE TABLE mental_model_statement (
    model   bigint NOT NULL,
    version integer NOT NULL,
    place   integer NOT NULL,
    section text NOT NULL,
    text    text NOT NULL,
    PRIMARY KEY (model, version, place),
    FOREIGN KEY (model, version) REFERENCES mental_model_version ON DELETE CASCADE
);

-- What a statement stands on: the memories that it cites, and the facts behind those that are observations (not `cited`).
-- Consolidation hands the rows of a merged observation to its heir, so that a pair may stand twice.
CREATE TABLE mental_model_source (
    model   bigint NOT NULL,
    version integer NOT NULL,
    place   integer NOT NULL,
    unit    uuid NOT NULL REFERENCES memory_unit ON DELETE CASCADE,
    cited   boolean NOT NULL,
    FOREIGN KEY (model, version, place) REFERENCES mental_model_statement ON DELETE CASCADE
);
CREATE INDEX mental_model_source_statement ON mental_model_source (model, version, place);
CREATE INDEX mental_model_source_unit ON mental_model_source (unit);

-- What changed last, of one bank: news for its models.
CREATE INDEX memory_unit_changed ON memory_unit (bank, updated_at) WHERE status = 'active';

-- Whether a model may look at a memory of its audience with this type and these tags.
CREATE FUNCTION in_scope(model mental_model, fact_type text, held text[]) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (model.trigger -> 'fact_types' IS NULL OR model.trigger -> 'fact_types' ? fact_type)
    AND tags_match(held, model.tags,
                   coalesce(model.trigger ->> 'tags_match', CASE WHEN model.tags = '{}' THEN 'any' ELSE 'all_strict' END))
    AND (model.trigger -> 'tag_groups' IS NULL OR group_holds(held, jsonb_build_object('and', model.trigger -> 'tag_groups')));

-- Whether something in its scope has changed that it has not seen.
CREATE FUNCTION has_news(model mental_model) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT EXISTS (
        SELECT 1 FROM memory_unit u
        WHERE u.bank = model.bank AND u.audience_id = model.audience_id AND u.status = 'active'
          AND u.updated_at > coalesce(model.seen_at, '-infinity') AND in_scope(model, u.fact_type, u.tags));
END;

-- A section never outlives what it stands on: whoever takes a source from it, in whatever way, withholds it with what else
-- the refresh gave, in all versions, and the model is built anew.
CREATE FUNCTION withhold_sections() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM gone) THEN
        RETURN NULL;
    END IF;
    PERFORM 1 FROM mental_model m
    WHERE m.number IN (SELECT g.model FROM gone g JOIN mental_model_statement s USING (model, version, place))
    ORDER BY m.number FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    UPDATE mental_model_version v SET response = v.response - 'structured_output' - 'trace'
    WHERE (v.model, v.version) IN (
        SELECT g.model, g.version FROM gone g JOIN mental_model_statement s USING (model, version, place));
    UPDATE mental_model m SET wanted_at = clock_timestamp(), rebuild = true, failures = 0
    WHERE (m.number, m.version) IN (
        SELECT g.model, g.version FROM gone g JOIN mental_model_statement s USING (model, version, place));
    DELETE FROM mental_model_statement s
    WHERE (s.model, s.version, s.section) IN (
        SELECT f.model, f.version, f.section FROM gone g JOIN mental_model_statement f USING (model, version, place));
    RETURN NULL;
END
$$;
CREATE TRIGGER mental_model_source_withholds AFTER DELETE ON mental_model_source
    REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION withhold_sections();

-- A fact that changed is no source of what was said of it before; nor is a memory that is no longer active.
CREATE FUNCTION leave_models() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM mental_model_source WHERE unit = NEW.id;
    RETURN NULL;
END
$$;
CREATE TRIGGER memory_unit_leaves_models AFTER UPDATE ON memory_unit FOR EACH ROW
    WHEN (OLD.revision <> NEW.revision OR (OLD.status = 'active' AND NEW.status <> 'active'))
    EXECUTE FUNCTION leave_models();

-- Triggers coalesce: one refresh of a model waits, which nobody has begun. Refreshes of one model go one after the other.
CREATE UNIQUE INDEX operation_waiting_refresh ON operation (bank, (payload ->> 'mental_model_id'))
    WHERE kind = 'refresh_mental_model' AND status = 'pending' AND fresh;
