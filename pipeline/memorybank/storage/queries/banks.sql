-- name: get
-- One bank by the caller's id.
SELECT id, bank_id, name, config, created_at, updated_at, indexed_model FROM bank WHERE bank_id = %(bank_id)s

-- name: by_number
-- One bank by our number.
SELECT id, bank_id, name, config, created_at, updated_at, indexed_model FROM bank WHERE id = %(bank)s

-- name: lock
-- One bank, held for a change of its settings; whoever adds rows to the bank is not kept waiting.
SELECT id, bank_id, name, config, created_at, updated_at, indexed_model FROM bank WHERE bank_id = %(bank_id)s FOR NO KEY UPDATE

-- name: add
-- A bank and the audience of all who may use it, at first use; two requests may do so at once.
WITH made AS (
    INSERT INTO bank (bank_id, name, created_at, updated_at)
    VALUES (%(bank_id)s, %(bank_id)s, %(now)s, %(now)s)
    ON CONFLICT (bank_id) DO NOTHING
    RETURNING id
)
INSERT INTO audience (bank, kind) SELECT id, 'bank' FROM made

-- name: set_name
-- A bank's display name.
UPDATE bank SET name = %(name)s, updated_at = %(now)s WHERE id = %(bank)s
RETURNING id, bank_id, name, config, created_at, updated_at, indexed_model

-- name: set_config
-- A bank's own settings, whole.
UPDATE bank SET config = %(config)s, updated_at = %(now)s WHERE id = %(bank)s
RETURNING id, bank_id, name, config, created_at, updated_at, indexed_model

-- name: default_audience
-- The audience of whoever may use the bank.
SELECT id FROM audience WHERE bank = %(bank)s AND kind = 'bank'

-- name: page
-- Banks, the one written to last first; only a page of them is counted.
WITH ordered AS (
    SELECT b.*, written.at AS last_write_at
    FROM bank b
    LEFT JOIN LATERAL (
        SELECT d.updated_at AS at FROM document d
        WHERE d.bank = b.id AND (%(sees_all)s OR d.audience_id = ANY(%(audiences)s::bigint[]))
        ORDER BY d.updated_at DESC LIMIT 1
    ) written ON true
    WHERE (%(known)s::text[] IS NULL OR b.bank_id = ANY(%(known)s))
      AND (%(q)s::text IS NULL OR strpos(lower(b.bank_id), lower(%(q)s)) > 0 OR strpos(lower(b.name), lower(%(q)s)) > 0)
    ORDER BY coalesce(written.at, b.created_at) DESC, b.id DESC
    LIMIT %(limit)s OFFSET %(offset)s
)
SELECT o.*,
       (SELECT count(*) FROM memory_unit u
        WHERE u.bank = o.id AND u.status = 'active'
          AND (%(sees_all)s OR u.audience_id = ANY(%(audiences)s::bigint[]))) AS fact_count,
       (SELECT max(d.created_at) FROM document d
        WHERE d.bank = o.id AND (%(sees_all)s OR d.audience_id = ANY(%(audiences)s::bigint[]))) AS last_document_at
FROM ordered o
ORDER BY coalesce(o.last_write_at, o.created_at) DESC, o.id DESC

-- name: count
-- How many banks match a search.
SELECT count(*) AS total FROM bank b
WHERE (%(known)s::text[] IS NULL OR b.bank_id = ANY(%(known)s))
  AND (%(q)s::text IS NULL OR strpos(lower(b.bank_id), lower(%(q)s)) > 0 OR strpos(lower(b.name), lower(%(q)s)) > 0)

-- name: close
-- Lets no new operation into a bank that goes; those that are there may still write, until they are locked.
SELECT id FROM bank WHERE id = %(bank)s FOR NO KEY UPDATE

-- name: lock_documents
-- audience: the whole bank goes, whoever may see its rows
-- Waits for documents that are being deleted or written, in the order in which everybody locks them.
SELECT number FROM document WHERE bank = %(bank)s ORDER BY number FOR UPDATE

-- name: held
-- audience: the whole bank goes, whoever may see its rows
-- What a bank holds.
SELECT (SELECT count(*) FROM memory_unit WHERE bank = %(bank)s) AS units,
       (SELECT count(*) FROM entity WHERE bank = %(bank)s) AS entities,
       (SELECT count(*) FROM document WHERE bank = %(bank)s) AS documents

-- name: delete_postings
-- audience: the whole bank goes, whoever may see its rows
-- Search rows at once, instead of unit by unit through the foreign key.
DELETE FROM posting WHERE bank = %(bank)s

-- name: delete_embeddings
-- audience: the whole bank goes, whoever may see its rows
-- Vectors at once, instead of unit by unit through the foreign key.
DELETE FROM embedding WHERE bank = %(bank)s

-- name: delete_unit_links
-- audience: the whole bank goes, whoever may see its rows
-- Links at once, instead of unit by unit through the foreign key.
DELETE FROM unit_link WHERE bank = %(bank)s

-- name: delete_unit_entities
-- audience: the whole bank goes, whoever may see its rows
-- Mentions at once, instead of unit by unit through the foreign key.
DELETE FROM unit_entity WHERE bank = %(bank)s

-- name: delete_mental_models
-- audience: the whole bank goes, whoever may see its rows
-- Models before what they stand on: else each would be withheld first.
DELETE FROM mental_model WHERE bank = %(bank)s

-- name: delete_knowledge_folders
-- audience: the whole bank goes, whoever may see its rows
-- Their pages have gone with the models.
DELETE FROM knowledge_folder WHERE bank = %(bank)s

-- name: delete_observations
-- audience: the whole bank goes, whoever may see its rows
-- Observations before what they stand on: else they would be retracted, and their sources freed to be consolidated anew.
DELETE FROM memory_unit WHERE bank = %(bank)s AND fact_type = 'observation'

-- name: delete_units
-- audience: the whole bank goes, whoever may see its rows
-- Everything remembered, before the documents it came from.
DELETE FROM memory_unit WHERE bank = %(bank)s

-- name: delete_documents
-- audience: the whole bank goes, whoever may see its rows
-- Documents with their chunks, before the operations that the chunks name.
DELETE FROM document WHERE bank = %(bank)s

-- name: delete
-- The bank; what is left of it goes by foreign key.
DELETE FROM bank WHERE id = %(bank)s
