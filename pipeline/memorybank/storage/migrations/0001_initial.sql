-- The first schema. PostgreSQL >= 16 with the extension `vector` >= 0.8, which the migrator creates before this runs.

-- The outer wall: recall, reflect, consolidation, entities and statistics never leave a bank.
CREATE TABLE bank (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    bank_id    text NOT NULL UNIQUE,
    name       text NOT NULL,
    config     jsonb NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL
);

-- Who may see a row. A request is resolved once to the ids it may see; every read carries them.
CREATE TABLE audience (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    bank         bigint NOT NULL REFERENCES bank ON DELETE CASCADE,
    kind         text NOT NULL CHECK (kind IN ('bank', 'agent', 'subject', 'organization', 'place', 'dm')),
    organization uuid,
    agent        uuid,
    person       uuid,
    place        uuid,
    UNIQUE NULLS NOT DISTINCT (bank, kind, organization, agent, person, place),
    UNIQUE (bank, id)
);

-- One process that runs operations; its heartbeat session holds the advisory lock `lock_key`.
CREATE TABLE worker (
    id         uuid PRIMARY KEY,
    lock_key   bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    host       text NOT NULL,
    pid        integer NOT NULL,
    started_at timestamptz NOT NULL DEFAULT now(),
    beat_at    timestamptz NOT NULL DEFAULT now()
);

-- Background work: this row is the truth, a broker only a doorbell. A parent has no payload and is never claimed.
CREATE TABLE operation (
    id               uuid PRIMARY KEY,
    bank             bigint NOT NULL REFERENCES bank ON DELETE CASCADE,
    audience_id      bigint NOT NULL,
    kind             text NOT NULL,
    parent           uuid REFERENCES operation ON DELETE CASCADE,
    is_parent        boolean NOT NULL DEFAULT false,
    status           text NOT NULL DEFAULT 'pending'
                     CHECK (status IN ('pending', 'processing', 'completed', 'failed', 'cancelled')),
    priority         smallint NOT NULL DEFAULT 0,
    serial_keys      text[] NOT NULL DEFAULT '{}',
    items_count      integer NOT NULL DEFAULT 0,
    payload          jsonb,
    progress         jsonb,
    result           jsonb NOT NULL DEFAULT '{}',
    error_message    text,
    attempts         integer NOT NULL DEFAULT 0,
    cancel_requested boolean NOT NULL DEFAULT false,
    lease_token      uuid,
    lease_expires_at timestamptz,
    worker           uuid,
    due_at           timestamptz NOT NULL DEFAULT now(),
    rung_at          timestamptz,
    created_at       timestamptz NOT NULL,
    updated_at       timestamptz NOT NULL,
    completed_at     timestamptz,
    FOREIGN KEY (bank, audience_id) REFERENCES audience (bank, id),
    CHECK ((status = 'processing') = (lease_token IS NOT NULL))
);
CREATE INDEX operation_due ON operation (priority DESC, due_at, id) WHERE status = 'pending' AND NOT is_parent;
CREATE INDEX operation_leased ON operation (lease_expires_at) WHERE status = 'processing';
-- Work that shares a serial key (a document) is done in the order of its ids, never side by side.
CREATE INDEX operation_serial ON operation USING gin (serial_keys) WITH (fastupdate = off)
    WHERE serial_keys <> '{}' AND status IN ('pending', 'processing');
CREATE INDEX operation_listing ON operation (bank, created_at DESC, id DESC);
CREATE INDEX operation_children ON operation (parent) WHERE parent IS NOT NULL;
-- Operations that still hold content: what is forgotten is taken out of them.
CREATE INDEX operation_content ON operation (bank) WHERE payload ? 'documents';

-- The bytes of a file until they are read as text: then they go, however that ended.
CREATE TABLE upload (
    operation   uuid PRIMARY KEY REFERENCES operation ON DELETE CASCADE,
    bank        bigint NOT NULL REFERENCES bank ON DELETE CASCADE,
    audience_id bigint NOT NULL,
    content     bytea NOT NULL,
    FOREIGN KEY (bank, audience_id) REFERENCES audience (bank, id)
);
-- Files are mostly packed already.
ALTER TABLE upload ALTER COLUMN content SET STORAGE EXTERNAL;
CREATE INDEX upload_bank ON upload (bank);

-- Numbers the addresses of units: a document takes one, and so does each unit without a document.
CREATE SEQUENCE document_number AS integer;

