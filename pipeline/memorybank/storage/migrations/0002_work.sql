-- Work in the background: who does it, what is to do, the files it is to read, and what it has to tell.

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
    -- Nobody has begun to work on it.
    fresh            boolean NOT NULL DEFAULT true,
    cancel_requested boolean NOT NULL DEFAULT false,
    lease_token      uuid,
    lease_expires_at timestamptz,
    worker           uuid,
    due_at           timestamptz NOT NULL DEFAULT now(),
    rung_at          timestamptz,
    created_at       timestamptz NOT NULL,
    updated_at       timestamptz NOT NULL,
    completed_at     timestamptz,
    FOREIGN KEY (bank, audience_id) REFERENCES audience (bank, id) ON DELETE CASCADE,
    CHECK ((status = 'processing') = (lease_token IS NOT NULL))
);
CREATE INDEX operation_due ON operation (priority DESC, due_at, id) WHERE status = 'pending' AND NOT is_parent;
CREATE INDEX operation_leased ON operation (lease_expires_at) WHERE status = 'processing';
-- Work that shares a serial key (a document) is done in the order of its ids, never side by side.
CREATE INDEX operation_serial ON operation USING gin (serial_keys) WITH (fastupdate = off)
    WHERE serial_keys <> '{}' AND status IN ('pending', 'processing');
CREATE INDEX operation_listing ON operation (bank, created_at DESC, id DESC);
CREATE INDEX operation_children ON operation (parent) WHERE parent IS NOT NULL;
-- Triggers coalesce: in a bank one run of consolidation over everything waits. One that has begun is no such: it may have
-- passed what is new.
CREATE UNIQUE INDEX operation_waiting_run ON operation (bank)
    WHERE kind = 'consolidation' AND status = 'pending' AND fresh AND NOT payload ? 'scopes';
-- How the last runs of a bank ended.
CREATE INDEX operation_runs ON operation (bank, completed_at) WHERE kind = 'consolidation';
-- Operations that still hold content: what is forgotten is taken out of them.
CREATE INDEX operation_content ON operation (bank) WHERE payload ? 'documents';

-- The bytes of a file until they are read as text: then they go, however that ended.
CREATE TABLE upload (
    operation   uuid PRIMARY KEY REFERENCES operation ON DELETE CASCADE,
    bank        bigint NOT NULL REFERENCES bank ON DELETE CASCADE,
    audience_id bigint NOT NULL,
    content     bytea NOT NULL,
    FOREIGN KEY (bank, audience_id) REFERENCES audience (bank, id) ON DELETE CASCADE
);
-- Files are mostly packed already.
ALTER TABLE upload ALTER COLUMN content SET STORAGE EXTERNAL;
CREATE INDEX upload_bank ON upload (bank);

-- The outbox: what happened, written in the transaction in which it did.
CREATE TABLE event (
    id         uuid PRIMARY KEY,
    bank       bigint NOT NULL REFERENCES bank ON DELETE CASCADE,
    type       text NOT NULL,
    payload    jsonb NOT NULL,
    created_at timestamptz NOT NULL
);
CREATE INDEX event_bank ON event (bank, created_at);
