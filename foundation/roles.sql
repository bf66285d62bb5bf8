-- The roles, the database and its extensions. This file prepares the databases of the one-command
-- run and of production. Running it again changes only the passwords.
--
--   psql -d postgres -v owner_password=... -v app_password=... [-v database=memcenter] -f roles.sql
--
-- as a superuser (vector isn't a trusted extension, and only a superuser may grant BYPASSRLS).
--   memcenter_owner   owns the database and all tables, migrates       MEMCENTER_OWNER_DATABASE_URL
--   memcenter_app     runs everything else, with row security          DATABASE_URL
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
-- The app must switch to memcenter_system explicitly; it inherits no rights from it.
GRANT memcenter_system TO memcenter_app WITH INHERIT FALSE, SET TRUE;

SELECT format('CREATE DATABASE %I OWNER memcenter_owner TEMPLATE template0 ENCODING ''UTF8''', :'database')
 WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = :'database') \gexec
\connect :"database"
SET client_min_messages = warning;

ALTER SCHEMA public OWNER TO memcenter_owner;
CREATE EXTENSION IF NOT EXISTS vector;
CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE EXTENSION IF NOT EXISTS btree_gin;

-- Under row security, an index is used only for leakproof conditions. This function compares arrays
-- of texts as = does, which is leakproof. Without this mark, the index of words would not be used
-- for people with very many memories.
ALTER FUNCTION pg_catalog.arrayoverlap(anyarray, anyarray) LEAKPROOF;

-- MAINTAIN lets the app vacuum tables after erasing rows; without it, VACUUM warns and skips them.
GRANT USAGE ON SCHEMA public TO memcenter_app, memcenter_system;
ALTER DEFAULT PRIVILEGES FOR ROLE memcenter_owner IN SCHEMA public
  GRANT SELECT, INSERT, UPDATE, DELETE, MAINTAIN ON TABLES TO memcenter_app, memcenter_system;
ALTER DEFAULT PRIVILEGES FOR ROLE memcenter_owner IN SCHEMA public
  GRANT USAGE, SELECT ON SEQUENCES TO memcenter_app, memcenter_system;

-- Rights to erase forgotten rows from the data folder: tables and statistics are rewritten, and the
-- write-ahead log switches to a new segment. Needed only if PostgreSQL's files are in the data
-- folder.
GRANT pg_checkpoint TO memcenter_app;
GRANT EXECUTE ON FUNCTION pg_switch_wal() TO memcenter_app;
GRANT MAINTAIN ON pg_statistic, pg_statistic_ext_data TO memcenter_app;
