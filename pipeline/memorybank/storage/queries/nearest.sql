-- name: sample
-- Whether the viewer may see more units than an exact search is for, and if so units that stand for all: the first by the
-- hash of their texts, which is an order of chance. With each the size of its document, up to a cap.
SELECT m.dimensions, drawn.addresses, drawn.distances, drawn.forms, drawn.sizes, drawn.looked_at
FROM embedding_model m
CROSS JOIN LATERAL (
    SELECT CASE WHEN %(sees_all)s THEN (SELECT sum(s.units) FROM bank_size s WHERE s.bank = %(bank)s) ELSE (
        SELECT count(*)
        FROM (SELECT FROM embedding e
              WHERE e.bank = %(bank)s AND e.model = m.id AND e.audience_id = ANY(%(audiences)s::bigint[])
              LIMIT %(exact)s + 1) AS counted) END AS units
) AS seen
CROSS JOIN LATERAL (
    SELECT array_agg(u.document::bigint << 32 | u.position) FILTER (WHERE u.visible) AS addresses,
           array_agg((u.vector <=> %(vector)s::halfvec)::real) FILTER (WHERE u.visible) AS distances,
           array_agg(u.speaker::bigint << 32 | u.traits) FILTER (WHERE u.visible) AS forms,
           array_agg(held.units) FILTER (WHERE u.visible) AS sizes, count(*) AS looked_at
    FROM (SELECT e.document, e.position, e.vector, e.speaker, e.traits,
                 (%(sees_all)s OR e.audience_id = ANY(%(audiences)s::bigint[])) AS visible
          FROM embedding e WHERE e.bank = %(bank)s AND e.model = m.id
          ORDER BY e.text_hash LIMIT %(sampled)s) AS u
    CROSS JOIN LATERAL (
        SELECT count(*)::integer AS units
        FROM (SELECT FROM embedding e
              WHERE e.bank = %(bank)s AND e.document = u.document AND e.model = m.id
                AND (%(sees_all)s OR e.audience_id = ANY(%(audiences)s::bigint[]))
              LIMIT %(largest)s) AS counted
    ) AS held
    WHERE seen.units > %(exact)s
) AS drawn
WHERE m.id = %(model)s AND m.name = %(name)s

-- name: nearest
-- The nearest units by the bank's own index. It is found by its own form of the vector, and by bank and model as numbers.
SELECT array_agg(near.document::bigint << 32 | near.position) AS addresses, array_agg(near.distance) AS distances,
       array_agg(near.speaker::bigint << 32 | near.traits) AS forms
FROM (
    SELECT e.document, e.position, e.speaker, e.traits,
           (e.vector::halfvec(%(dimensions)s) <=> %(vector)s::halfvec(%(dimensions)s))::real AS distance
    FROM embedding e
    WHERE e.bank = %(bank)s AND e.model = %(model)s
      AND (%(sees_all)s OR e.audience_id = ANY(%(audiences)s::bigint[]))
      AND (%(traits)s = 0 OR e.traits & %(traits)s <> 0)
    ORDER BY e.vector::halfvec(%(dimensions)s) <=> %(vector)s::halfvec(%(dimensions)s)
    LIMIT %(limit)s
) AS near

-- name: windows
-- Units at these addresses with those just before and after them in their documents, and their distances. A unit may
-- come several times.
SELECT array_agg(near.document::bigint << 32 | near.position) AS addresses,
       array_agg((near.vector <=> %(vector)s::halfvec)::real) AS distances,
       array_agg(near.speaker::bigint << 32 | near.traits) AS forms
FROM unnest(%(documents)s::integer[], %(positions)s::integer[]) AS asked (document, position)
CROSS JOIN LATERAL (
    (SELECT e.document, e.position, e.vector, e.speaker, e.traits FROM embedding e
     WHERE e.bank = %(bank)s AND e.document = asked.document AND e.position < asked.position AND e.model = %(model)s
       AND (%(sees_all)s OR e.audience_id = ANY(%(audiences)s::bigint[]))
     ORDER BY e.position DESC LIMIT %(reach)s)
    UNION ALL
    (SELECT e.document, e.position, e.vector, e.speaker, e.traits FROM embedding e
     WHERE e.bank = %(bank)s AND e.document = asked.document AND e.position >= asked.position AND e.model = %(model)s
       AND (%(sees_all)s OR e.audience_id = ANY(%(audiences)s::bigint[]))
     ORDER BY e.position LIMIT %(reach)s + 1)
) AS near

-- name: document_sizes
-- How many units these documents have, up to a cap.
SELECT array_agg(asked.document) AS documents, array_agg(held.units) AS sizes
FROM unnest(%(documents)s::integer[]) AS asked (document)
CROSS JOIN LATERAL (
    SELECT count(*)::integer AS units
    FROM (SELECT FROM embedding e
          WHERE e.bank = %(bank)s AND e.document = asked.document AND e.model = %(model)s
            AND (%(sees_all)s OR e.audience_id = ANY(%(audiences)s::bigint[]))
          LIMIT %(largest)s) AS counted
) AS held

-- name: tags
-- These units grouped by the tags they hold.
SELECT u.tags, array_agg(u.document_number) AS documents, array_agg(u.position) AS positions
FROM unnest(%(documents)s::integer[], %(positions)s::integer[]) AS asked (document, position)
CROSS JOIN LATERAL (
    SELECT m.id, m.tags, m.document_number, m.position, m.bank FROM memory_unit m
    WHERE m.document_number = asked.document AND m.position = asked.position
      AND (%(sees_all)s OR m.audience_id = ANY(%(audiences)s::bigint[])) OFFSET 0
) AS u
WHERE u.bank = %(bank)s
  AND (%(facts)s::boolean IS NULL
       OR %(facts)s = EXISTS (SELECT FROM stated_memory s WHERE s.unit = u.id AND s.surface = 'facts'))
GROUP BY u.tags
