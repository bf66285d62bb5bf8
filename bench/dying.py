"""A worker (or web process) that dies at chosen moments; `bench/forgetting.py` runs it beside.

It reads one JSON order a line from stdin, has children obey it, and answers one JSON line: at
which moments they died (`died`) and which they lived through for the first time (`passed`).

| order | what its children do and meet |
|---|---|
| `step` | drain; kill -9 at the first moment of the kinds `at` at which none died yet |
| `full` | drain; no file may grow beyond a few hundred bytes, as on a full disk |
| `clock` | drain by a clock that is `hours` ahead (or behind) |
| `plain` | drain |
| `request` | answer one request; kill -9 at the first moment of it at which none died yet |
| `work` | ask for the work that otherwise only comes with the hours or from a page |
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

from bench import moments

_PATIENCE = 30.0  # seconds for one child; one that takes longer is killed and reported as stuck
_DRAINING = 6.0
_FULL = 600  # bytes
_AGAIN = 0.02  # how often a child dies where another one already did
Say = Callable[[str, Any], None]


@dataclass
class Known:
    """What the children so far told; a child inherits it."""

    died: set[str] = field(default_factory=set)
    passed: set[str] = field(default_factory=set)


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

    from memories.extraction.types import TurnText  # noqa: F401 # with the rules
    from memories.services import indexing, providers

    indexing.embed(["A first text."])
    providers.extractor(), providers.arbiter()
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
    random.seed(os.urandom(8))

    def say(name: str, value: Any) -> None:
        told.write(json.dumps([name, value]) + "\n")
        told.flush()

    def passing(moment: str) -> None:
        deadly = order["how"] == "request" or moment.startswith(tuple(order.get("at", ())))
        if deadly and (moment not in known.died or random.random() < _AGAIN):
            say("died", moment)
            os.kill(os.getpid(), signal.SIGKILL)
        if moment not in known.passed:
            known.passed.add(moment)
            say("passed", moment)

    if order["how"] == "request":
        _answer(order, passing, say)
    elif order["how"] == "work":
        _request_work(order["people"])
    else:
        _drain(order, passing)


def _drain(order: Mapping[str, Any], passing: Callable[[str], None]) -> None:
    from django.utils import timezone

    from ops.access import as_system
    from ops.services import outbox, worker

    if order["how"] == "full":
        resource.setrlimit(resource.RLIMIT_FSIZE, (_FULL, _FULL))
    if order["how"] == "clock":
        _shift(timedelta(hours=order["hours"]))
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


def _request_work(people: list[str]) -> None:
    from conversations.models import Conversation
    from conversations.services import layers
    from memories.services import consolidation, own_indexes, reindexing, sessions
    from ops import tasks
    from ops.access import as_system, as_user
    from ops.models import User

    tasks.request_cleanup()
    reindexing.request()
    with as_system():
        own_indexes._enqueue()
        found = list(User.objects.filter(external_id__in=people, hidden_at__isnull=True))
    for user in found:
        with as_user(user), suppress(Exception):  # they may be leaving
            consolidation.request(user=user)
            for conversation in Conversation.objects.filter(user=user):
                sessions.request(conversation)
            layers.delete_layer(user=user, layer=random.choice(["summary", "episode"]))


if __name__ == "__main__":
    main()
