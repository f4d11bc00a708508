-- What the superuser runs once in template1 of a new embedded cluster, over standard input (postgres --single). One
-- statement a line, no line breaks inside; a comment is a line of its own.
-- The only extension; in the templates, so that every database made later has it and no superuser is needed again.
CREATE EXTENSION vector;
-- pg_restore and careful tools copy template0: make it anew from template1, extension included.
UPDATE pg_database SET datistemplate = false WHERE datname = 'template0';
DROP DATABASE template0;
CREATE DATABASE template0 TEMPLATE template1 IS_TEMPLATE true ALLOW_CONNECTIONS false;
-- The owner of everything: no superuser; may create databases (a copy for tests, a restore beside the old one).
CREATE ROLE memorybank LOGIN CREATEDB;
CREATE DATABASE memorybank OWNER memorybank TEMPLATE template1;
