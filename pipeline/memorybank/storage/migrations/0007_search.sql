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

-- How many units the index of a bank holds, and their length in terms: rows to be added up. A writer adds one, and takes in
-- those of others that nobody holds; so nobody waits, and a reader counts exactly what its snapshot holds. Every change of
-- the index leaves a row of its own, or one that has taken it in: two snapshots that hold the same rows hold the same
-- index. Its version is all ids in one, by XOR: random ones, which no restored backup gives a second time.
CREATE TABLE bank_size (
    bank   bigint NOT NULL REFERENCES bank ON DELETE CASCADE,
    id     bigint NOT NULL DEFAULT uuid_hash_extended(gen_random_uuid(), 0),
    units  bigint NOT NULL,
    length bigint NOT NULL,
    PRIMARY KEY (bank, id)
);

-- Every unit has one posting of the term 0, which is counted here. Rows are taken in by those who add units only: a
-- document goes with a statement a unit, and each would read the rows that those before it have left.
CREATE FUNCTION count_units() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    WITH counted AS (
        SELECT bank, count(*) AS units, sum(c.length) AS length FROM changed c WHERE c.term = 0 GROUP BY bank
    ), taken AS (
        DELETE FROM bank_size s
        WHERE (s.bank, s.id) IN (SELECT o.bank, o.id FROM bank_size o
                                 WHERE TG_OP = 'INSERT' AND o.bank IN (SELECT bank FROM counted)
                                 LIMIT 2000 FOR UPDATE SKIP LOCKED)
        RETURNING s.bank, s.units, s.length
    )
    INSERT INTO bank_size (bank, units, length)
    SELECT bank, sum(units), sum(length)
    FROM (SELECT bank, CASE TG_OP WHEN 'INSERT' THEN units ELSE -units END AS units,
                 CASE TG_OP WHEN 'INSERT' THEN length ELSE -length END AS length FROM counted
          UNION ALL
          SELECT * FROM taken) AS added
    GROUP BY bank;
    RETURN NULL;
END
$$;
CREATE TRIGGER posting_added AFTER INSERT ON posting REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_units();
CREATE TRIGGER posting_gone AFTER DELETE ON posting REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_units();

-- A change of vectors, which counts nothing.
CREATE FUNCTION mark_vectors() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO bank_size (bank, units, length) SELECT DISTINCT bank, 0, 0 FROM changed;
    RETURN NULL;
END
$$;
CREATE TRIGGER embedding_added AFTER INSERT ON embedding REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION mark_vectors();
CREATE TRIGGER embedding_changed AFTER UPDATE ON embedding REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION mark_vectors();
CREATE TRIGGER embedding_gone AFTER DELETE ON embedding REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION mark_vectors();

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
