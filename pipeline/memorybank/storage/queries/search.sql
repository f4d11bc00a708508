-- name: limit
-- What each statement of this transaction may take from here on, so that one slow arm does not take the others with it.
-- And each is planned for its own parameters (again, where an earlier trip ended with `by_key`).
SELECT set_config('statement_timeout', %(milliseconds)s, true), set_config('plan_cache_mode', 'force_custom_plan', true),
       set_config('enable_seqscan', 'on', true)

-- name: statistics
-- N and the total length for BM25, of what the viewer may see: else scores would move with what others say. What the bank
-- holds in all, and the version of its index: exact, see migration 0007. And whether it has a graph to follow at all, which
-- spares a trip: the first bank from this one on. For EXISTS the planner reads the table until it meets the bank, past all
-- that came before.
SELECT coalesce(sum(s.units) FILTER (WHERE %(sees_all)s OR s.audience_id = ANY(%(audiences)s::bigint[])), 0)::bigint AS units,
       coalesce(sum(s.length) FILTER (WHERE %(sees_all)s OR s.audience_id = ANY(%(audiences)s::bigint[])), 0)::bigint AS length,
       coalesce(sum(s.units), 0)::bigint AS held, bit_xor(s.id) AS version,
       coalesce((SELECT ue.bank FROM unit_entity ue WHERE ue.bank >= %(bank)s ORDER BY ue.bank LIMIT 1) = %(bank)s, false)
           AS has_entities,
       coalesce((SELECT l.bank FROM unit_link l WHERE l.bank >= %(bank)s ORDER BY l.bank LIMIT 1) = %(bank)s, false)
           AS has_links
FROM bank_size s WHERE s.bank = %(bank)s

-- name: speakers
-- Which of these speak in the bank: at least so many units that the viewer may see are theirs.
SELECT asked.speaker
FROM unnest(%(speakers)s::integer[]) AS asked (speaker)
CROSS JOIN LATERAL (
    SELECT count(*) AS units
    FROM (SELECT FROM embedding e
          WHERE e.bank = %(bank)s AND e.speaker = asked.speaker AND e.speaker <> 0
            AND (%(sees_all)s OR e.audience_id IN (SELECT unnest(%(audiences)s::bigint[])))
          LIMIT %(least)s) AS found
) AS held
WHERE held.units >= %(least)s

-- name: postings
-- How many units hold each term, and where the rarest stand, one row of packed arrays a term. Common terms are left out
-- first: they cost the most and tell the least. The rarest is always read, up to the cap: there the newest units. Only what
-- the viewer may see counts: a score that moved with the rest would tell which words it holds. `coalesce` here and below keeps
-- the planner from estimating audience by audience, 0.6 ms for 500; it still makes them a set.
WITH counted AS MATERIALIZED (
    SELECT asked.term, tally.frequency
    FROM unnest(%(terms)s::bigint[]) AS asked (term)
    CROSS JOIN LATERAL (SELECT count(*) AS frequency FROM posting p
                        WHERE p.bank = %(bank)s AND p.term = asked.term
                          AND (%(sees_all)s OR coalesce(p.audience_id = ANY(%(audiences)s::bigint[]), false)) OFFSET 0) AS tally
), ranked AS (
    SELECT term, frequency, row_number() OVER rarest AS rank, sum(frequency) OVER rarest AS total
    FROM counted WHERE frequency > 0
    WINDOW rarest AS (ORDER BY frequency, term)
), chosen AS (
    SELECT term FROM ranked
    WHERE rank <= %(max_terms)s AND (total <= %(max_postings)s OR rank = 1)
)
SELECT counted.frequency, held.documents, held.positions, held.tf, held.lengths
FROM counted
LEFT JOIN chosen ON chosen.term = counted.term
CROSS JOIN LATERAL (
    SELECT array_agg(found.document) AS documents, array_agg(found.position) AS positions,
           array_agg(found.tf) AS tf, array_agg(found.length) AS lengths
    FROM (SELECT p.document, p.position, p.tf, p.length FROM posting p
          WHERE p.bank = %(bank)s AND p.term = chosen.term
            AND (%(sees_all)s OR coalesce(p.audience_id = ANY(%(audiences)s::bigint[]), false))
          ORDER BY p.document DESC, p.position DESC LIMIT %(max_postings)s) AS found
) AS held

