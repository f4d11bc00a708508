-- What was retained: documents, the chunks they are read in, and what happened to them.

-- Numbers the addresses of units: a document takes one, and so does each unit without a document.
CREATE SEQUENCE document_number AS integer;

-- `submitted_at`: when the request that last wrote it arrived; an older replace that comes late is skipped. An id is one
-- circle's: whoever writes may not learn what ids another one has. `is_placed`: that is not the circle of the whole bank.
CREATE TABLE document (
    number             integer PRIMARY KEY DEFAULT nextval('document_number'),
    bank               bigint NOT NULL REFERENCES bank ON DELETE CASCADE,
    id                 text NOT NULL,
    audience_id        bigint NOT NULL,
    is_placed          boolean NOT NULL DEFAULT false,
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
    UNIQUE (bank, id, audience_id),
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