-- `submitted_at`: when the request that last wrote it arrived; an older replace that comes late is skipped.
CREATE TABLE document (
    number             integer PRIMARY KEY DEFAULT nextval('document_number'),
    bank               bigint NOT NULL REFERENCES bank ON DELETE CASCADE,
    id                 text NOT NULL,
    audience_id        bigint NOT NULL,
    original_text      text,
    text_length        integer NOT NULL,
    content_hash       text NOT NULL,
    retain_params      jsonb NOT NULL DEFAULT '{}',
    metadata           jsonb NOT NULL DEFAULT '{}',
    tags               text[] NOT NULL DEFAULT '{}',
    observation_scopes jsonb,
    submitted_at       timestamptz NOT NULL,
    created_at         timestamptz NOT NULL,
    updated_at         timestamptz NOT NULL,
    UNIQUE (bank, id),
    FOREIGN KEY (bank, audience_id) REFERENCES audience (bank, id)
);
CREATE INDEX document_listing ON document (bank, updated_at DESC);

-- A chunk knows all that its extraction needs; `operation` is who must extract it while it is pending.
-- A replaced one goes with the end of the operation that extracts the chunks in its place.
CREATE TABLE chunk (
    id                   uuid PRIMARY KEY,
    bank                 bigint NOT NULL REFERENCES bank ON DELETE CASCADE,
    document             integer NOT NULL REFERENCES document ON DELETE CASCADE,
    ordinal              integer NOT NULL,
    audience_id          bigint NOT NULL,
    text                 text,
    content_hash         bytea NOT NULL,
    context              text NOT NULL DEFAULT '',
    mentioned_at         timestamptz,
    mentioned_at_assumed boolean NOT NULL DEFAULT false,
    -- Minutes east of UTC of the zone in which the item's time was written; null where it is UTC.
    utc_offset           smallint,
    tags                 text[] NOT NULL DEFAULT '{}',
    metadata             jsonb NOT NULL DEFAULT '{}',
    observation_scopes   jsonb,
    entities             jsonb NOT NULL DEFAULT '[]',
    resolve_entities     boolean NOT NULL DEFAULT true,
    strategy             text,
    state                text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'extracted', 'failed', 'replaced')),
    error                text,
    operation            uuid REFERENCES operation ON DELETE SET NULL,
    created_at           timestamptz NOT NULL,
    UNIQUE (document, ordinal) DEFERRABLE INITIALLY IMMEDIATE,
    FOREIGN KEY (bank, audience_id) REFERENCES audience (bank, id)
);
CREATE INDEX chunk_bank ON chunk (bank);
CREATE INDEX chunk_operation ON chunk (operation) WHERE operation IS NOT NULL;

-- What happened to a document: one row for each operation, and for each act of a person. The counts of an operation grow
-- while it runs.
CREATE TABLE document_event (
    id            uuid PRIMARY KEY,
    bank          bigint NOT NULL REFERENCES bank ON DELETE CASCADE,
    document      integer NOT NULL REFERENCES document ON DELETE CASCADE,
    audience_id   bigint NOT NULL,
    kind          text NOT NULL CHECK (kind IN ('retain', 'append', 'reprocess', 'retag', 'fact_edited', 'fact_invalidated',
                                                'fact_restored', 'fact_deleted', 'observations_cleared', 'consolidation')),
    operation     uuid,
    fact          uuid,
    facts_added   integer NOT NULL DEFAULT 0,
    facts_removed integer NOT NULL DEFAULT 0,
    created_at    timestamptz NOT NULL,
    UNIQUE (document, operation),
    FOREIGN KEY (bank, audience_id) REFERENCES audience (bank, id)
);
CREATE INDEX document_event_listing ON document_event (document, created_at DESC, id DESC);
CREATE INDEX document_event_bank ON document_event (bank);

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
    corrected               boolean NOT NULL DEFAULT false,
    proof_count             integer NOT NULL DEFAULT 1,
    consolidated_at         timestamptz,
    consolidation_failed_at timestamptz,
    edited_at               timestamptz,
    created_at              timestamptz NOT NULL,
    updated_at              timestamptz NOT NULL,
    UNIQUE (document_number, position, bank, audience_id),
    FOREIGN KEY (bank, audience_id) REFERENCES audience (bank, id),
    CHECK (document IS NULL OR document = document_number),
    CHECK (occurred_end >= occurred_start)
);
CREATE INDEX memory_unit_listing ON memory_unit (bank, mentioned_at DESC NULLS LAST, created_at DESC, id DESC);
CREATE INDEX memory_unit_document ON memory_unit (document);
CREATE INDEX memory_unit_chunk ON memory_unit (chunk);
CREATE INDEX memory_unit_tags ON memory_unit USING gin (tags);
CREATE INDEX memory_unit_statement ON memory_unit (statement, about_key(bank, tags, metadata, observation_scopes))
    WHERE status = 'active';
