"""Celery's beat scheduler. It only sends messages, and loads neither tasks nor Django apps."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memcenter.settings")
app = Celery("memcenter", fixups=[])
app.config_from_object("django.conf:settings", namespace="CELERY")
