-- Who there is: organizations, people, agents and the places where they talk; and the keys by which they are known.
-- Ids are the caller's: `external_id` as given, `id` itself where that is a UUID, else made from it.

CREATE TABLE organization (
    id            uuid PRIMARY KEY,
    external_id   text NOT NULL UNIQUE,
    name          text NOT NULL,
    -- Whether its agents and people may use Band's memories.
    memory_access boolean NOT NULL DEFAULT true,
    created_at    timestamptz NOT NULL,
    updated_at    timestamptz NOT NULL
);

CREATE TABLE person (
    id           uuid PRIMARY KEY,
    external_id  text NOT NULL UNIQUE,
    name         text NOT NULL,
    handle       text NOT NULL,
    email        text,
    organization uuid REFERENCES organization,
    role         text NOT NULL CHECK (role IN ('owner', 'member')),
    created_at   timestamptz NOT NULL,
    updated_at   timestamptz NOT NULL
);

-- An agent remembers in one bank; a bank may have several. The bank is named, not referenced: it appears on first use.
CREATE TABLE agent (
    id           uuid PRIMARY KEY,
    external_id  text NOT NULL UNIQUE,
    name         text NOT NULL,
    handle       text NOT NULL,
    description  text NOT NULL,
    owner        uuid REFERENCES person,
    organization uuid REFERENCES organization,
    bank_id      text NOT NULL,
    created_at   timestamptz NOT NULL,
    updated_at   timestamptz NOT NULL
);
CREATE INDEX agent_owner ON agent (owner);
CREATE INDEX agent_organization ON agent (organization);
CREATE INDEX agent_bank ON agent (bank_id);

-- A thread has a root, which is never a thread, and stands in for it: kind, members and agent are the root's.
CREATE TABLE place (
    id           uuid PRIMARY KEY,
    external_id  text NOT NULL UNIQUE,
    kind         text NOT NULL CHECK (kind IN ('public', 'private', 'dm')),
    organization uuid REFERENCES organization,
    -- The one agent that talks there; without it, every agent of the organization may.
    agent        uuid REFERENCES agent ON DELETE CASCADE,
    root         uuid NOT NULL REFERENCES place ON DELETE CASCADE,
    title        text NOT NULL,
    created_at   timestamptz NOT NULL,
    updated_at   timestamptz NOT NULL,
    CHECK (kind <> 'dm' OR agent IS NOT NULL)
);
CREATE INDEX place_root ON place (root);
CREATE INDEX place_agent ON place (agent);

-- Members of roots only.
CREATE TABLE place_member (
    place  uuid NOT NULL REFERENCES place ON DELETE CASCADE,
    person uuid NOT NULL REFERENCES person ON DELETE CASCADE,
    PRIMARY KEY (place, person)
);
CREATE INDEX place_member_person ON place_member (person);

-- A key is known by its hash alone. No row is ever deleted: where one has been, nobody is let in without a key.
CREATE TABLE api_key (
    id           uuid PRIMARY KEY,
    hash         bytea NOT NULL UNIQUE,
    prefix       text NOT NULL,
    name         text NOT NULL,
    kind         text NOT NULL CHECK (kind IN ('operator', 'person', 'agent')),
    principal    uuid,
    -- The banks that an operator's key opens; null: all.
    banks        text[],
    created_at   timestamptz NOT NULL,
    last_used_at timestamptz,
    revoked_at   timestamptz,
    CHECK ((kind = 'operator') = (principal IS NULL)),
    CHECK (kind = 'operator' OR banks IS NULL)
);
CREATE INDEX api_key_principal ON api_key (principal);

-- What a browser holds instead of a key; it ends with its key.
CREATE TABLE session (
    hash       bytea PRIMARY KEY,
    key        uuid NOT NULL REFERENCES api_key,
    expires_at timestamptz NOT NULL
);
CREATE INDEX session_expires ON session (expires_at);

-- Whoever may hold a key, with all that decides what they may see: `agents` are an agent itself or those of a person.
CREATE VIEW principal AS
SELECT 'person' AS kind, p.id, p.organization, p.role, coalesce(o.memory_access, true) AS memory_access,
       ARRAY(SELECT a.id FROM agent a WHERE a.owner = p.id ORDER BY a.id) AS agents,
       ARRAY(SELECT a.bank_id FROM agent a WHERE a.owner = p.id ORDER BY a.id) AS agent_banks,
       ARRAY(SELECT m.place FROM place_member m WHERE m.person = p.id) AS places
FROM person p LEFT JOIN organization o ON o.id = p.organization
UNION ALL
SELECT 'agent', a.id, a.organization, NULL, coalesce(o.memory_access, true), ARRAY[a.id], ARRAY[a.bank_id], '{}'::uuid[]
FROM agent a LEFT JOIN organization o ON o.id = a.organization;

-- Which columns name the circle of each kind. A subject, a person or an agent, stands in `person`; without an
-- organization it is the matter of the agent that said so.
ALTER TABLE audience ADD CONSTRAINT audience_form CHECK (
    num_nonnulls(organization, agent, person, place) = CASE kind
        WHEN 'bank' THEN 0 WHEN 'subject' THEN 2 WHEN 'dm' THEN 2 ELSE 1 END
    AND CASE kind
        WHEN 'agent' THEN agent IS NOT NULL
        WHEN 'subject' THEN person IS NOT NULL AND place IS NULL
        WHEN 'organization' THEN organization IS NOT NULL
        WHEN 'place' THEN place IS NOT NULL
        WHEN 'dm' THEN agent IS NOT NULL AND person IS NOT NULL
        ELSE true END
);
-- Across banks: what an organization knows, what is said of somebody.
CREATE INDEX audience_organization ON audience (organization) WHERE organization IS NOT NULL;
CREATE INDEX audience_agent ON audience (agent) WHERE agent IS NOT NULL;
CREATE INDEX audience_person ON audience (person) WHERE person IS NOT NULL;
CREATE INDEX audience_place ON audience (place) WHERE place IS NOT NULL;
