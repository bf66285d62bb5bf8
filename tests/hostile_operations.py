"""Handlers for a worker of the tests, instead of real ones: they do what an attack does.

What they do stands in the payload: `hang` in a regular expression, `work` for long without
holding the interpreter, or `die` at the first try.
"""

from __future__ import annotations

import os
import re
import signal
import time

from ops import registry
from ops.models import Kind
from ops.queue.run import Run, lock_queued, succeed_queued

SHORT, LONG, TOGETHER = Kind.REVISE_MEMORY, Kind.REINDEX, Kind.INDEX_MEMORY
_CATASTROPHIC = re.compile(r"(a|a)+$")


def act(run: Run) -> None:
    do(run, str(run.payload.get("act", "")))


def act_together(run: Run) -> None:
    """As learning does with the turns of one person that wait."""
    user = run.user()
    assert user is not None
    with run.applying(user):
        queued = run.find_queued(limit=15)
        held = lock_queued(queued)
        do(run, str(run.payload.get("act", "")))
        for one in queued:
            run.switch_to(one.pk)
            do(run, str(one.payload.get("act", "")))
        succeed_queued(dict.fromkeys(held))


def do(run: Run | None, what: str) -> None:
    if what == "hang":
        _CATASTROPHIC.match("a" * 60 + "b")
    elif what == "die" and run is not None and run.operation.attempt == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    elif what.isdigit():
        until = time.process_time() + int(what)
        while time.process_time() < until:
            pass


def replace_handlers() -> None:
    handlers = {SHORT.value: act, LONG.value: act, TOGETHER.value: act_together}
    registry._handlers |= handlers
