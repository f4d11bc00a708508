-- name: get
-- One memory as people change it, with what it names.
SELECT u.id, u.audience_id, u.document_number, u.position, u.fact_type, u.text, u.context, u.place_name, u.occurred_start,
       u.occurred_end, u.mentioned_at, u.mentioned_at_assumed, u.statement, u.status, u.status_reason, u.status_at,
       u.corrected, u.read_text, u.read_statement, u.edited_at, u.revision,
       (SELECT coalesce(jsonb_object_agg(e.id, coalesce(n.name, e.name)), '{}') FROM unit_entity ue JOIN entity e ON e.id = ue.entity
        LEFT JOIN entity_name n ON n.bank = u.bank AND n.audience_id = u.audience_id AND n.key = e.key AND n.entity = e.id
                                  AND (%(sees_all)s OR n.audience_id = ANY(%(audiences)s::bigint[]))
        WHERE ue.unit = u.id) AS entities
FROM memory_unit u
WHERE u.bank = %(bank)s AND u.id = %(id)s AND (%(sees_all)s OR u.audience_id = ANY(%(audiences)s::bigint[]))

-- name: write
-- audience: the fact was found under the viewer
-- What it says and how it stands from now on. Whatever stood on it goes, and it is consolidated anew, also where nothing
-- changed but what it names.
UPDATE memory_unit
SET fact_type = %(fact_type)s, text = %(text)s, context = %(context)s, place_name = %(place_name)s,
    occurred_start = %(occurred_start)s, occurred_end = %(occurred_end)s, mentioned_at = %(mentioned_at)s,
    mentioned_at_assumed = %(mentioned_at_assumed)s, statement = %(statement)s, status = %(status)s,
    status_reason = %(status_reason)s, status_at = %(status_at)s, corrected = %(corrected)s, read_text = %(read_text)s,
    read_statement = %(read_statement)s, edited_at = %(edited_at)s, updated_at = %(now)s, revision = revision + 1,
    consolidated_at = NULL, consolidation_failed_at = NULL
WHERE id = %(id)s

-- name: unlink
-- audience: the fact was found under the viewer
-- What it was near to in its old words.
DELETE FROM unit_link WHERE (source = %(id)s OR target = %(id)s) AND kind = 'semantic'

-- name: documents
-- audience: the fact was found under the viewer, and what says it shares its audience
-- The documents that say a fact.
SELECT u.document FROM memory_unit u WHERE u.id = %(id)s AND u.document IS NOT NULL
UNION
SELECT c.document FROM unit_mention m JOIN chunk c ON c.id = m.chunk WHERE m.unit = %(id)s
ORDER BY document
