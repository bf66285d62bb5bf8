import os
import sys
from multiprocessing.util import Finalize
from threading import Thread

from django.conf import settings
from django.core.wsgi import get_wsgi_application

from foundation import deferred_writes, process

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memcenter.settings")
application = get_wsgi_application()
_STOPPING_SECONDS = 3.0  # less than the server waits for a stopping worker


# A stopping worker first finishes the deferred writes of its last answers. Workers are
# `multiprocessing` processes, which skip the handlers of `atexit`.
Finalize(
    None, deferred_writes.wait_until_done, kwargs={"within": _STOPPING_SECONDS}, exitpriority=1
)

# A hanging request may block all other requests of its process. Such a process is ended, and the
# server starts a new one.
process.write_dump_to(sys.stderr)
process.end_when_stuck(settings.WEB_STUCK_SECONDS)


def _warm_up() -> None:
    from memories.language_steps import preload

    preload()


Thread(target=_warm_up, daemon=True, name="warm-up").start()
