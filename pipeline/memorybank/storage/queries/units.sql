-- name: copy
-- audience: rows are only added, for the audience of a claim
-- New facts.
COPY memory_unit (id, bank, audience_id, created_at, updated_at, document, document_number, chunk, position, fact_type,
                  text, statement, context, place_name, occurred_start, occurred_end, mentioned_at, mentioned_at_assumed, tags,
                  metadata, observation_scopes) FROM STDIN

-- name: copy_postings
-- audience: rows are only added, for the audience of a claim
-- The terms of new facts.
COPY posting (bank, term, document, position, audience_id, tf, length) FROM STDIN (FORMAT BINARY)

-- name: copy_vectors
-- audience: rows are only added, for the audience of a claim
-- The vectors of new facts.
COPY embedding (bank, document, position, audience_id, model, speaker, traits, text_hash, vector) FROM STDIN (FORMAT BINARY)

-- name: unpost
-- audience: the caller has locked these units
-- Terms of units whose text changed.
DELETE FROM posting p USING memory_unit u
WHERE u.id = ANY(%(ids)s::uuid[]) AND p.bank = %(bank)s AND p.document = u.document_number AND p.position = u.position

-- name: unembed
-- audience: the caller has locked these units
-- Vectors of units whose text changed.
DELETE FROM embedding e USING memory_unit u
WHERE u.id = ANY(%(ids)s::uuid[]) AND e.bank = %(bank)s AND e.document = u.document_number AND e.position = u.position

-- name: known_vectors
-- audience: a vector is looked up by the hash of a text that the asker holds; it says nothing of who else holds it
-- What the same texts were turned into before.
SELECT DISTINCT ON (text_hash) text_hash, halfvec_send(vector) AS packed
FROM embedding WHERE bank = %(bank)s AND model = %(model)s AND text_hash = ANY(%(hashes)s::bytea[])

-- name: newest_vectors
-- audience: new facts are linked to facts of the audience that their lease writes for
-- Vectors of the newest facts as one packed array.
SELECT array_agg(document) AS documents, array_agg(position) AS positions,
       string_agg(halfvec_send(vector), ''::bytea) AS packed
FROM (SELECT document, position, vector FROM embedding
      WHERE bank = %(bank)s AND model = %(model)s AND audience_id = %(audience_id)s
      ORDER BY document DESC, position DESC LIMIT %(limit)s) AS newest

-- name: at
-- audience: new facts are linked to facts of the audience that their lease writes for
-- Who stands at these addresses. A lateral with OFFSET 0: a plain join becomes a hash join over the whole bank. The bank
-- is asked outside: so one index fits, whatever the planner knows of the table.
SELECT u.id, u.document_number, u.position, u.fact_type
FROM unnest(%(documents)s::integer[], %(positions)s::integer[]) AS a (document, position)
CROSS JOIN LATERAL (
    SELECT m.id, m.document_number, m.position, m.fact_type, m.bank FROM memory_unit m
    WHERE m.document_number = a.document AND m.position = a.position AND m.audience_id = %(audience_id)s OFFSET 0
) AS u
WHERE u.bank = %(bank)s
