"""Celery's clock. It only says what is due: neither the tasks nor the app are loaded for it."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memcenter.settings")
app = Celery("memcenter", fixups=[])
app.config_from_object("django.conf:settings", namespace="CELERY")