CREATE INDEX memory_unit_unconsolidated ON memory_unit (bank, created_at)
    WHERE consolidated_at IS NULL AND consolidation_failed_at IS NULL AND fact_type <> 'observation' AND status = 'active';

-- A fact said again in another chunk: it counts for the fact, and is its home when the chunk where the fact lives goes.
-- `place` is the place the fact would have had in that chunk.
CREATE TABLE unit_mention (
    unit                 uuid NOT NULL REFERENCES memory_unit ON DELETE CASCADE,
    chunk                uuid NOT NULL REFERENCES chunk ON DELETE CASCADE,
    place                integer NOT NULL,
    bank                 bigint NOT NULL,
    audience_id          bigint NOT NULL,
    context              text NOT NULL DEFAULT '',
    mentioned_at         timestamptz,
    mentioned_at_assumed boolean NOT NULL DEFAULT false,
    PRIMARY KEY (unit, chunk),
    FOREIGN KEY (bank, audience_id) REFERENCES audience (bank, id)
);
CREATE INDEX unit_mention_chunk ON unit_mention (chunk);

CREATE FUNCTION count_mention() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE memory_unit SET proof_count = proof_count + CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END
    WHERE id = coalesce(NEW.unit, OLD.unit);
    RETURN NULL;
END
$$;
CREATE TRIGGER unit_mention_counts AFTER INSERT OR DELETE ON unit_mention FOR EACH ROW EXECUTE FUNCTION count_mention();

-- Facts that live in these chunks and are said in others too move to the oldest of those, and leave a mention behind.
-- Chunks whose document is gone already go too.
CREATE FUNCTION rehome(leaving uuid[]) RETURNS void LANGUAGE sql AS $$
    WITH heir AS (
        SELECT DISTINCT ON (u.id) u.id AS unit, m.chunk, c.document, c.ordinal * 1024 + m.place AS position,
               m.context, m.mentioned_at, m.mentioned_at_assumed, u.chunk AS old_chunk, u.position % 1024 AS old_place,
               u.context AS old_context, u.mentioned_at AS old_mentioned_at, u.mentioned_at_assumed AS old_assumed
        FROM memory_unit u JOIN unit_mention m ON m.unit = u.id JOIN chunk c ON c.id = m.chunk
             JOIN document d ON d.number = c.document
        WHERE u.chunk = ANY(leaving) AND m.chunk <> ALL(leaving)
        ORDER BY u.id, m.mentioned_at, c.document, c.ordinal, m.place
    ), left_behind AS (
        UPDATE unit_mention m
        SET chunk = old_chunk, place = old_place, context = old_context, mentioned_at = old_mentioned_at,
            mentioned_at_assumed = old_assumed
        FROM heir WHERE m.unit = heir.unit AND m.chunk = heir.chunk
    )
    UPDATE memory_unit u
    SET document = heir.document, document_number = heir.document, position = heir.position, chunk = heir.chunk,
        context = heir.context, mentioned_at = heir.mentioned_at, mentioned_at_assumed = heir.mentioned_at_assumed
    FROM heir WHERE u.id = heir.unit
$$;

-- Whoever deletes chunks: no fact goes that is said elsewhere too, and what only they named goes with them. A document
-- first, for its facts would go before its chunks do.
CREATE FUNCTION keep_mentioned() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_TABLE_NAME = 'chunk' THEN
        PERFORM rehome(ARRAY[OLD.id]);
        DELETE FROM unit_entity ue USING unit_mention m
        WHERE m.chunk = OLD.id AND ue.unit = m.unit AND ue.chunk = m.chunk;
    ELSE
        PERFORM rehome(array(SELECT id FROM chunk WHERE document = OLD.number));
    END IF;
    RETURN OLD;
