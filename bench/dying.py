"""A worker (or web process) that dies at chosen moments, started by `bench/forgetting.py`.

The process reads one JSON order per line from stdin, and forks children that carry out the order.
The answer is one JSON line: the moments at which children died (`died`), and the moments that a
child survived for the first time (`passed`).

| order | what the children do |
|---|---|
| `step` | drain; kill -9 in a step of kind `aim` (empty: any kind) in which no child has died \
yet; if none is left, at the first moment at which no child has died |
| `full` | drain; no file can grow beyond a few hundred bytes, as on a full disk |
| `clock` | drain with a clock that is `hours` ahead (negative: behind) |
| `plain` | drain |
| `request` | answer one request; kill -9 at its first moment at which no child has died yet |
| `work` | request the operations (of kind `aim`) that normally a timer or a page requests |
| `kinds` | list the kinds of operations |
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

_PATIENCE = 30.0  # seconds; a child that takes longer is killed and reported as stuck
_DRAINING = 6.0
_FULL = 600  # bytes
_AGAIN = 0.02  # probability of dying at a moment at which another child died
_IN_STEP, _PASSING = 0.5, 0.2  # probabilities: in a step without a death; before such a step
_LEADING = {"summarize": ("index_episode", "extract_turn")}  # kinds that enqueue the key
Say = Callable[[str, Any], None]


@dataclass
class ReportedMoments:
    """The moments reported by earlier children. A forked child inherits them."""

    died: set[str] = field(default_factory=set)
    passed: set[str] = field(default_factory=set)

    def chance(self, moment: str) -> float:
        """Return the probability that a child dies at a moment.

        Children die mostly in steps in which no child has died yet, until there are no such steps.
        """
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
    known = ReportedMoments()
    for line in sys.stdin:
        print(json.dumps(_obey(json.loads(line), known)), flush=True)


def _warm_up() -> None:
    """Load the modules and models that every child would otherwise load itself."""
    from django.db import connection
    from django.urls import get_resolver

    from memories import language_steps
    from memories.extraction.types import TurnText  # noqa: F401 # imports the rules
    from memories.indexing import search_index

    search_index.embed(["A first text."])
    language_steps.extractor(), language_steps.arbiter()
    get_resolver().url_patterns  # noqa: B018 # loads every view
    connection.close()


def _obey(order: Mapping[str, Any], known: ReportedMoments) -> Mapping[str, Any]:
    answer: dict[str, Any] = {"died": [], "passed": []}
    until = time.monotonic() + order.get("seconds", 60)
    for _ in range(order.get("deaths", 1)):
        outcome = _child(order, known)
        known.died.update(outcome["died"])
        known.passed.update(outcome["passed"])
        answer = {**outcome, **{name: answer[name] + outcome[name] for name in ("died", "passed")}}
        if not outcome["died"] or time.monotonic() > until:
            break
    return answer


def _child(order: Mapping[str, Any], known: ReportedMoments) -> dict[str, Any]:
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        with suppress(BaseException), os.fdopen(write, "w") as pipe:
            _do(order, known, pipe)
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        content, stuck = _listen(pipe)
    if stuck:
        os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return _parse(content, stuck=stuck)


def _listen(pipe: Any) -> tuple[bytes, bool]:
    """Return the output of a child, and whether it took too long."""
    content, until = b"", time.monotonic() + _PATIENCE
    while time.monotonic() < until:
        if not select.select([pipe], [], [], 0.5)[0]:
            continue
        more = os.read(pipe.fileno(), 65_536)
        if not more:
            return content, False
        content += more
    return content, True


def _parse(content: bytes, *, stuck: bool) -> dict[str, Any]:
    outcome: dict[str, Any] = {"died": ["stuck"] if stuck else [], "passed": []}
    for line in content.splitlines():
        name, value = json.loads(line)
        if isinstance(outcome.get(name), list):
            outcome[name].append(value)
        else:
            outcome[name] = value
    return outcome


def _do(order: Mapping[str, Any], known: ReportedMoments, pipe: Any) -> None:
    from ops import registry

    random.seed(os.urandom(8))

    def say(name: str, value: Any) -> None:
        pipe.write(json.dumps([name, value]) + "\n")
        pipe.flush()

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
    if aim:  # other kinds are left to other workers
        registry.handled_kinds = lambda: {aim, *_LEADING.get(aim, ())}
    if aim == "build_index":  # there must be an index to build or to drop
        settings.OWN_INDEX_FROM = random.choice([2, 1_000_000])
    with as_system():  # the leases of dead children and of a stopped worker
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
