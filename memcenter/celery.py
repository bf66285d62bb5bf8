"""Celery runs the outbox, which PostgreSQL stores. Task messages are empty."""

import os
import sys

from celery import Celery

from memcenter.lib import places

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memcenter.settings")
_path = [*sys.path]
app = Celery("memcenter")
# Celery puts the current folder first, which may be anybody's. Our modules are here.
_here = str(places.BASE_DIR)
sys.path[:] = _path if _here in _path else [_here, *_path]
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["ops", "conversations", "memories"])
