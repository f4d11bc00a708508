-- name: list_memories
-- One page, the last mentioned first. Every list gives its total in each row, and one row of nulls for an empty page.
-- Entities are looked up for the rows of the page only. Facts of a document are all that it says, those that live in
-- another document among them.
WITH chosen AS MATERIALIZED (
    SELECT u.id, u.mentioned_at, u.created_at
    FROM memory_unit u
    WHERE u.bank = %(bank)s
      AND (%(sees_all)s OR u.audience_id = ANY(%(audiences)s::bigint[]))
      AND u.status = %(status)s
      AND (%(fact_type)s::text IS NULL OR u.fact_type = %(fact_type)s)
      AND (%(q)s::text IS NULL OR position(lower(%(q)s) IN lower(u.text)) > 0 OR position(lower(%(q)s) IN lower(u.context)) > 0)
      AND (%(document_id)s::text IS NULL OR u.id IN (
            SELECT said_in(d.number) FROM document d
            WHERE d.bank = %(bank)s AND d.id = %(document_id)s
              AND (%(sees_all)s OR d.audience_id = ANY(%(audiences)s::bigint[]))))
      AND (%(entity_id)s::uuid IS NULL OR EXISTS (
            SELECT 1 FROM unit_entity ue WHERE ue.unit = u.id AND ue.entity = %(entity_id)s))
      AND (%(consolidation_state)s::text IS NULL OR consolidation_state(u) = %(consolidation_state)s)
      AND tags_match(u.tags, %(tags)s::text[], %(tags_match)s)
), page AS (
    SELECT * FROM chosen
    ORDER BY mentioned_at DESC NULLS LAST, created_at DESC, id DESC
    LIMIT %(limit)s OFFSET %(offset)s
)
SELECT counted.total, u.*, d.id AS document_id, d.is_placed, c.ordinal AS chunk_ordinal, entity_names(u.id, u.audience_id) AS entities,
       array(SELECT s.source FROM observation_source s
             WHERE s.observation = u.id AND (%(sees_all)s OR s.audience_id = ANY(%(audiences)s::bigint[]))
             ORDER BY s.source DESC) AS source_memory_ids
FROM (SELECT count(*) AS total FROM chosen) AS counted
LEFT JOIN page ON true
LEFT JOIN memory_unit u ON u.id = page.id AND (%(sees_all)s OR u.audience_id = ANY(%(audiences)s::bigint[]))
LEFT JOIN document d ON d.number = u.document AND d.audience_id = u.audience_id
LEFT JOIN chunk c ON c.id = u.chunk AND c.audience_id = u.audience_id
ORDER BY page.mentioned_at DESC NULLS LAST, page.created_at DESC, page.id DESC

-- name: get_memory
-- One memory in any state, as far as the viewer may see it.
SELECT u.*, d.id AS document_id, d.is_placed, c.ordinal AS chunk_ordinal, entity_names(u.id, u.audience_id) AS entities,
       array(SELECT DISTINCT o.id FROM unit_mention m JOIN chunk s ON s.id = m.chunk JOIN document o ON o.number = s.document
             WHERE m.unit = u.id AND (%(sees_all)s OR m.audience_id = ANY(%(audiences)s::bigint[]))
               AND s.audience_id = m.audience_id AND o.audience_id = m.audience_id ORDER BY o.id) AS mentioned_in
FROM memory_unit u
LEFT JOIN document d ON d.number = u.document AND d.audience_id = u.audience_id
LEFT JOIN chunk c ON c.id = u.chunk AND c.audience_id = u.audience_id
WHERE u.bank = %(bank)s AND u.id = %(id)s
  AND (%(sees_all)s OR u.audience_id = ANY(%(audiences)s::bigint[]))

-- name: list_tags
-- Tags of visible memories, or of mental models, the most used first.
WITH tagged AS (
    SELECT u.tags FROM memory_unit u
    WHERE u.bank = %(bank)s AND u.status = 'active' AND %(of)s = 'memories'
      AND (%(sees_all)s OR u.audience_id = ANY(%(audiences)s::bigint[]))
    UNION ALL
    SELECT m.tags FROM mental_model m
    WHERE m.bank = %(bank)s AND %(of)s = 'mental_models' AND (%(sees_all)s OR m.audience_id = ANY(%(audiences)s::bigint[]))
), chosen AS MATERIALIZED (
    SELECT tag, count(*) AS count
    FROM tagged CROSS JOIN unnest(tagged.tags) AS tag
    WHERE %(pattern)s::text IS NULL OR lower(tag) LIKE %(pattern)s
    GROUP BY tag
), page AS (
    SELECT * FROM chosen ORDER BY count DESC, tag LIMIT %(limit)s OFFSET %(offset)s
)
SELECT counted.total, page.tag AS id, page.count
FROM (SELECT count(*) AS total FROM chosen) AS counted LEFT JOIN page ON true
ORDER BY page.count DESC, page.tag

