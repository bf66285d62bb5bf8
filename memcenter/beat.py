"""Celery's scheduler, which only sends messages and loads neither the tasks nor the app."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memcenter.settings")
app = Celery("memcenter", fixups=[])
app.config_from_object("django.conf:settings", namespace="CELERY")
