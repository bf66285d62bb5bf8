#!/bin/sh
# The web server. On SIGTERM it takes no more connections and finishes its answers. On SIGHUP it
# replaces its processes one after the other: once the new one listens, the old one ends as on
# SIGTERM. Waiting connections move over where net.ipv4.tcp_migrate_req is 1.
[ "$MEMCENTER_PROFILE" = small ] && : "${WEB_WORKERS:=1}"
exec python -m memcenter.web --interface wsgi --host "${MEMCENTER_HOST:-127.0.0.1}" --port "${PORT:-8000}" \
  --workers "${WEB_WORKERS:-2}" --blocking-threads "${WEB_THREADS:-16}" \
  --workers-kill-timeout "${STOP_SECONDS:-30}" --respawn-failed-workers --no-ws \
  --log-level warning memcenter.wsgi:application
