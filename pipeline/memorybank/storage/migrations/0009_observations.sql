-- What was learned from facts: which facts an observation stands on, what it said before, and how far consolidation is.

-- `version`: the state of the observation that a source joined; 0 is the first.
CREATE TABLE observation_source (
    observation uuid NOT NULL REFERENCES memory_unit ON DELETE CASCADE,
    source      uuid NOT NULL REFERENCES memory_unit ON DELETE CASCADE,
    bank        bigint NOT NULL,
    audience_id bigint NOT NULL,
    version     integer NOT NULL DEFAULT 0,
    PRIMARY KEY (observation, source),
    FOREIGN KEY (bank, audience_id) REFERENCES audience (bank, id)
);
CREATE INDEX observation_source_source ON observation_source (source);
CREATE INDEX observation_source_bank ON observation_source (bank);

-- What an observation said before its state `version`, when it changed and why.
CREATE TABLE observation_version (
    observation    uuid NOT NULL REFERENCES memory_unit ON DELETE CASCADE,
    version        integer NOT NULL,
    text           text NOT NULL,
    tags           text[] NOT NULL,
    occurred_start timestamptz,
    occurred_end   timestamptz,
    mentioned_at   timestamptz,
    reason         text NOT NULL DEFAULT '',
    changed_at     timestamptz NOT NULL,
    PRIMARY KEY (observation, version)
);

-- Scopes in which a fact that has several of them is consolidated. With the last one the fact is: the rows stay, so that
-- one scope can be done again alone.
CREATE TABLE consolidation_pass (
    unit  uuid NOT NULL REFERENCES memory_unit ON DELETE CASCADE,
    scope text[] NOT NULL,
    PRIMARY KEY (unit, scope)
);

-- Whether a fact of these tags and scopes is to be consolidated in a scope.
CREATE FUNCTION has_scope(tags text[], scopes jsonb, asked text[]) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN jsonb_typeof(scopes) = 'array' THEN EXISTS (
        SELECT 1 FROM jsonb_array_elements(scopes) AS one WHERE one @> to_jsonb(asked) AND one <@ to_jsonb(asked))
    WHEN scopes = '"shared"' THEN asked = '{}'
    WHEN scopes = '"per_tag"' AND tags <> '{}' THEN cardinality(asked) = 1 AND asked <@ tags
    WHEN scopes = '"all_combinations"' AND tags <> '{}' THEN asked <> '{}' AND asked <@ tags
    ELSE asked @> tags AND asked <@ tags
END;

-- An observation never outlives its evidence: whoever takes a source from it, in whatever way, deletes it, and its sources
-- are consolidated anew. Of an observation that goes itself, nothing follows.
CREATE FUNCTION retract_observations() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    fallen uuid[] := array(SELECT DISTINCT u.id FROM gone JOIN memory_unit u ON u.id = gone.observation ORDER BY u.id);
    freed uuid[];
BEGIN
    IF fallen = '{}' THEN
        RETURN NULL;
    END IF;
    WITH cited AS (
        SELECT s.source, s.observation FROM observation_source s WHERE s.observation = ANY(fallen)
        UNION
        SELECT gone.source, gone.observation FROM gone WHERE gone.observation = ANY(fallen)
    ), passes AS (
        DELETE FROM consolidation_pass p USING cited, memory_unit o
        WHERE p.unit = cited.source AND o.id = cited.observation AND p.scope = o.tags
    )
    SELECT array_agg(DISTINCT source ORDER BY source) INTO freed FROM cited;
    UPDATE memory_unit SET consolidated_at = NULL WHERE id = ANY(freed) AND consolidated_at IS NOT NULL;
    DELETE FROM memory_unit WHERE id = ANY(fallen);
    RETURN NULL;
END
$$;
CREATE TRIGGER observation_source_retracts AFTER DELETE ON observation_source
    REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION retract_observations();

-- A fact of which anything changed that consolidation reads is consolidated anew; in two steps, for a row cannot be
-- changed before its update and others after it at once.
CREATE FUNCTION renew_fact() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_WHEN = 'BEFORE' THEN
        NEW.consolidated_at := NULL;
        NEW.consolidation_failed_at := NULL;
        NEW.revision := OLD.revision + 1;
        RETURN NEW;
    END IF;
    DELETE FROM consolidation_pass WHERE unit = NEW.id;
    DELETE FROM observation_source WHERE source = NEW.id;
    RETURN NULL;
END
$$;
CREATE TRIGGER memory_unit_renews BEFORE UPDATE ON memory_unit FOR EACH ROW
    WHEN (OLD.fact_type <> 'observation'
          AND (OLD.text, OLD.context, OLD.fact_type, OLD.status, OLD.audience_id, OLD.tags, OLD.observation_scopes,
               OLD.occurred_start, OLD.occurred_end, OLD.mentioned_at)
              IS DISTINCT FROM (NEW.text, NEW.context, NEW.fact_type, NEW.status, NEW.audience_id, NEW.tags,
                                NEW.observation_scopes, NEW.occurred_start, NEW.occurred_end, NEW.mentioned_at))
    EXECUTE FUNCTION renew_fact();
CREATE TRIGGER memory_unit_retracts AFTER UPDATE ON memory_unit FOR EACH ROW
    WHEN (OLD.revision <> NEW.revision) EXECUTE FUNCTION renew_fact();

-- When a fact was said last: where it lives, or where it was said again.
CREATE FUNCTION last_said(unit uuid, first_said timestamptz) RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT greatest(first_said, max(m.mentioned_at)) FROM unit_mention m WHERE m.unit = last_said.unit;
END;

-- A fact that is said again is news, so it is consolidated again: what had changed may have changed back. Its observations
-- stand meanwhile.
CREATE FUNCTION renew_said_again() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE memory_unit SET consolidated_at = NULL WHERE id = NEW.unit AND consolidated_at IS NOT NULL;
    DELETE FROM consolidation_pass WHERE unit = NEW.unit;
    RETURN NULL;
END
$$;
CREATE TRIGGER unit_mention_renews AFTER INSERT ON unit_mention FOR EACH ROW EXECUTE FUNCTION renew_said_again();

-- Only active units are searched.
CREATE FUNCTION hide_unit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM posting WHERE bank = NEW.bank AND document = NEW.document_number AND position = NEW.position;
    DELETE FROM embedding WHERE bank = NEW.bank AND document = NEW.document_number AND position = NEW.position;
    RETURN NULL;
END
$$;
CREATE TRIGGER memory_unit_hides AFTER UPDATE ON memory_unit FOR EACH ROW
    WHEN (OLD.status = 'active' AND NEW.status <> 'active') EXECUTE FUNCTION hide_unit();
