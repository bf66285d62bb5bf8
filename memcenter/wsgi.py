import gc
import os
import sys
from multiprocessing.util import Finalize
from threading import Thread

from django.conf import settings
from django.core.wsgi import get_wsgi_application

from memcenter.lib import afterwards, processor_time

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memcenter.settings")
application = get_wsgi_application()
_STOPPING_SECONDS = 3.0  # less than the server gives a worker that stops


# A worker that stops first writes what its last answers owe. Workers are processes of
# `multiprocessing`, which leave without the handlers of `atexit`.
Finalize(None, afterwards.settled, kwargs={"within": _STOPPING_SECONDS}, exitpriority=1)

# A request that hangs holds up all others of its process. The server starts another in its place.
processor_time.write_dump_to(sys.stderr)
processor_time.end_when_stuck(settings.WEB_STUCK_SECONDS)


def _warm_up() -> None:
    """Load the embedder and the dictionaries now, or the first visitor waits seconds for them."""
    from memories.services.search import prepare_query

    prepare_query("warm 热身")
    # What is loaded by now stays: walking through all of it in the middle of a request, to find
    # nothing, cost tens of milliseconds.
    gc.collect()
    gc.freeze()


Thread(target=_warm_up, daemon=True, name="warm-up").start()
