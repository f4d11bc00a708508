-- name: due
-- audience: an index is of the bank, whoever may see its rows; only a number is compared
-- Whether a bank has grown too large for exact search, has no index of this model and none is on its way. One that somebody
-- has dropped is missed too: until it is built anew, nearest vectors are found without it, in order of their distance.
SELECT b.id FROM bank b
WHERE b.id = %(bank)s
  AND (b.indexed_model IS DISTINCT FROM %(model)s OR to_regclass('embedding_hnsw_' || b.id || '_' || %(model)s) IS NULL)
  AND EXISTS (SELECT FROM embedding e WHERE e.bank = b.id AND e.model = %(model)s OFFSET %(exact)s LIMIT 1)
  AND NOT EXISTS (SELECT FROM operation o
                  WHERE o.bank = b.id AND o.kind = 'vector_index' AND o.status IN ('pending', 'processing'))

-- name: grown
-- audience: nobody is told but the sweep; an index is of the bank, whoever may see its rows
-- Banks that may be due, however they grew, each with one of its audiences.
SELECT b.id AS bank, (SELECT min(a.id) FROM audience a WHERE a.bank = b.id) AS audience_id
FROM bank b
WHERE b.indexed_model IS DISTINCT FROM %(model)s
  AND (SELECT sum(s.units) FROM bank_size s WHERE s.bank = b.id) > %(exact)s

-- name: hold
-- Lets one writer at a time look whether a bank is due.
SELECT FROM bank WHERE id = %(bank)s FOR NO KEY UPDATE

-- name: adopt
-- From now on the bank is searched by its index.
UPDATE bank SET indexed_model = %(model)s WHERE id = %(bank)s

-- name: alone
-- One build at a time in the installation: each takes a core and its memory, and two on one partition wait for each other
-- until PostgreSQL ends one of them. The lock goes with the session.
SELECT pg_try_advisory_lock(%(lock)s) AS alone

-- name: patience
-- A build may take minutes; in less memory than the index needs it takes ten times as long. Workers of PostgreSQL would
-- need as much shared memory as that, which containers mostly lack.
SELECT set_config('statement_timeout', '0', false), set_config('maintenance_work_mem', %(memory)s, false),
       set_config('max_parallel_maintenance_workers', '0', false)

-- name: place
-- audience: an index is of the bank, whoever may see its rows
-- The partition that holds a bank's vectors, how many there are, and how wide.
SELECT min(e.tableoid::regclass::text) AS leaf, count(*) AS units,
       (SELECT dimensions FROM embedding_model WHERE id = %(model)s) AS dimensions
FROM embedding e WHERE e.bank = %(bank)s AND e.model = %(model)s

-- name: known
-- Vector indexes that there are: of which bank, whether that is still there, and whether they are whole. One that a crash
-- left behind is not.
SELECT c.relname AS name, i.indisvalid AS valid, b.id IS NOT NULL AS owned
FROM pg_index i
JOIN pg_class c ON c.oid = i.indexrelid
LEFT JOIN bank b ON b.id = split_part(c.relname, '_', 3)::bigint
WHERE c.relname ~ '^embedding_hnsw_[0-9]+_[0-9]+$' AND pg_table_is_visible(c.oid)

-- name: build
-- audience: an index is of the bank, whoever may see its rows
-- One bank's own index, while others read and write. With the usual 16 and 64 whole groups of near copies are not found.
CREATE INDEX CONCURRENTLY {name} ON {leaf} USING hnsw ((vector::halfvec({dimensions})) halfvec_cosine_ops)
WITH (m = 24, ef_construction = 256) WHERE bank = {bank} AND model = {model}

-- name: drop
-- audience: an index is of the bank, whoever may see its rows
-- Drops an index while others read and write.
DROP INDEX CONCURRENTLY IF EXISTS {name}
