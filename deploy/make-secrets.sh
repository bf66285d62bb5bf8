#!/bin/sh
# Random secrets for docker-compose.yml, in deploy/secrets; what is there stays.
set -eu
cd "$(dirname "$0")"
umask 077
mkdir -p secrets
random() { od -An -N32 -tx1 /dev/urandom | tr -d ' \n'; }
keep() { [ -e "secrets/$1" ] || printf %s "$2" > "secrets/$1"; }
for name in superuser_password owner_password app_password redis_password secret_key; do
  keep "$name" "$(random)$(random)"
done
keep database_url "postgresql://memcenter_app:$(cat secrets/app_password)@database/memcenter"
keep owner_database_url "postgresql://memcenter_owner:$(cat secrets/owner_password)@database/memcenter"
keep redis_url "redis://:$(cat secrets/redis_password)@redis:6379/0"
keep redis_conf "requirepass $(cat secrets/redis_password)"
# Containers read what is mounted into them as another user than the one who made it. The folder
# isn't mounted, and nobody else of this machine may enter it.
chmod 0700 secrets
chmod a+r secrets/* Caddyfile database.sh ../foundation/roles.sql