-- name: distances
-- The cosine distance of every unit that the viewer may see, as packed arrays: exact, up to some 25,000 units cheaper
-- than asking an index for the best, and the distances of neighbours come free. And what each text shows by its form. Two
-- numbers in one where they fit: two arrays less make a recall from 20,000 units 3 % cheaper.
SELECT array_agg(e.document::bigint << 32 | e.position) AS addresses,
       array_agg((e.vector <=> %(vector)s::halfvec)::real) AS distances,
       array_agg(e.speaker::bigint << 32 | e.traits) AS forms
FROM embedding e
WHERE e.bank = %(bank)s
  AND e.model = (SELECT m.id FROM embedding_model m WHERE m.name = %(model)s)
  AND (%(sees_all)s OR coalesce(e.audience_id = ANY(%(audiences)s::bigint[]), false))

-- name: copy
-- audience: kept in the process with the audience of each unit, and shown under the viewer
-- What `distances` reads, of all units and for any question, and the version that this is.
SELECT (SELECT bit_xor(s.id) FROM bank_size s WHERE s.bank = %(bank)s) AS version,
       array_agg(e.document) AS documents, array_agg(e.position) AS positions, array_agg(e.audience_id) AS audiences,
       array_agg(e.speaker) AS speakers, array_agg(e.traits) AS traits, string_agg(halfvec_send(e.vector), ''::bytea) AS packed
FROM embedding e
WHERE e.bank = %(bank)s AND e.model = (SELECT m.id FROM embedding_model m WHERE m.name = %(model)s)

-- name: named
-- Units that mention an entity which the question names, by its own key or by a spelling that the viewer may know. The
-- newest ones of each entity, up to a cap: a hub of 15,000 mentions tells nothing and costs everything. Mentions are walked
-- in the order of their index until the cap: a lateral with OFFSET 0, and a LIMIT that the planner cannot read, which for it
-- is a tenth of all. On tables that were never analysed it else reads the whole bank for each entity, and sorts that.
WITH meant AS (
    SELECT e.id FROM entity e WHERE e.bank = %(bank)s AND e.key = ANY(string_to_array(%(keys)s, E'\n'))
    UNION
    SELECT coalesce(n.root, n.entity) FROM entity_name n
    WHERE n.bank = %(bank)s AND n.key = ANY(string_to_array(%(keys)s, E'\n')) AND n.rule <> 'part'
      AND (%(sees_all)s OR n.audience_id IN (SELECT unnest(%(audiences)s::bigint[])))
)
SELECT meant.id AS entity, held.documents, held.positions
FROM meant
CROSS JOIN LATERAL (
    SELECT array_agg(found.document_number) AS documents, array_agg(found.position) AS positions
    FROM (SELECT DISTINCT ON (ue.unit) u.document_number, u.position
          FROM unit_entity ue
          CROSS JOIN LATERAL (SELECT m.document_number, m.position, m.status FROM memory_unit m
                              WHERE m.id = ue.unit
                                AND (%(sees_all)s OR m.audience_id IN (SELECT unnest(%(audiences)s::bigint[]))) OFFSET 0) AS u
          WHERE ue.entity = meant.id AND u.status = 'active'
          ORDER BY ue.unit DESC LIMIT (SELECT %(cap)s)) AS found
) AS held
WHERE held.documents IS NOT NULL