END
$$;
CREATE TRIGGER chunk_keeps_mentioned BEFORE DELETE ON chunk FOR EACH ROW EXECUTE FUNCTION keep_mentioned();
CREATE TRIGGER document_keeps_mentioned BEFORE DELETE ON document FOR EACH ROW EXECUTE FUNCTION keep_mentioned();

-- The facts of a document, those it only repeats among them. It reads no fact: whoever may see the document may know
-- what it says.
CREATE FUNCTION said_in(asked integer) RETURNS SETOF uuid
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT u.id FROM memory_unit u WHERE u.document = asked
    UNION
    SELECT m.unit FROM chunk c JOIN unit_mention m ON m.chunk = c.id WHERE c.document = asked;
END;

CREATE TABLE embedding_model (
    id         integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name       text NOT NULL UNIQUE,
    dimensions integer NOT NULL CHECK (dimensions > 0)
);

-- Search tables hold active units only. Same address, bank and audience as the unit, by foreign key. `speaker` (0: nobody)
-- and `traits` are what a text shows by its form, and the type of the fact, so that recall can weigh them for a whole bank.
-- `vector` has no fixed dimension, so that a new model can be built beside the old one.
CREATE TABLE embedding (
    bank        bigint NOT NULL,
    document    integer NOT NULL,
    position    integer NOT NULL,
    audience_id bigint NOT NULL,
    model       integer NOT NULL REFERENCES embedding_model,
    speaker     integer NOT NULL DEFAULT 0,
    traits      integer NOT NULL DEFAULT 0,
    text_hash   bytea NOT NULL,
    vector      halfvec NOT NULL,
    PRIMARY KEY (bank, document, position, model),
    FOREIGN KEY (bank, document, position, audience_id)
        REFERENCES memory_unit (bank, document_number, position, audience_id) ON UPDATE CASCADE ON DELETE CASCADE
) PARTITION BY HASH (bank);
-- Exact search reads every vector of a viewer: a TOASTed one would cost four times as much.
ALTER TABLE embedding ALTER COLUMN vector SET STORAGE PLAIN;
CREATE INDEX embedding_audience ON embedding (bank, model, audience_id);
-- Who speaks in a bank.
CREATE INDEX embedding_speaker ON embedding (bank, speaker, audience_id) WHERE speaker <> 0;
-- The same text is not embedded twice in a bank.
CREATE INDEX embedding_text ON embedding (bank, model, text_hash);

CREATE TABLE posting (
    bank        bigint NOT NULL,
    term        bigint NOT NULL,
    document    integer NOT NULL,
    position    integer NOT NULL,
    audience_id bigint NOT NULL,
    tf          integer NOT NULL CHECK (tf > 0),
    length      integer NOT NULL CHECK (length > 0),
    PRIMARY KEY (bank, term, document, position) INCLUDE (audience_id, tf, length),
    FOREIGN KEY (bank, document, position, audience_id)
        REFERENCES memory_unit (bank, document_number, position, audience_id) ON UPDATE CASCADE ON DELETE CASCADE
) PARTITION BY HASH (bank);
CREATE INDEX posting_address ON posting (bank, document, position);

DO $$
BEGIN
    FOR remainder IN 0..15 LOOP
        EXECUTE format('CREATE TABLE embedding_%s PARTITION OF embedding FOR VALUES WITH (MODULUS 16, REMAINDER %s)',
                       remainder, remainder);
        EXECUTE format('CREATE TABLE posting_%s PARTITION OF posting FOR VALUES WITH (MODULUS 16, REMAINDER %s)',
                       remainder, remainder);
    END LOOP;
END
$$;

-- What names mean. A label (`key:value`) and a name of the same letters are two entities; so are two things of one name
-- (a bot and a planet), of which the second has a sense. Counts are never stored: they would tell one viewer of what
-- another keeps, and they deadlock.
CREATE TABLE entity (
    id         uuid PRIMARY KEY,
    bank       bigint NOT NULL REFERENCES bank ON DELETE CASCADE,
    key        text NOT NULL,
    sense      text NOT NULL DEFAULT '',
    is_label   boolean NOT NULL DEFAULT false,
    name       text NOT NULL,
    metadata   jsonb NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL,
    UNIQUE (bank, key, sense, is_label)
);

