-- name: folders
-- The visible folders of a bank.
SELECT f.number, f.id, f.name, f.parent FROM knowledge_folder f
WHERE f.bank = %(bank)s AND (%(sees_all)s OR f.audience_id = ANY(%(audiences)s::bigint[]))
ORDER BY f.name, f.number

-- name: hold
-- audience: a lock, nothing is read
-- One at a time changes the tree of a bank: two moves side by side could make a circle.
SELECT pg_advisory_xact_lock(hashtextextended('knowledge', %(bank)s))

-- name: add
-- audience: a new row, in the audience of the caller
-- A folder.
INSERT INTO knowledge_folder (bank, audience_id, id, name, parent)
VALUES (%(bank)s, %(audience_id)s, %(id)s, %(name)s, %(parent)s)

-- name: place_folder
-- audience: the caller has found it under its viewer
-- A folder gets another name or place.
UPDATE knowledge_folder SET name = %(name)s, parent = %(parent)s WHERE number = %(number)s

-- name: place_page
-- audience: the caller has found it under its viewer
-- A page gets another place.
UPDATE mental_model SET folder = %(parent)s WHERE number = %(number)s

-- name: delete
-- audience: the caller has found it under its viewer
-- All that is in the folder goes by foreign key.
DELETE FROM knowledge_folder WHERE number = %(number)s

-- name: nearness
-- How near the memories that models cite come to a question: of each model the nearest; of pages alone, or of all.
SELECT o.model, max(1 - (e.vector <=> %(vector)s::halfvec))::real AS nearness
FROM mental_model m
JOIN mental_model_source o ON o.model = m.number AND o.version = m.version AND o.cited
JOIN memory_unit u ON u.id = o.unit AND u.audience_id = m.audience_id
JOIN embedding e ON e.bank = u.bank AND e.document = u.document_number AND e.position = u.position
    AND e.audience_id = m.audience_id AND e.model = %(model)s
WHERE m.bank = %(bank)s AND (m.is_managed OR NOT %(managed)s) AND (%(sees_all)s OR m.audience_id = ANY(%(audiences)s::bigint[]))
GROUP BY o.model
