#!/bin/sh
# The web server. On SIGTERM it takes no more connections and gives what it has begun to its end.
[ "$MEMCENTER_PROFILE" = small ] && : "${WEB_WORKERS:=1}"
exec python -m granian --interface wsgi --host "${MEMCENTER_HOST:-127.0.0.1}" --port "${PORT:-8000}" \
  --workers "${WEB_WORKERS:-2}" --blocking-threads "${WEB_THREADS:-16}" \
  --workers-kill-timeout "${STOP_SECONDS:-30}" --respawn-failed-workers --no-ws \
  --log-level warning memcenter.wsgi:application
