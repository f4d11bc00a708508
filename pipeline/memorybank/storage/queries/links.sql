-- name: add
-- audience: the targets were found under the audience of a claim
-- New links. Facts that they point to are kept from being deleted; one that is being deleted or moved right now is passed
-- over: a link is a hint and not worth waiting for, least of all in a circle.
INSERT INTO unit_link (source, target, kind, weight, bank)
SELECT made.source, made.target, made.kind, made.weight, %(bank)s
FROM unnest(%(sources)s::uuid[], %(targets)s::uuid[], %(kinds)s::text[], %(weights)s::real[])
     AS made (source, target, kind, weight)
JOIN (SELECT id FROM memory_unit WHERE id = ANY(%(targets)s::uuid[]) FOR KEY SHARE SKIP LOCKED) AS held
  ON held.id = made.target
ON CONFLICT DO NOTHING
