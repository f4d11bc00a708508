-- What recall reads to find units: vectors and words.

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