-- What a key means in an audience: an entity's own name, what a text called it, what is as good as its name, a part of a
-- person's name. What people merged has the entity it went into (`merged_into`, at its own name) and the last one of all
-- that it counts as (`root`, at each name).
CREATE TABLE entity_name (
    bank        bigint NOT NULL REFERENCES bank ON DELETE CASCADE,
    audience_id bigint NOT NULL,
    key         text NOT NULL,
    entity      uuid NOT NULL REFERENCES entity ON DELETE CASCADE,
    rule        text NOT NULL CHECK (rule IN ('own', 'alias', 'same', 'part')),
    name        text NOT NULL,
    kind        text NOT NULL DEFAULT '',
    merged_into uuid,
    root        uuid REFERENCES entity ON DELETE CASCADE,
    PRIMARY KEY (bank, audience_id, key, entity),
    FOREIGN KEY (bank, audience_id) REFERENCES audience (bank, id)
);
CREATE INDEX entity_name_entity ON entity_name (entity);
CREATE INDEX entity_name_root ON entity_name (root) WHERE root IS NOT NULL;

-- `keys` and `via`, side by side: by which keys the unit names the entity, and which entity each of them means by itself.
-- None: by its own key, itself. `chunk` is the one that names it: a row goes when that no longer says the unit.
CREATE TABLE unit_entity (
    unit   uuid NOT NULL REFERENCES memory_unit ON DELETE CASCADE,
    entity uuid NOT NULL REFERENCES entity ON DELETE CASCADE,
    bank   bigint NOT NULL,
    chunk  uuid,
    keys   text[],
    via    uuid[],
    UNIQUE NULLS NOT DISTINCT (unit, entity, chunk),
    CHECK (cardinality(keys) = cardinality(via))
);
CREATE INDEX unit_entity_entity ON unit_entity (entity, unit);
CREATE INDEX unit_entity_bank ON unit_entity (bank);

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

-- Every attempt to call a model, failed ones too. No content: error texts quote none.
CREATE TABLE llm_call (
    id            uuid PRIMARY KEY,
    bank          bigint REFERENCES bank ON DELETE CASCADE,
    audience_id   bigint,
    operation     uuid REFERENCES operation ON DELETE CASCADE,
    stage         text NOT NULL,
    model         text NOT NULL,
    attempt       integer NOT NULL,
    status        text NOT NULL CHECK (status IN ('ok', 'error')),
    error         text,
    input_tokens  integer NOT NULL DEFAULT 0,
    output_tokens integer NOT NULL DEFAULT 0,
    cached_tokens integer NOT NULL DEFAULT 0,
    thoughts_tokens integer NOT NULL DEFAULT 0,
    cost          double precision NOT NULL DEFAULT 0,
    duration_ms   double precision NOT NULL,
    created_at    timestamptz NOT NULL
);
CREATE INDEX llm_call_operation ON llm_call (operation);
CREATE INDEX llm_call_bank ON llm_call (bank, created_at DESC);

-- The one rule for tag filters. `any` and `all` let untagged rows in; the strict ones do not; an empty filter lets all
-- in, but for `exact`, where it asks for untagged rows.
CREATE FUNCTION tags_match(held text[], asked text[], mode text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN mode = 'exact' THEN held @> coalesce(asked, '{}') AND held <@ coalesce(asked, '{}')
    WHEN coalesce(cardinality(asked), 0) = 0 THEN true
    WHEN mode = 'any' THEN held && asked OR held = '{}'
    WHEN mode = 'all' THEN held @> asked OR held = '{}'
    WHEN mode = 'any_strict' THEN held && asked
    WHEN mode = 'all_strict' THEN held @> asked
END;

-- Where a fact stands with consolidation; observations are its result and always done.
CREATE FUNCTION consolidation_state(unit memory_unit) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN unit.consolidation_failed_at IS NOT NULL THEN 'failed'
    WHEN unit.consolidated_at IS NOT NULL OR unit.fact_type = 'observation' THEN 'done'
    ELSE 'pending'
END;

-- The names of a unit's entities. It reads no unit: whoever may see the unit may see what it names.
CREATE FUNCTION entity_names(asked uuid) RETURNS text[]
LANGUAGE sql STABLE PARALLEL SAFE
RETURN (SELECT coalesce(array_agg(e.name ORDER BY e.name), '{}')
        FROM (SELECT DISTINCT ue.entity FROM unit_entity ue WHERE ue.unit = asked) AS said JOIN entity e ON e.id = said.entity);
