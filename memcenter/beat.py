"""Celery's beat scheduler, which only sends messages and loads neither tasks nor Django apps."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memcenter.settings")
app = Celery("memcenter", fixups=[])
app.config_from_object("django.conf:settings", namespace="CELERY")


def run(schedule: str) -> None:
    """Run the scheduler, which keeps its state in the file `schedule`, until it is stopped."""
    app.Beat(schedule=schedule, loglevel="WARNING", quiet=True).run()
