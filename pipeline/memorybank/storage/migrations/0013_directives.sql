-- Directives: rules that every answer of a bank keeps. They have no audience: one that is hidden from who asks would be off.
CREATE TABLE directive (
    id         uuid PRIMARY KEY,
    bank       bigint NOT NULL REFERENCES bank ON DELETE CASCADE,
    name       text NOT NULL,
    content    text NOT NULL,
    priority   integer NOT NULL,
    is_active  boolean NOT NULL,
    tags       text[] NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL
);
CREATE INDEX directive_bank ON directive (bank, priority DESC, created_at DESC, id DESC);
