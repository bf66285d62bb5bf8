"""A worker (or web process) that dies at chosen moments; `bench/forgetting.py` runs it beside.

It reads one JSON order a line from stdin, has children obey it, and answers one JSON line: at
which moments they died (`died`) and which they lived through for the first time (`passed`).

| order | what its children do and meet |
|---|---|
| `step` | drain; kill -9 in a step of the kind `aim` (of any) in which none died yet; where there \
is none left, at the first moment at which none died |
| `full` | drain; no file may grow beyond a few hundred bytes, as on a full disk |
| `clock` | drain by a clock that is `hours` ahead (or behind) |
| `plain` | drain |
| `request` | answer one request; kill -9 at the first moment of it at which none died yet |
| `work` | ask for the work (of the kind `aim`) that else comes with the hours or from a page |
| `kinds` | say which kinds of operations there are |
"""

from __future__ import annotations

import json
import os
import random
import resource
import select
import signal
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from bench import moments, work

_PATIENCE = 30.0  # seconds for one child; one that takes longer is killed and reported as stuck
_DRAINING = 6.0
_FULL = 600  # bytes
_AGAIN = 0.02  # how often a child dies where another one already did
_IN_STEP, _PASSING = 0.5, 0.2  # in a step in which none died; on the way there
_LEADING = {"summarize": ("index_episode", "extract_turn")}  # what asks for an operation
Say = Callable[[str, Any], None]


@dataclass
class Known:
    """What the children so far told; a child inherits it."""

    died: set[str] = field(default_factory=set)
    passed: set[str] = field(default_factory=set)

    def chance(self, moment: str) -> float:
        """How often to die there: every step comes before every moment of a step."""
        if moment in self.died:
            return _AGAIN
        hit = set(map(moments.step_of, self.died))
        if moments.step_of(moment) not in hit:
            return _IN_STEP
        kind = moments.kind_of(moment)
        known = {moments.step_of(one) for one in self.passed if moments.kind_of(one) == kind}
        return _PASSING if known - hit else 1.0


def main() -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "memcenter.settings"
    import django

    django.setup()
    _warm_up()
    known = Known()
    for line in sys.stdin:
        print(json.dumps(_obey(json.loads(line), known)), flush=True)


def _warm_up() -> None:
    """What every child would otherwise load for itself."""
    from django.db import connection
    from django.urls import get_resolver

    from memories import language_steps
    from memories.extraction.types import TurnText  # noqa: F401 # with the rules
    from memories.indexing import search_index

    search_index.embed(["A first text."])
    language_steps.extractor(), language_steps.arbiter()
    get_resolver().url_patterns  # noqa: B018 # loads every view
    connection.close()


def _obey(order: Mapping[str, Any], known: Known) -> Mapping[str, Any]:
    answer: dict[str, Any] = {"died": [], "passed": []}
    until = time.monotonic() + order.get("seconds", 60)
    for _ in range(order.get("deaths", 1)):
        told = _child(order, known)
        known.died.update(told["died"])
        known.passed.update(told["passed"])
        answer = {**told, **{name: answer[name] + told[name] for name in ("died", "passed")}}
        if not told["died"] or time.monotonic() > until:
            break
    return answer


def _child(order: Mapping[str, Any], known: Known) -> dict[str, Any]:
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        with suppress(BaseException), os.fdopen(write, "w") as told:
            _do(order, known, told)
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as said:
        content, stuck = _listen(said)
    if stuck:
        os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return _told(content, stuck=stuck)


def _listen(said: Any) -> tuple[bytes, bool]:
    """All that a child says until it ends, and whether it takes too long."""
    content, until = b"", time.monotonic() + _PATIENCE
    while time.monotonic() < until:
        if not select.select([said], [], [], 0.5)[0]:
            continue
        more = os.read(said.fileno(), 65_536)
        if not more:
            return content, False
        content += more
    return content, True


def _told(content: bytes, *, stuck: bool) -> dict[str, Any]:
    told: dict[str, Any] = {"died": ["stuck"] if stuck else [], "passed": []}
    for line in content.splitlines():
        name, value = json.loads(line)
        if isinstance(told.get(name), list):
            told[name].append(value)
        else:
            told[name] = value
    return told


def _do(order: Mapping[str, Any], known: Known, told: Any) -> None:
    from ops import registry

    random.seed(os.urandom(8))

    def say(name: str, value: Any) -> None:
        told.write(json.dumps([name, value]) + "\n")
        told.flush()

    def passing(moment: str) -> None:
        aimed = order["how"] == "step" and order["aim"] in ("", moments.kind_of(moment))
        if (aimed or order["how"] == "request") and random.random() < known.chance(moment):
            say("died", moment)
            os.kill(os.getpid(), signal.SIGKILL)
        if moment not in known.passed:
            known.passed.add(moment)
            say("passed", moment)

    if order["how"] == "request":
        _answer(order, passing, say)
    elif order["how"] == "work":
        work.request(order["people"], aim=order["aim"])
    elif order["how"] == "kinds":
        say("kinds", sorted(registry.handled_kinds()))
    else:
        _drain(order, passing)


def _drain(order: Mapping[str, Any], passing: Callable[[str], None]) -> None:
    from django.conf import settings
    from django.utils import timezone

    from ops import registry
    from ops.access import as_system
    from ops.queue import outbox, worker

    if order["how"] == "full":
        resource.setrlimit(resource.RLIMIT_FSIZE, (_FULL, _FULL))
    if order["how"] == "clock":
        _shift(timedelta(hours=order["hours"]))
    aim = order.get("aim", "")
    if aim:  # all else is left to others
        registry.handled_kinds = lambda: {aim, *_LEADING.get(aim, ())}
    if aim == "build_index":  # so that there is something to build, or to drop
        settings.OWN_INDEX_FROM = random.choice([2, 1_000_000])
    with as_system():  # of children before, and of a worker that is stopped
        outbox.expire(now=timezone.now() + timedelta(hours=1))
    moments.watch_worker(passing)
    worker.drain(seconds=_DRAINING)


def _shift(by: timedelta) -> None:
    from django.utils import timezone

    real = timezone.now
    timezone.now = lambda: real() + by


def _answer(order: Mapping[str, Any], passing: Callable[[str], None], say: Say) -> None:
    from django.test import Client

    place = moments.watch_requests(passing)
    place.begin(order["name"])
    response = Client(raise_request_exception=False).generic(
        order["method"],
        order["path"],
        data=order["body"].encode(),
        content_type=order["type"],
        headers=order["headers"],
        SERVER_NAME="127.0.0.1",
    )
    place.end()
    say("answer", [response.status_code, response.content.decode()])


if __name__ == "__main__":
    main()
