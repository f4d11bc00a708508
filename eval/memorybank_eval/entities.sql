-- Which entity each mention became: the fact, the keys under which it names the entity, the entity.
SELECT DISTINCT u.text AS fact, coalesce(ue.keys, ARRAY[e.key]) AS keys, ue.entity
FROM memory_unit u
JOIN unit_entity ue ON ue.unit = u.id
JOIN entity e ON e.id = ue.entity
WHERE u.bank = %(bank)s
