-- Whom and what units name.

-- What names mean. A label (`key:value`) and a name of the same letters are two entities; so are two things of one name
-- (a bot and a planet), of which the second has a sense. Counts are never stored: they would tell one viewer of what
-- another keeps, and they deadlock.
CREATE TABLE entity (
    id         uuid PRIMARY KEY,
    bank       bigint NOT NULL REFERENCES bank ON DELETE CASCADE,
    key        text NOT NULL,
    sense      text NOT NULL DEFAULT '',
    is_label   boolean NOT NULL DEFAULT false,
    name       text NOT NULL,
    metadata   jsonb NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL,
    UNIQUE (bank, key, sense, is_label)
);

-- What a key means in an audience: an entity's own name, what a text called it, what is as good as its name, a part of a
-- person's name. What people merged has the entity it went into (`merged_into`, at its own name) and the last one of all
-- that it counts as (`root`, at each name).
CREATE TABLE entity_name (
    bank        bigint NOT NULL REFERENCES bank ON DELETE CASCADE,
    audience_id bigint NOT NULL,
    key         text NOT NULL,
    entity      uuid NOT NULL REFERENCES entity ON DELETE CASCADE,
    rule        text NOT NULL CHECK (rule IN ('own', 'alias', 'same', 'part')),
    name        text NOT NULL,
    kind        text NOT NULL DEFAULT '',
    merged_into uuid,
    root        uuid REFERENCES entity ON DELETE CASCADE,
    PRIMARY KEY (bank, audience_id, key, entity),
    FOREIGN KEY (bank, audience_id) REFERENCES audience (bank, id) ON DELETE CASCADE
);
CREATE INDEX entity_name_entity ON entity_name (entity);
CREATE INDEX entity_name_root ON entity_name (root) WHERE root IS NOT NULL;

-- `keys` and `via`, side by side: by which keys the unit names the entity, and which entity each of them means by itself.
-- None: by its own key, itself. `chunk` is the one that names it: a row goes when that no longer says the unit.
CREATE TABLE unit_entity (
    unit   uuid NOT NULL REFERENCES memory_unit ON DELETE CASCADE,
    entity uuid NOT NULL REFERENCES entity ON DELETE CASCADE,
    bank   bigint NOT NULL,
    chunk  uuid,
    keys   text[],
    via    uuid[],
    UNIQUE NULLS NOT DISTINCT (unit, entity, chunk),
    CHECK (cardinality(keys) = cardinality(via))
);
CREATE INDEX unit_entity_entity ON unit_entity (entity, unit);
CREATE INDEX unit_entity_bank ON unit_entity (bank);

-- The names of a unit's entities, as they are called in its audience: others may have written them otherwise. It reads no
-- unit: whoever may see the unit may see what it names.
CREATE FUNCTION entity_names(asked uuid, audience bigint) RETURNS text[]
LANGUAGE sql STABLE PARALLEL SAFE
RETURN (SELECT coalesce(array_agg(coalesce(n.name, e.name) ORDER BY coalesce(n.name, e.name)), '{}')
        FROM (SELECT DISTINCT ue.entity FROM unit_entity ue WHERE ue.unit = asked) AS said
        JOIN entity e ON e.id = said.entity
        LEFT JOIN entity_name n ON n.bank = e.bank AND n.audience_id = audience AND n.key = e.key AND n.entity = e.id);
