-- name: get
-- The number of an embedding model.
SELECT id, dimensions FROM embedding_model WHERE name = %(name)s

-- name: add
-- Numbers a model at its first use; two processes may do so at once.
INSERT INTO embedding_model (name, dimensions) VALUES (%(name)s, %(dimensions)s) ON CONFLICT (name) DO NOTHING
