#!/bin/sh
# Once, when the database is made: the roles, with the passwords of the secrets.
set -eu
psql --quiet --no-psqlrc -U "$POSTGRES_USER" -d postgres --file=- <<SQL
\\set owner_password '$(cat /run/secrets/owner_password)'
\\set app_password '$(cat /run/secrets/app_password)'
\\i /roles.sql
SQL