-- name: list_documents
-- Documents, the last updated first, without their texts.
WITH chosen AS MATERIALIZED (
    SELECT d.number, d.updated_at
    FROM document d
    WHERE d.bank = %(bank)s
      AND (%(sees_all)s OR d.audience_id = ANY(%(audiences)s::bigint[]))
      AND (%(q)s::text IS NULL OR position(lower(%(q)s) IN lower(d.id)) > 0)
      AND tags_match(d.tags, %(tags)s::text[], %(tags_match)s)
), page AS (
    SELECT * FROM chosen ORDER BY updated_at DESC, number DESC LIMIT %(limit)s OFFSET %(offset)s
)
SELECT counted.total, d.id, d.content_hash, d.created_at, d.updated_at, d.text_length, d.retain_params, d.metadata, d.tags,
       (SELECT count(*) FROM memory_unit u
        WHERE u.id IN (SELECT said_in(page.number)) AND u.status = 'active'
          AND (%(sees_all)s OR u.audience_id = ANY(%(audiences)s::bigint[]))) AS memory_unit_count
FROM (SELECT count(*) AS total FROM chosen) AS counted
LEFT JOIN page ON true
LEFT JOIN document d ON d.number = page.number AND (%(sees_all)s OR d.audience_id = ANY(%(audiences)s::bigint[]))
ORDER BY page.updated_at DESC, page.number DESC

-- name: get_document
-- One document with its text and how many visible memories of each type it says.
SELECT d.*, (
    SELECT coalesce(jsonb_object_agg(fact_type, n), '{}')
    FROM (SELECT u.fact_type, count(*) AS n FROM memory_unit u
          WHERE u.id IN (SELECT said_in(d.number)) AND u.status = 'active'
            AND (%(sees_all)s OR u.audience_id = ANY(%(audiences)s::bigint[]))
          GROUP BY u.fact_type) AS counted) AS nodes_by_fact_type
FROM document d
WHERE d.bank = %(bank)s AND d.id = %(id)s
  AND (%(sees_all)s OR d.audience_id = ANY(%(audiences)s::bigint[]))
ORDER BY d.number LIMIT 1

-- name: list_chunks
-- A document's chunks in order, without those that others already stand in for.
WITH chosen AS MATERIALIZED (
    SELECT c.id, c.ordinal, c.text, c.created_at, d.is_placed
    FROM chunk c JOIN document d ON d.number = c.document
    WHERE d.number = %(document)s AND c.state <> 'replaced'
      AND (%(sees_all)s OR d.audience_id = ANY(%(audiences)s::bigint[]))
      AND (%(sees_all)s OR c.audience_id = ANY(%(audiences)s::bigint[]))
), page AS (
    SELECT * FROM chosen ORDER BY ordinal LIMIT %(limit)s OFFSET %(offset)s
)
SELECT counted.total, page.*
FROM (SELECT count(*) AS total FROM chosen) AS counted LEFT JOIN page ON true
ORDER BY page.ordinal

-- name: get_chunk
-- A chunk by its public id `bank_document_ordinal`: each place where it may be cut into bank and document is tried.
SELECT b.bank_id, d.id AS document_id, d.is_placed, c.id, c.ordinal, c.text, c.created_at
FROM unnest(%(banks)s::text[], %(documents)s::text[]) AS cut (bank_id, document_id)
JOIN bank b ON b.bank_id = cut.bank_id
JOIN document d ON d.bank = b.id AND d.id = cut.document_id AND NOT d.is_placed
JOIN chunk c ON c.document = d.number AND c.ordinal = %(ordinal)s
WHERE (%(sees_all)s OR c.audience_id = ANY(%(audiences)s::bigint[]))
  AND (%(sees_all)s OR d.audience_id = ANY(%(audiences)s::bigint[]))
LIMIT 1

