-- What is remembered: facts and observations, and the links between them.

-- What a fact takes from its bank and item, as one number: facts are equal only where this is. Sets of tags are stored in
-- one order. The bank is hashed, not a column of the index: where it has no statistics, the planner takes any index with it.
CREATE FUNCTION about_key(bank bigint, tags text[], metadata jsonb, scopes jsonb) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hash_array_extended(tags, jsonb_hash_extended(metadata, jsonb_hash_extended(coalesce(scopes, 'null'), bank)));

-- Everything remembered. Its search address is (document_number, position), unique in the installation.
-- `statement` is the hash of what a fact says, of which time and place: by it a fact that is said again is known.
CREATE TABLE memory_unit (
    id                      uuid PRIMARY KEY,
    bank                    bigint NOT NULL REFERENCES bank ON DELETE CASCADE,
    audience_id             bigint NOT NULL,
    document                integer REFERENCES document ON DELETE CASCADE,
    chunk                   uuid REFERENCES chunk ON DELETE CASCADE,
    document_number         integer NOT NULL,
    position                integer NOT NULL,
    fact_type               text NOT NULL CHECK (fact_type IN ('world', 'experience', 'observation')),
    text                    text NOT NULL CHECK (length(text) > 0),
    statement               bytea,
    context                 text NOT NULL DEFAULT '',
    place_name              text,
    occurred_start          timestamptz,
    occurred_end            timestamptz,
    mentioned_at            timestamptz,
    mentioned_at_assumed    boolean NOT NULL DEFAULT false,
    tags                    text[] NOT NULL DEFAULT '{}',
    metadata                jsonb NOT NULL DEFAULT '{}',
    observation_scopes      jsonb,
    status                  text NOT NULL DEFAULT 'active'
                            CHECK (status IN ('active', 'superseded', 'archived', 'invalidated')),
    status_reason           text,
    status_at               timestamptz,
    pinned_at               timestamptz,
    kept_by_kind            text NOT NULL DEFAULT 'extraction'
                            CHECK (kept_by_kind IN ('extraction', 'consolidation', 'agent', 'person')),
    kept_by                 uuid,
    source_kind             text,
    source_ref              text,
    source_place            uuid,
    -- The fields that people have set; they stay when the fact moves to another document, or its text is read again.
    corrected               text[] NOT NULL DEFAULT '{}',
    -- What was read, where people have changed it: by this it is known when the same text is read again.
    read_text               text,
    read_statement          bytea,
    proof_count             integer NOT NULL DEFAULT 1,
    consolidated_at         timestamptz,
    consolidation_failed_at timestamptz,
    -- How often that has changed which consolidation reads of a fact: what was decided on an older state is not written.
    revision                integer NOT NULL DEFAULT 0,
    edited_at               timestamptz,
    created_at              timestamptz NOT NULL,
    updated_at              timestamptz NOT NULL,
    UNIQUE (document_number, position, bank, audience_id),
    FOREIGN KEY (bank, audience_id) REFERENCES audience (bank, id),
    CHECK (document IS NULL OR document = document_number),
    -- An address alone tells what is an observation.
    CHECK ((fact_type = 'observation') = (position = 2147483647)),
    CHECK (occurred_end >= occurred_start)
);
CREATE INDEX memory_unit_listing ON memory_unit (bank, mentioned_at DESC NULLS LAST, created_at DESC, id DESC);
-- What happened when: a start alone, or an end alone, is both.
CREATE INDEX memory_unit_occurred ON memory_unit
    (bank, coalesce(occurred_start, occurred_end), coalesce(occurred_end, occurred_start))
    WHERE status = 'active' AND coalesce(occurred_start, occurred_end) IS NOT NULL;
CREATE INDEX memory_unit_document ON memory_unit (document);
CREATE INDEX memory_unit_chunk ON memory_unit (chunk);
CREATE INDEX memory_unit_tags ON memory_unit USING gin (tags);
CREATE INDEX memory_unit_statement ON memory_unit (statement, about_key(bank, tags, metadata, observation_scopes))
    WHERE status = 'active';
CREATE INDEX memory_unit_unconsolidated ON memory_unit (bank, created_at)
    WHERE consolidated_at IS NULL AND consolidation_failed_at IS NULL AND fact_type <> 'observation' AND status = 'active';
-- The observations of a scope, which is their tags: there candidates are looked for.
CREATE INDEX memory_unit_observations ON memory_unit (bank, audience_id, tags)
    WHERE fact_type = 'observation' AND status = 'active';

-- Where a fact stands with consolidation; observations are its result and always done.
CREATE FUNCTION consolidation_state(unit memory_unit) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN unit.consolidation_failed_at IS NOT NULL THEN 'failed'
    WHEN unit.consolidated_at IS NOT NULL OR unit.fact_type = 'observation' THEN 'done'
    ELSE 'pending'
END;

-- Whether people have had a hand in a fact: it is not taken for unsaid or new when its text is read again.
CREATE FUNCTION is_curated(unit memory_unit) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN unit.corrected <> '{}' OR unit.status <> 'active';

CREATE TABLE unit_link (
    source uuid NOT NULL REFERENCES memory_unit ON DELETE CASCADE,
    target uuid NOT NULL REFERENCES memory_unit ON DELETE CASCADE,
    kind   text NOT NULL CHECK (kind IN ('semantic', 'caused_by')),
    weight real NOT NULL CHECK (weight > 0),
    bank   bigint NOT NULL,
    PRIMARY KEY (source, target, kind)
);
CREATE INDEX unit_link_target ON unit_link (target);
CREATE INDEX unit_link_bank ON unit_link (bank);
