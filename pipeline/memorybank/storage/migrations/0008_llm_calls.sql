-- The ledger of costs: every attempt to call a model, failed ones too. No content: error texts quote none.

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
