-- The roles, the database and its extensions. The one-command run and a production database are
-- prepared by this same file; running it again changes nothing but the passwords.
--
--   psql -d postgres -v owner_password=... -v app_password=... [-v database=memcenter] -f roles.sql
--
-- as a superuser (vector is no trusted extension, and only a superuser hands out BYPASSRLS).
--   memcenter_owner   owns the database and all tables, migrates       MEMCENTER_OWNER_DATABASE_URL
--   memcenter_app     runs everything else, is under row security      DATABASE_URL
--   memcenter_system  work across users: SET LOCAL ROLE inside a transaction; nobody logs in as it
\set ON_ERROR_STOP on
\set QUIET on
\if :{?database} \else \set database memcenter \endif
SET client_min_messages = warning;

SELECT format('CREATE ROLE %I', role)
  FROM unnest(ARRAY['memcenter_owner', 'memcenter_app', 'memcenter_system']) AS role
 WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role) \gexec
ALTER ROLE memcenter_owner WITH LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS PASSWORD :'owner_password';
ALTER ROLE memcenter_app WITH LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS PASSWORD :'app_password';
ALTER ROLE memcenter_system WITH NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE BYPASSRLS;
-- The app becomes memcenter_system only where it says so, never by inheritance.
GRANT memcenter_system TO memcenter_app WITH INHERIT FALSE, SET TRUE;

SELECT format('CREATE DATABASE %I OWNER memcenter_owner TEMPLATE template0 ENCODING ''UTF8''', :'database')
 WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = :'database') \gexec
\connect :"database"
SET client_min_messages = warning;

ALTER SCHEMA public OWNER TO memcenter_owner;
CREATE EXTENSION IF NOT EXISTS vector;
CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE EXTENSION IF NOT EXISTS btree_gin;

-- Under row security an index serves only conditions that can't tell what they looked at. This one
-- compares arrays of texts as = does, which counts as such; without it the index of words would
-- lie idle for people with very many memories.
ALTER FUNCTION pg_catalog.arrayoverlap(anyarray, anyarray) LEAKPROOF;

-- MAINTAIN lets the app vacuum what it has erased; without it VACUUM only warns and skips.
GRANT USAGE ON SCHEMA public TO memcenter_app, memcenter_system;
ALTER DEFAULT PRIVILEGES FOR ROLE memcenter_owner IN SCHEMA public
  GRANT SELECT, INSERT, UPDATE, DELETE, MAINTAIN ON TABLES TO memcenter_app, memcenter_system;
ALTER DEFAULT PRIVILEGES FOR ROLE memcenter_owner IN SCHEMA public
  GRANT USAGE, SELECT ON SEQUENCES TO memcenter_app, memcenter_system;

-- What was forgotten is erased from the data folder as well: tables and the planner's notes are
-- written anew, and a new segment of the write-ahead log is begun. Needed only where PostgreSQL's
-- files lie in the data folder.
GRANT pg_checkpoint TO memcenter_app;
GRANT EXECUTE ON FUNCTION pg_switch_wal() TO memcenter_app;
GRANT MAINTAIN ON pg_statistic, pg_statistic_ext_data TO memcenter_app;
