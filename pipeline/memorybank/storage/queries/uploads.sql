-- name: add
-- The bytes of a file that an operation is to read.
INSERT INTO upload (operation, bank, audience_id, content)
VALUES (%(operation)s, %(bank)s, %(audience_id)s, %(content)s)

-- name: content
-- audience: the holder of a lease reads what belongs to its own row
-- The bytes of an operation's file, where they are still there.
SELECT content FROM upload WHERE operation = %(operation)s

-- name: delete
-- audience: the holder of a lease deletes what belongs to its own row
-- The bytes were read, or cannot be.
DELETE FROM upload WHERE operation = %(operation)s
