"""The Celery app. Its tasks process the operations in PostgreSQL; task messages carry no data."""

import os
import sys

from celery import Celery

from foundation import paths

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memcenter.settings")
_path = [*sys.path]
app = Celery("memcenter")
# Celery prepends the current folder to `sys.path`, and a module in that folder could shadow one of
# ours. Restore the path, and make sure that it contains our own folder.
_here = str(paths.BASE_DIR)
sys.path[:] = _path if _here in _path else [_here, *_path]
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["ops", "conversations", "memories"])


def run_worker(processes: int) -> None:
    """Run a worker until it is stopped, then exit with its exit code.

    Unlike the command `celery worker`, this function doesn't load the libraries of Celery's
    interactive shell.
    """
    worker = app.Worker(
        concurrency=processes,
        loglevel="WARNING",
        quiet=True,
        without_gossip=True,
        without_mingle=True,
    )
    worker.start()
    sys.exit(worker.exitcode)
