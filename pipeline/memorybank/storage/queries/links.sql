-- name: copy
-- audience: rows are only added, for facts of the audience of a claim
-- New links.
COPY unit_link (source, target, kind, weight, bank) FROM STDIN (FORMAT BINARY)
