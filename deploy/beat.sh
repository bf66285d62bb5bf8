#!/bin/sh
# The clock: exactly one of it.
exec python -m celery --quiet -A memcenter.beat:app beat --loglevel=WARNING \
  --schedule "${MEMCENTER_DATA_DIR:-/data}/celerybeat-schedule" --pidfile=
