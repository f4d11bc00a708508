-- The two walls: a bank, and in it the audiences that may see a row. A tag is no wall, only a filter.
-- PostgreSQL >= 16 with the extension `vector` >= 0.8, which the migrator creates before the first file runs.

-- The outer wall: recall, reflect, consolidation, entities and statistics never leave a bank.
CREATE TABLE bank (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    bank_id    text NOT NULL UNIQUE,
    name       text NOT NULL,
    config     jsonb NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL
);

-- Who may see a row. A request is resolved once to the ids it may see; every read carries them.
CREATE TABLE audience (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    bank         bigint NOT NULL REFERENCES bank ON DELETE CASCADE,
    kind         text NOT NULL CHECK (kind IN ('bank', 'agent', 'subject', 'organization', 'place', 'dm')),
    organization uuid,
    agent        uuid,
    person       uuid,
    place        uuid,
    UNIQUE NULLS NOT DISTINCT (bank, kind, organization, agent, person, place),
    UNIQUE (bank, id)
);

-- The one rule for tag filters. `any` and `all` let untagged rows in; the strict ones do not; an empty filter lets all
-- in, but for `exact`, where it asks for untagged rows.
CREATE FUNCTION tags_match(held text[], asked text[], mode text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN mode = 'exact' THEN held @> coalesce(asked, '{}') AND held <@ coalesce(asked, '{}')
    WHEN coalesce(cardinality(asked), 0) = 0 THEN true
    WHEN mode = 'any' THEN held && asked OR held = '{}'
    WHEN mode = 'all' THEN held @> asked OR held = '{}'
    WHEN mode = 'any_strict' THEN held && asked
    WHEN mode = 'all_strict' THEN held @> asked
END;