-- name: around
-- One hop from the best hits through the entities they mention, those of the strongest hits first: the same packed
-- arrays, and the hits among them. Of entities that are known already, from the question, only the hits.
WITH seed AS (
    SELECT s.id, asked.document, asked.position, asked.strength
    FROM unnest(%(documents)s::integer[], %(positions)s::integer[], %(strengths)s::real[])
         AS asked (document, position, strength)
    CROSS JOIN LATERAL (SELECT u.id, u.bank FROM memory_unit u
                        WHERE u.document_number = asked.document AND u.position = asked.position
                          AND (%(sees_all)s OR u.audience_id IN (SELECT unnest(%(audiences)s::bigint[]))) OFFSET 0) AS s
    WHERE s.bank = %(bank)s
), met AS (
    SELECT said.entity, max(seed.strength) AS strength, array_agg(seed.id) AS hits
    FROM seed CROSS JOIN LATERAL (SELECT ue.entity FROM unit_entity ue WHERE ue.unit = seed.id OFFSET 0) AS said
    GROUP BY said.entity ORDER BY strength DESC, said.entity LIMIT %(entities)s
)
SELECT met.entity, held.documents, held.positions
FROM met
CROSS JOIN LATERAL (
    SELECT array_agg(found.document_number) AS documents, array_agg(found.position) AS positions
    FROM ((SELECT DISTINCT ON (ue.unit) u.document_number, u.position
          FROM unit_entity ue
          CROSS JOIN LATERAL (SELECT m.document_number, m.position, m.status FROM memory_unit m
                              WHERE m.id = ue.unit
                                AND (%(sees_all)s OR m.audience_id IN (SELECT unnest(%(audiences)s::bigint[]))) OFFSET 0) AS u
          WHERE ue.entity = met.entity AND u.status = 'active' AND met.entity <> ALL(%(known)s::uuid[])
          ORDER BY ue.unit DESC LIMIT (SELECT %(cap)s))
          UNION
          SELECT seed.document, seed.position FROM seed WHERE seed.id = ANY(met.hits)) AS found
) AS held
WHERE cardinality(held.documents) > 1 OR met.entity = ANY(%(known)s::uuid[])

-- name: linked
-- One hop from the best hits through links, in both directions, the strongest first; one between two hits stands once.
WITH seed AS (
    SELECT s.id, asked.strength, (asked.place - 1)::integer AS hit
    FROM unnest(%(documents)s::integer[], %(positions)s::integer[], %(strengths)s::real[]) WITH ORDINALITY
         AS asked (document, position, strength, place)
    CROSS JOIN LATERAL (SELECT u.id, u.bank FROM memory_unit u
                        WHERE u.document_number = asked.document AND u.position = asked.position
                          AND (%(sees_all)s OR u.audience_id IN (SELECT unnest(%(audiences)s::bigint[]))) OFFSET 0) AS s
    WHERE s.bank = %(bank)s
), reached AS (
    SELECT seed.hit, l.unit, l.kind, l.weight, l.weight * seed.strength AS strength
    FROM seed
    CROSS JOIN LATERAL (SELECT o.target AS unit, o.kind, o.weight FROM unit_link o WHERE o.source = seed.id OFFSET 0) AS l
    UNION ALL
    SELECT seed.hit, l.unit, l.kind, l.weight, l.weight * seed.strength AS strength
    FROM seed
    CROSS JOIN LATERAL (SELECT o.source AS unit, o.kind, o.weight FROM unit_link o WHERE o.target = seed.id OFFSET 0) AS l
    WHERE l.unit NOT IN (SELECT id FROM seed)
), best AS (
    SELECT hit, unit, kind, weight FROM reached ORDER BY strength DESC, unit, hit LIMIT %(cap)s
)
SELECT best.kind = 'caused_by' AS causal, array_agg(best.hit) AS hits, array_agg(u.document_number) AS documents,
       array_agg(u.position) AS positions, array_agg(best.weight) AS weights
FROM best
CROSS JOIN LATERAL (SELECT m.document_number, m.position, m.status FROM memory_unit m
                    WHERE m.id = best.unit
                      AND (%(sees_all)s OR m.audience_id IN (SELECT unnest(%(audiences)s::bigint[]))) OFFSET 0) AS u
WHERE u.status = 'active'
GROUP BY best.kind

