-- Facts that are said in several chunks: each lives in one, and moves on when that goes.

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
        context = CASE WHEN 'context' = ANY(u.corrected) THEN u.context ELSE heir.context END,
        mentioned_at = CASE WHEN 'mentioned_at' = ANY(u.corrected) THEN u.mentioned_at ELSE heir.mentioned_at END,
        mentioned_at_assumed = heir.mentioned_at_assumed AND 'mentioned_at' <> ALL(u.corrected)
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
