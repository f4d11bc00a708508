-- name: uncheck
-- Row by row these keys are most of the work of loading; `check` proves them with one join a table.
ALTER TABLE posting DROP CONSTRAINT IF EXISTS posting_bank_document_position_audience_id_fkey;
ALTER TABLE embedding DROP CONSTRAINT IF EXISTS embedding_bank_document_position_audience_id_fkey;
ALTER TABLE unit_entity DROP CONSTRAINT IF EXISTS unit_entity_unit_fkey, DROP CONSTRAINT IF EXISTS unit_entity_entity_fkey;

-- name: checked
-- Whether an earlier load has come to its end.
SELECT count(*) > 0 AS checked FROM pg_constraint WHERE conname = 'unit_entity_entity_fkey';

-- name: check
-- The keys as the migrations have them.
ALTER TABLE posting ADD CONSTRAINT posting_bank_document_position_audience_id_fkey
    FOREIGN KEY (bank, document, position, audience_id)
    REFERENCES memory_unit (bank, document_number, position, audience_id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE embedding ADD CONSTRAINT embedding_bank_document_position_audience_id_fkey
    FOREIGN KEY (bank, document, position, audience_id)
    REFERENCES memory_unit (bank, document_number, position, audience_id) ON UPDATE CASCADE ON DELETE CASCADE;
ALTER TABLE unit_entity
    ADD CONSTRAINT unit_entity_unit_fkey FOREIGN KEY (unit) REFERENCES memory_unit ON DELETE CASCADE,
    ADD CONSTRAINT unit_entity_entity_fkey FOREIGN KEY (entity) REFERENCES entity ON DELETE CASCADE;

-- name: unsynced
-- A load that a crash cuts off goes on where the last written page ends; no page has to wait for the disk.
SET synchronous_commit = off;

-- name: loaded
-- Pages of a bank that an earlier load has written; a document is called PAGE-PLACE.
SELECT DISTINCT split_part(id, '-', 1) AS page FROM document WHERE bank = %(bank)s;

-- name: chunks
-- Chunks whose facts are known.
COPY chunk (id, bank, document, ordinal, audience_id, text, content_hash, mentioned_at, state, created_at) FROM STDIN;

-- name: sizes
-- Bytes of each table with what is TOASTed, and of its indexes; partitions count for their table.
SELECT coalesce(parent.relname, own.relname) AS name, sum(pg_table_size(own.oid))::bigint AS data_bytes,
       sum(pg_indexes_size(own.oid))::bigint AS index_bytes
FROM pg_class own
LEFT JOIN pg_inherits i ON i.inhrelid = own.oid
LEFT JOIN pg_class parent ON parent.oid = i.inhparent
WHERE own.relkind = 'r' AND own.relnamespace = 'public'::regnamespace
GROUP BY 1 ORDER BY 2 DESC;

-- name: audiences
-- Two more audiences of a bank.
INSERT INTO audience (bank, kind, place)
VALUES (%(bank)s, 'place', gen_random_uuid()), (%(bank)s, 'place', gen_random_uuid()) RETURNING id;

-- name: documents
-- Documents without text for these audiences, with a chunk each, in their order.
WITH made AS (
    INSERT INTO document (bank, id, audience_id, text_length, content_hash, submitted_at, created_at, updated_at)
    SELECT %(bank)s, gen_random_uuid()::text, audience, 0, '', now(), now(), now()
    FROM unnest(%(audiences)s::bigint[]) WITH ORDINALITY AS a (audience, place) ORDER BY place
    RETURNING number, audience_id
)
INSERT INTO chunk (id, bank, document, ordinal, audience_id, content_hash, state, created_at)
SELECT gen_random_uuid(), %(bank)s, number, 0, audience_id, '', 'extracted', now() FROM made ORDER BY number
RETURNING document AS number, id AS chunk;