-- name: dated
-- Units that happened or were mentioned within these dates (the window of the question, widened), in seconds since 1970.
-- What has only an end (a deadline) counts at its end. Each kind of date by its own index: with OR the whole bank is read.
WITH near AS (
    (SELECT u.document_number, u.position, u.occurred_start, u.occurred_end, u.mentioned_at
     FROM memory_unit u
     WHERE u.bank = %(bank)s AND u.status = 'active'
       AND (%(sees_all)s OR coalesce(u.audience_id = ANY(%(audiences)s::bigint[]), false))
       AND u.mentioned_at BETWEEN %(start)s AND %(end)s
     ORDER BY u.mentioned_at DESC LIMIT %(cap)s)
    UNION
    (SELECT u.document_number, u.position, u.occurred_start, u.occurred_end, u.mentioned_at
     FROM memory_unit u
     WHERE u.bank = %(bank)s AND u.status = 'active'
       AND (%(sees_all)s OR coalesce(u.audience_id = ANY(%(audiences)s::bigint[]), false))
       AND coalesce(u.occurred_start, u.occurred_end) <= %(end)s AND coalesce(u.occurred_end, u.occurred_start) >= %(start)s
     ORDER BY coalesce(u.occurred_start, u.occurred_end) DESC LIMIT %(cap)s)
)
SELECT array_agg(near.document_number) AS documents, array_agg(near.position) AS positions,
       array_agg(coalesce(extract(epoch FROM coalesce(near.occurred_start, near.occurred_end)), 'NaN')::float8) AS occurred_start,
       array_agg(coalesce(extract(epoch FROM coalesce(near.occurred_end, near.occurred_start)), 'NaN')::float8) AS occurred_end,
       array_agg(coalesce(extract(epoch FROM near.mentioned_at), 'NaN')::float8) AS mentioned_at
FROM near

-- name: later
-- Units that were said after this moment, the newest ones; a date that nobody gave says nothing.
SELECT array_agg(u.document_number) AS documents, array_agg(u.position) AS positions
FROM (
    SELECT u.document_number, u.position
    FROM memory_unit u
    WHERE u.bank = %(bank)s AND u.status = 'active' AND u.mentioned_at > %(moment)s AND NOT u.mentioned_at_assumed
      AND (%(sees_all)s OR coalesce(u.audience_id = ANY(%(audiences)s::bigint[]), false))
    ORDER BY u.mentioned_at DESC LIMIT %(cap)s
) AS u

-- name: tagged
-- Addresses of units, of those that are facts people state or of the others where that is asked, without entries where
-- they are not, grouped by the tags they hold: the filter is then asked once for each set of tags. Where every
-- passing unit must hold one of `needed`, the index of tags is the way in.
SELECT u.tags, array_agg(u.document_number) AS documents, array_agg(u.position) AS positions
FROM memory_unit u
WHERE u.bank = %(bank)s AND u.status = 'active'
  AND (%(sees_all)s OR coalesce(u.audience_id = ANY(%(audiences)s::bigint[]), false))
  AND (%(needed)s::text[] IS NULL OR u.tags && %(needed)s::text[])
  AND (%(facts)s::boolean IS NULL
       OR %(facts)s = EXISTS (SELECT FROM stated_memory s WHERE s.unit = u.id AND s.surface = 'facts'))
  AND (%(entries)s OR NOT EXISTS (SELECT FROM stated_memory s WHERE s.unit = u.id AND s.surface = 'kv'))
GROUP BY u.tags

-- name: units
-- What a hit tells of these units, in the order asked. Laterals with OFFSET 0: a plain join becomes a hash join over the
-- whole bank; and bank and status are asked outside, so that one index fits, whatever the planner knows of the table: by
-- any other it would read the bank for each unit. Empty metadata come as null, which needs no parsing; null too are the
-- entities of a unit without any. What it is from and what it names stand in its own audience, so one set of
-- audiences is made, not four.
SELECT asked.place, u.id, u.text, u.fact_type, u.context, u.occurred_start, u.occurred_end, u.mentioned_at,
       u.mentioned_at_assumed, u.tags, nullif(u.metadata, '{}') AS metadata, d.id AS document_id, d.is_placed, u.chunk, c.ordinal AS chunk_ordinal,
       named.ids AS entity_ids, named.names AS entity_names
