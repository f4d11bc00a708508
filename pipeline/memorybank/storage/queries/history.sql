-- name: record
-- audience: the caller changes a document that it has locked; the row takes the audience of the document
-- An act on a document, once for each operation.
INSERT INTO document_event (id, bank, document, audience_id, kind, operation, fact, facts_removed, created_at)
SELECT %(id)s, d.bank, d.number, d.audience_id, %(kind)s, %(operation)s, %(fact)s, %(removed)s, %(now)s
FROM document d WHERE d.number = %(document)s
ON CONFLICT (document, operation) DO UPDATE
SET facts_removed = document_event.facts_removed + excluded.facts_removed

-- name: added
-- audience: the holder of a lease counts what it has stored
-- Facts that an operation has stored.
UPDATE document_event e SET facts_added = facts_added + n.facts
FROM unnest(%(documents)s::integer[], %(facts)s::integer[]) AS n (document, facts)
WHERE e.document = n.document AND e.operation = %(operation)s

-- name: removed
-- audience: the holder of a lease counts what it has deleted
-- Facts that went with chunks which an operation has replaced.
UPDATE document_event e SET facts_removed = facts_removed + n.facts
FROM unnest(%(documents)s::integer[], %(facts)s::integer[]) AS n (document, facts)
WHERE e.document = n.document AND e.operation = %(operation)s

-- name: of_document
-- A document's history, the newest first.
WITH chosen AS MATERIALIZED (
    SELECT e.* FROM document_event e
    WHERE e.document = %(document)s AND (%(sees_all)s OR e.audience_id = ANY(%(audiences)s::bigint[]))
), page AS (
    SELECT * FROM chosen ORDER BY created_at DESC, id DESC LIMIT %(limit)s OFFSET %(offset)s
)
SELECT counted.total, page.*
FROM (SELECT count(*) AS total FROM chosen) AS counted LEFT JOIN page ON true
ORDER BY page.created_at DESC, page.id DESC
