-- name: hold
-- Lets one after the other change the directives of a bank, so that their limits hold.
SELECT id FROM bank WHERE id = %(bank)s FOR NO KEY UPDATE

-- name: held
-- How many directives a bank has, and how many characters those that are active have together.
SELECT count(*) AS count, coalesce(sum(length(content)) FILTER (WHERE is_active), 0) AS characters
FROM directive WHERE bank = %(bank)s

-- name: add
-- A new directive.
INSERT INTO directive (id, bank, name, content, priority, is_active, tags, created_at, updated_at)
VALUES (%(id)s, %(bank)s, %(name)s, %(content)s, %(priority)s, %(is_active)s, %(tags)s, %(now)s, %(now)s)
RETURNING id, name, content, priority, is_active, tags, created_at, updated_at

-- name: get
-- One directive.
SELECT id, name, content, priority, is_active, tags, created_at, updated_at FROM directive
WHERE bank = %(bank)s AND id = %(id)s

-- name: page
-- Directives, the most important first.
SELECT id, name, content, priority, is_active, tags, created_at, updated_at FROM directive
WHERE bank = %(bank)s AND tags_match(tags, %(tags)s::text[], %(tags_match)s) AND (is_active OR NOT %(active_only)s)
ORDER BY priority DESC, created_at DESC, id DESC
LIMIT %(limit)s OFFSET %(offset)s

-- name: count
-- How many directives a list has over all its pages.
SELECT count(*) AS total FROM directive
WHERE bank = %(bank)s AND tags_match(tags, %(tags)s::text[], %(tags_match)s) AND (is_active OR NOT %(active_only)s)

-- name: in_scope
-- What an answer must keep: of the active ones those without tags, and those that share one with the request.
SELECT id, name, content, priority, is_active, tags, created_at, updated_at FROM directive
WHERE bank = %(bank)s AND is_active AND (%(everything)s OR tags = '{}' OR tags && %(tags)s::text[])
ORDER BY priority DESC, created_at DESC, id DESC

-- name: update
-- None leaves a field as it is.
UPDATE directive SET
    name = coalesce(%(name)s, name), content = coalesce(%(content)s, content), priority = coalesce(%(priority)s, priority),
    is_active = coalesce(%(is_active)s, is_active), tags = coalesce(%(tags)s::text[], tags), updated_at = %(now)s
WHERE bank = %(bank)s AND id = %(id)s
RETURNING id, name, content, priority, is_active, tags, created_at, updated_at

-- name: delete
-- One directive.
DELETE FROM directive WHERE bank = %(bank)s AND id = %(id)s
