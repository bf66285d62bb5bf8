#!/bin/sh
# Runs operations. A worker that is stopped finishes what it does; one that is killed loses nothing.
[ "$MEMCENTER_PROFILE" = small ] && : "${WORKERS:=1}"
exec python -m celery --quiet -A memcenter.celery:app worker -c "${WORKERS:-2}" \
  --loglevel=WARNING --without-gossip --without-mingle