-- name: get_placed_chunk
-- A chunk of a document that is not the whole bank's: several may have that id, so its own counts.
SELECT b.bank_id, d.id AS document_id, d.is_placed, c.id, c.ordinal, c.text, c.created_at
FROM chunk c JOIN document d ON d.number = c.document AND d.is_placed JOIN bank b ON b.id = c.bank
WHERE c.id = %(chunk)s::uuid
  AND (%(sees_all)s OR c.audience_id = ANY(%(audiences)s::bigint[]))
  AND (%(sees_all)s OR d.audience_id = ANY(%(audiences)s::bigint[]))

-- name: list_entities
-- Entities, the most mentioned first; counted from visible facts, never from a counter: an observation says nothing new.
-- Each is called as a circle that is the viewer's writes it: others may have been first, and write it otherwise.
WITH chosen AS MATERIALIZED (
    SELECT ue.entity, count(*) AS mention_count,
           min(coalesce(u.occurred_start, u.mentioned_at, u.created_at)) AS first_seen,
           max(coalesce(u.occurred_start, u.mentioned_at, u.created_at)) AS last_seen
    FROM (SELECT DISTINCT n.entity, n.unit FROM unit_entity n
          WHERE n.bank = %(bank)s AND (%(entity_id)s::uuid IS NULL OR n.entity = %(entity_id)s)) AS ue
    JOIN memory_unit u ON u.id = ue.unit
    WHERE u.status = 'active' AND u.fact_type <> 'observation'
      AND (%(sees_all)s OR u.audience_id = ANY(%(audiences)s::bigint[]))
      AND tags_match(u.tags, %(tags)s::text[], %(tags_match)s)
    GROUP BY ue.entity
), page AS (
    SELECT * FROM chosen
    ORDER BY mention_count DESC, last_seen DESC, entity
    LIMIT %(limit)s OFFSET %(offset)s
)
SELECT counted.total, page.entity AS id, page.mention_count, page.first_seen, page.last_seen, coalesce(own.name, e.name) AS name, e.metadata
FROM (SELECT count(*) AS total FROM chosen) AS counted
LEFT JOIN page ON true
LEFT JOIN entity e ON e.id = page.entity
LEFT JOIN LATERAL (
    SELECT n.name FROM entity_name n
    WHERE n.bank = %(bank)s AND n.key = e.key AND n.entity = e.id
      AND (%(sees_all)s OR n.audience_id = ANY(%(audiences)s::bigint[]))
    ORDER BY n.name <> e.name, n.name LIMIT 1) AS own ON true
ORDER BY page.mention_count DESC, page.last_seen DESC, page.entity

-- name: count_units
-- Visible memories by type and state of consolidation, and when the last one was written.
SELECT u.fact_type, count(*) AS units,
       count(*) FILTER (WHERE consolidation_state(u) = 'pending') AS pending_consolidation,
       count(*) FILTER (WHERE consolidation_state(u) = 'failed') AS failed_consolidation,
       max(u.consolidated_at) AS last_consolidated_at,
       max(u.updated_at) AS last_write_at
FROM memory_unit u
WHERE u.bank = %(bank)s AND u.status = 'active'
  AND (%(sees_all)s OR u.audience_id = ANY(%(audiences)s::bigint[]))
GROUP BY u.fact_type

-- name: count_links
-- Links of which both ends are visible and active.
SELECT l.kind, count(*) AS links
FROM unit_link l
JOIN memory_unit a ON a.id = l.source
JOIN memory_unit b ON b.id = l.target
WHERE l.bank = %(bank)s AND a.status = 'active' AND b.status = 'active'
  AND (%(sees_all)s OR a.audience_id = ANY(%(audiences)s::bigint[]))
  AND (%(sees_all)s OR b.audience_id = ANY(%(audiences)s::bigint[]))
GROUP BY l.kind

-- name: count_operations
-- Operations by status, as they are listed; a batch counts as its parts.
SELECT o.status, count(*) AS operations
FROM operation o
WHERE o.bank = %(bank)s AND NOT o.is_parent
  AND (%(sees_all)s OR o.audience_id = ANY(%(audiences)s::bigint[]))
  AND (%(sees_all)s OR o.kind NOT IN ('consolidation', 'vector_index'))
GROUP BY o.status

-- name: count_documents
-- Visible documents.
SELECT count(*) AS documents
FROM document d
WHERE d.bank = %(bank)s
  AND (%(sees_all)s OR d.audience_id = ANY(%(audiences)s::bigint[]))

-- name: count_live_operations
-- audience: numbers over the whole installation, for the operator's dashboard only
-- Work that is not done.
SELECT o.kind, o.status, count(*) AS operations
FROM operation o
WHERE o.status IN ('pending', 'processing') AND NOT o.is_parent
GROUP BY o.kind, o.status
