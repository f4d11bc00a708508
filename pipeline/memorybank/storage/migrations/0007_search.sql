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

-- How many units the index of a bank holds for each audience, and their length in terms: rows to be added up. A writer adds
-- one, and takes in those of others that nobody holds; so nobody waits, and a reader counts exactly what its snapshot holds.
-- Every change of the index leaves a row of its own, or one that has taken it in: two snapshots that hold the same rows
-- hold the same index. Its version is all ids in one, by XOR: random ones, which no restored backup gives a second time.
CREATE TABLE bank_size (
    bank        bigint NOT NULL REFERENCES bank ON DELETE CASCADE,
    audience_id bigint NOT NULL,
    id          bigint NOT NULL DEFAULT uuid_hash_extended(gen_random_uuid(), 0),
    units       bigint NOT NULL,
    length      bigint NOT NULL,
    PRIMARY KEY (bank, audience_id, id)
);

-- Every unit has one posting of the term 0, which is counted here, by 1 or -1. Rows are taken in by those who add units only:
-- a document goes with a statement a unit, and each would read the rows that those before it have left.
CREATE FUNCTION count_units() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    sign CONSTANT integer := TG_ARGV[0];
BEGIN
    WITH counted AS (
        SELECT bank, audience_id, sign * count(*) AS units, sign * sum(c.length) AS length
        FROM changed c WHERE c.term = 0 GROUP BY bank, audience_id
    ), taken AS (
        DELETE FROM bank_size s
        WHERE (s.bank, s.audience_id, s.id) IN (
            SELECT o.bank, o.audience_id, o.id FROM bank_size o
            WHERE sign > 0 AND (o.bank, o.audience_id) IN (SELECT bank, audience_id FROM counted)
            LIMIT 2000 FOR UPDATE SKIP LOCKED)
        RETURNING s.bank, s.audience_id, s.units, s.length
    )
    INSERT INTO bank_size (bank, audience_id, units, length)
    SELECT bank, audience_id, sum(units), sum(length)
    FROM (SELECT * FROM counted UNION ALL SELECT * FROM taken) AS added
    GROUP BY bank, audience_id;
    RETURN NULL;
END
$$;
CREATE TRIGGER posting_added AFTER INSERT ON posting REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_units('1');
CREATE TRIGGER posting_gone AFTER DELETE ON posting REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_units('-1');
-- A unit that is moved to another audience takes its postings along.
CREATE TRIGGER posting_left AFTER UPDATE ON posting REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_units('-1');
CREATE TRIGGER posting_came AFTER UPDATE ON posting REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_units('1');

-- A change of vectors, which counts nothing.
CREATE FUNCTION mark_vectors() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO bank_size (bank, audience_id, units, length) SELECT DISTINCT bank, audience_id, 0, 0 FROM changed;
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
