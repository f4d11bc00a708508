-- name: add
-- audience: rows are only added, for an audience that the caller has made out
-- A memory at an address of its own, so that nobody is its neighbour.
INSERT INTO memory_unit (id, bank, audience_id, document_number, position, fact_type, text, statement, mentioned_at,
                         pinned_at, kept_by_kind, kept_by, source_kind, source_ref, source_place, source_person, source_at,
                         created_at, updated_at)
VALUES (%(id)s, %(bank)s, %(audience_id)s, nextval('document_number'), 0, %(fact_type)s, %(text)s, %(statement)s, %(at)s,
        CASE WHEN %(pinned)s THEN %(now)s END, %(kept_by_kind)s, %(kept_by)s, %(source_kind)s, %(source_ref)s,
        %(source_place)s, %(source_person)s, %(source_at)s, %(now)s, %(now)s)
RETURNING document_number

-- name: describe
-- What it has as a stated memory; here its agent's facts are counted, and the rules on facts held.
INSERT INTO stated_memory (unit, surface, agent, terms, system, type, segment, thought, metadata)
VALUES (%(id)s, %(surface)s, %(agent)s, %(terms)s, %(system)s, %(type)s, %(segment)s, %(thought)s, %(metadata)s)

-- name: hold_place
-- Nobody makes a place private until what was said there is kept, for then it goes along. Before the lock on facts.
SELECT 1 FROM place WHERE id = %(place)s FOR SHARE

-- name: said_in_public
-- audience: an operator's change of the directory finds what must become narrower, in whatever bank
-- What whole organizations know because it was said in this place, by bank; not what an owner has told them.
SELECT u.bank, array_agg(u.id) AS ids
FROM stated_memory s JOIN memory_unit u ON u.id = s.unit JOIN audience a ON a.id = u.audience_id
WHERE s.surface = 'facts' AND a.kind = 'organization' AND u.source_kind <> 'person' AND u.source_place = %(place)s
GROUP BY u.bank ORDER BY u.bank

-- name: unmention
-- audience: the caller has found these units, and moves them to another audience
-- What documents of the old audience say goes on without them.
DELETE FROM unit_mention WHERE unit = ANY(%(ids)s::uuid[])

-- name: move
-- audience: the caller has found these units, under the lock on facts
-- Search rows follow by foreign key; what was learned goes, and is learned again in the new audience.
UPDATE memory_unit SET audience_id = %(audience_id)s, updated_at = %(now)s WHERE id = ANY(%(ids)s::uuid[])

-- name: get
-- One memory in any state, in one bank or whichever.
SELECT u.* FROM remembered u
WHERE u.id = %(id)s AND (%(bank)s::bigint IS NULL OR u.bank = %(bank)s)
  AND (%(sees_all)s OR u.audience_id = ANY(%(audiences)s::bigint[])
       OR u.surface = 'band' AND u.circle IN ('subject', 'organization') AND u.source_place = ANY(%(rooms)s::uuid[]))

-- name: list
-- A page, the newest first: by key, or by offset and with the total. `stated`: nothing else, by the index of these. What
-- was not stated has its terms where recall finds them.
SELECT u.*, CASE WHEN %(counted)s THEN count(*) OVER () END AS total
FROM remembered u
WHERE (%(bank)s::bigint IS NULL OR u.bank = %(bank)s)
  AND (%(sees_all)s OR u.audience_id = ANY(%(audiences)s::bigint[])
       OR u.surface = 'band' AND u.circle IN ('subject', 'organization') AND u.source_place = ANY(%(rooms)s::uuid[]))
  AND u.status = ANY(%(statuses)s::text[])
  AND (NOT %(stated)s OR u.document IS NULL AND u.fact_type <> 'observation')
  AND (%(kind)s::text IS NULL OR u.memory_kind = %(kind)s)
  AND (%(surface)s::text IS NULL OR u.surface = %(surface)s)
  AND (%(circle)s::text IS NULL OR u.circle = %(circle)s)
  AND (%(place)s::uuid IS NULL OR u.place = %(place)s)
  AND (%(subject)s::uuid IS NULL OR u.circle = 'subject' AND u.person = %(subject)s)
  AND (%(author)s::uuid IS NULL OR u.kept_by = %(author)s)
  AND (%(said_in)s::uuid[] IS NULL OR u.source_place = ANY(%(said_in)s))
  AND (%(pinned)s::boolean IS NULL OR (u.pinned_at IS NOT NULL) = %(pinned)s)
  AND (%(system)s::text IS NULL OR u.system = %(system)s)
  AND (%(type)s::text IS NULL OR u.type = %(type)s)
  AND (%(segment)s::text IS NULL OR u.segment = %(segment)s)
  AND (%(terms)s::bigint[] IS NULL OR u.terms @> %(terms)s
       OR u.terms IS NULL AND %(terms)s <@ ARRAY(
            SELECT p.term FROM posting p WHERE p.bank = u.bank AND p.document = u.document_number
              AND p.position = u.position AND (%(sees_all)s OR p.audience_id = ANY(%(audiences)s::bigint[]))))
  AND (%(after_id)s::uuid IS NULL OR (u.created_at, u.id) < (%(after_at)s, %(after_id)s))
ORDER BY u.created_at DESC, u.id DESC
LIMIT %(limit)s OFFSET %(offset)s

-- name: first_for
-- What an agent is told first where it is: pinned memories, then those that recall has ranked, then the newest.
SELECT u.* FROM remembered u
WHERE u.bank = %(bank)s AND (%(sees_all)s OR u.audience_id = ANY(%(audiences)s::bigint[]))
  AND u.status = 'active' AND u.document IS NULL AND u.fact_type <> 'observation' AND u.surface = 'facts'
ORDER BY u.pinned_at IS NULL, array_position(%(ranked)s::uuid[], u.id) NULLS LAST, u.created_at DESC, u.id DESC
LIMIT %(limit)s

-- name: pin
-- A pin stays where it is when it is put again.
UPDATE memory_unit u SET pinned_at = CASE WHEN %(pinned)s THEN coalesce(u.pinned_at, %(now)s) END
WHERE u.id = %(id)s AND u.bank = %(bank)s AND (%(sees_all)s OR u.audience_id = ANY(%(audiences)s::bigint[]))

-- name: set_source
-- audience: the memory was found under the viewer, and is locked
-- Who says it from now on.
UPDATE memory_unit
SET source_kind = %(source_kind)s, source_ref = %(source_ref)s, source_place = %(source_place)s,
    source_person = %(source_person)s, source_at = %(source_at)s
WHERE id = %(id)s

-- name: reword
-- What lists find a stated memory by, in its new words.
UPDATE stated_memory SET terms = %(terms)s WHERE unit = %(id)s
