-- Large banks have an index of their own: `embedding_hnsw_<bank>_<model>`, on the partition of `embedding` that holds them.

-- The embedding model of which a bank has one; NULL: it is searched exactly.
ALTER TABLE bank ADD COLUMN indexed_model integer;