FROM unnest(%(documents)s::integer[], %(positions)s::integer[]) WITH ORDINALITY AS asked (document, position, place)
CROSS JOIN LATERAL (
    SELECT m.id, m.text, m.fact_type, m.context, m.occurred_start, m.occurred_end, m.mentioned_at,
           m.mentioned_at_assumed, m.tags, m.metadata, m.document, m.chunk, m.bank, m.audience_id, m.status
    FROM memory_unit m
    WHERE m.document_number = asked.document AND m.position = asked.position
      AND (%(sees_all)s OR m.audience_id IN (SELECT unnest(%(audiences)s::bigint[])))
    OFFSET 0
) AS u
LEFT JOIN LATERAL (SELECT x.id, x.is_placed FROM document x WHERE x.number = u.document
                     AND x.audience_id = u.audience_id OFFSET 0) AS d ON true
LEFT JOIN LATERAL (SELECT x.ordinal FROM chunk x WHERE x.id = u.chunk
                     AND x.audience_id = u.audience_id OFFSET 0) AS c ON true
CROSS JOIN LATERAL (
    SELECT array_agg(e.id) AS ids, array_agg(e.name) AS names
    FROM (SELECT x.id, x.name FROM unit_entity ue
          CROSS JOIN LATERAL (SELECT e.id, coalesce(n.name, e.name) AS name FROM entity e
                              LEFT JOIN entity_name n ON n.bank = %(bank)s AND n.audience_id = u.audience_id AND n.key = e.key
                                  AND n.entity = e.id
                              WHERE e.id = ue.entity OFFSET 0) AS x
          WHERE ue.unit = u.id ORDER BY x.name, x.id) AS e
) AS named
WHERE u.bank = %(bank)s AND u.status = 'active'
ORDER BY asked.place

-- name: sources
-- The facts that these observations stand on, the newest first: where they are, and the chunks that they were drawn from.
SELECT asked.observation, f.id, f.document_number AS document, f.position, f.chunk
FROM unnest(%(observations)s::uuid[]) AS asked (observation)
CROSS JOIN LATERAL (SELECT s.source FROM observation_source s
                    WHERE s.observation = asked.observation AND s.bank = %(bank)s
                      AND (%(sees_all)s OR s.audience_id IN (SELECT unnest(%(audiences)s::bigint[]))) OFFSET 0) AS held
CROSS JOIN LATERAL (SELECT m.id, m.document_number, m.position, m.chunk, m.status FROM memory_unit m
                    WHERE m.id = held.source
                      AND (%(sees_all)s OR m.audience_id IN (SELECT unnest(%(audiences)s::bigint[]))) OFFSET 0) AS f
WHERE f.status = 'active'
ORDER BY asked.observation, f.id DESC

-- name: chunks
-- The texts that these units were drawn from, as far as they are kept: not those that say what was forgotten or
-- is no longer active.
SELECT c.id, c.text, c.ordinal, d.id AS document_id, d.is_placed
FROM chunk c JOIN document d ON d.number = c.document
WHERE c.bank = %(bank)s AND c.id = ANY(%(chunks)s::uuid[]) AND c.text IS NOT NULL AND NOT c.withheld
  AND (%(sees_all)s OR c.audience_id IN (SELECT unnest(%(audiences)s::bigint[])))
  AND (%(sees_all)s OR d.audience_id IN (SELECT unnest(%(audiences)s::bigint[])))
  AND NOT EXISTS (SELECT 1 FROM memory_unit u
                  WHERE u.chunk = c.id AND u.status <> 'active'
                    AND (%(sees_all)s OR u.audience_id IN (SELECT unnest(%(audiences)s::bigint[]))))
  AND NOT EXISTS (SELECT 1 FROM unit_mention m JOIN memory_unit u ON u.id = m.unit
                  WHERE m.chunk = c.id AND m.audience_id = u.audience_id AND u.status <> 'active'
                    AND (%(sees_all)s OR u.audience_id IN (SELECT unnest(%(audiences)s::bigint[]))))
