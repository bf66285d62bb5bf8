"""Celery runs the outbox; Postgres owns it. Task messages carry nothing at all."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memcenter.settings")
app = Celery("memcenter")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["ops", "conversations", "memories"])
