-- What somebody has stated: kept word for word, each a unit without a document. And where any memory came from.

ALTER TABLE memory_unit
    ADD COLUMN source_person uuid,
    ADD COLUMN source_at     timestamptz,
    ADD CONSTRAINT memory_unit_source CHECK (source_kind IN ('message', 'session', 'person'));
-- Lists of what was stated, the newest first.
CREATE INDEX memory_unit_stated ON memory_unit (audience_id, status, created_at DESC, id DESC)
    WHERE document IS NULL AND fact_type <> 'observation';
-- What was said in a place.
CREATE INDEX memory_unit_said_in ON memory_unit (source_place) WHERE source_place IS NOT NULL;

-- Something that it says was forgotten: recall shows it no more.
ALTER TABLE chunk ADD COLUMN withheld boolean NOT NULL DEFAULT false;

-- `surface`: the interface it came through. `agent`: whose memory it is, as long as there is that agent. `terms`: what it
-- is found by in lists, in any state; sorted, each once. The rest, and `metadata` too, are Band's.
CREATE TABLE stated_memory (
    unit     uuid PRIMARY KEY REFERENCES memory_unit ON DELETE CASCADE,
    surface  text NOT NULL CHECK (surface IN ('facts', 'band', 'kv')),
    agent    uuid REFERENCES agent ON DELETE SET NULL,
    terms    bigint[] NOT NULL,
    system   text,
    type     text,
    segment  text CHECK (segment IN ('user', 'agent', 'tool', 'guideline')),
    thought  text,
    metadata jsonb,
    CHECK (num_nonnulls(system, type, segment, thought) = CASE surface WHEN 'band' THEN 4 ELSE 0 END),
    CONSTRAINT stated_memory_taxonomy CHECK (system IS NULL OR CASE system
        WHEN 'sensory' THEN type IN ('iconic', 'echoic', 'haptic')
        WHEN 'working' THEN type = 'episodic'
        WHEN 'long_term' THEN type IN ('episodic', 'semantic', 'procedural')
        ELSE false END)
);
CREATE INDEX stated_memory_agent ON stated_memory (agent);
CREATE INDEX stated_memory_terms ON stated_memory USING gin (terms);

-- Keys and values of agents; JSON as it was given. `unit` is by what recall finds an entry; without one it does not.
CREATE TABLE kv_entry (
    agent       uuid NOT NULL REFERENCES agent ON DELETE CASCADE,
    key         text NOT NULL,
    value       json NOT NULL,
    audience_id bigint NOT NULL REFERENCES audience ON DELETE CASCADE,
    unit        uuid UNIQUE REFERENCES memory_unit ON DELETE CASCADE,
    created_at  timestamptz NOT NULL,
    updated_at  timestamptz NOT NULL,
    PRIMARY KEY (agent, key)
);

-- How many facts an agent holds: one row each, so that two who add the last one meet here.
CREATE TABLE fact_count (
    agent uuid PRIMARY KEY REFERENCES agent ON DELETE CASCADE,
    facts integer NOT NULL,
    CONSTRAINT memory_full CHECK (facts BETWEEN 0 AND 2000)
);

CREATE FUNCTION count_fact() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        UPDATE fact_count SET facts = facts - 1 WHERE agent = OLD.agent;
    ELSE
        INSERT INTO fact_count AS c (agent, facts) VALUES (NEW.agent, 1)
        ON CONFLICT (agent) DO UPDATE SET facts = c.facts + 1;
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER stated_memory_counted AFTER INSERT ON stated_memory FOR EACH ROW
    WHEN (NEW.surface = 'facts') EXECUTE FUNCTION count_fact();
CREATE TRIGGER stated_memory_uncounted AFTER DELETE ON stated_memory FOR EACH ROW
    WHEN (OLD.surface = 'facts') EXECUTE FUNCTION count_fact();

-- What holds whoever writes them: the text of an entry follows its value. Of facts their size; and, when one is kept,
-- that what an organization knows was said where all of it may read, or by one of its owners.
CREATE FUNCTION check_fact() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    kept boolean := TG_TABLE_NAME = 'stated_memory';
    fact memory_unit;
    broken text;
BEGIN
    IF NOT kept THEN
        fact := NEW;
        CASE (SELECT s.surface FROM stated_memory s WHERE s.unit = fact.id)
            WHEN 'facts' THEN NULL;
            WHEN 'kv' THEN
                RAISE check_violation USING MESSAGE = 'an entry breaks a rule', CONSTRAINT = 'entry_says_its_value';
            ELSE RETURN NULL;
        END CASE;
    ELSE
        SELECT u.* INTO fact FROM memory_unit u WHERE u.id = NEW.unit;
    END IF;
    broken := CASE
        WHEN length(fact.text) > 500 THEN 'fact_too_long'
        WHEN fact.text ~ '[\n\r]' THEN 'fact_not_one_paragraph'
        WHEN kept AND NOT EXISTS (
            SELECT FROM audience a WHERE a.id = fact.audience_id AND (
                a.kind <> 'organization'
                OR fact.source_kind = 'person' AND EXISTS (
                    SELECT FROM person p
                    WHERE p.id = fact.source_person AND p.role = 'owner' AND p.organization = a.organization)
                OR fact.source_kind <> 'person' AND EXISTS (
                    SELECT FROM place p
                    WHERE p.id = fact.source_place AND p.kind = 'public' AND p.organization = a.organization)))
        THEN 'workspace_source_not_public'
    END;
    IF broken IS NOT NULL THEN
        RAISE check_violation USING MESSAGE = 'a fact breaks a rule', CONSTRAINT = broken;
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER stated_memory_checked AFTER INSERT ON stated_memory FOR EACH ROW
    WHEN (NEW.surface = 'facts') EXECUTE FUNCTION check_fact();
CREATE TRIGGER memory_unit_checked AFTER UPDATE OF text ON memory_unit FOR EACH ROW
    WHEN (NEW.document IS NULL AND OLD.text <> NEW.text) EXECUTE FUNCTION check_fact();

-- A memory with all that people are told of it, whatever it is; `circle` and what follows name its audience.
CREATE VIEW remembered AS
SELECT u.id, u.bank, b.bank_id, u.audience_id, u.document, u.document_number, u.position, u.fact_type, u.text, u.status,
       u.mentioned_at, u.pinned_at, u.kept_by_kind, u.kept_by, u.source_kind, u.source_ref, u.source_place,
       u.source_person, u.source_at, 'text' = ANY(u.corrected) AS corrected, u.created_at, u.updated_at,
       CASE WHEN s.surface = 'kv' THEN 'kv' WHEN s.unit IS NOT NULL THEN 'stated'
            WHEN u.fact_type = 'observation' THEN 'observation' ELSE 'extracted' END AS memory_kind,
       a.kind AS circle, a.organization, a.agent AS circle_agent, a.person, a.place, s.surface, s.agent, s.terms, s.system,
       s.type, s.segment, s.thought, s.metadata, d.id AS document_id
FROM memory_unit u
JOIN audience a ON a.id = u.audience_id
JOIN bank b ON b.id = u.bank
LEFT JOIN stated_memory s ON s.unit = u.id
LEFT JOIN document d ON d.number = u.document AND d.audience_id = u.audience_id;
