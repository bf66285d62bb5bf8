"""The cost of learning from a turn: record, extract, arbitrate, write and index.

    .venv/bin/python bench/background.py [--turns N] [--people N]

The dev turns of `bench/data/extraction` are recorded and learned from in this process, against
its own databases: first one turn at a time, then from a backlog of several people. The figures are
this process's processor time, which depends less on a busy machine than wall time. `floor_ms`, a
transaction of ten small prepared statements, shows how busy the machine was. The work of the
database appears only in the wall time. Embedding is reported separately, because its cost depends
on the chosen embedder.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.extraction import read_turns
from bench.labelled import LANGUAGES
from bench.product import print_result
from foundation.embedded.backup import migrate_if_needed
from foundation.embedded.databases import Instance
from foundation.embedded.folder import DataFolder

if TYPE_CHECKING:
    from conversations.models import Conversation
    from ops.models import User


@dataclass
class Clock:
    """Processor and wall seconds by name. A nested section counts for the outer name too."""

    processor: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    wall: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    @contextmanager
    def timing(self, name: str) -> Iterator[None]:
        began, began_wall = time.process_time(), time.perf_counter()
        try:
            yield
        finally:
            self.processor[name] += time.process_time() - began
            self.wall[name] += time.perf_counter() - began_wall

    def timed(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def within(*arguments: Any, **named: Any) -> Any:
            with self.timing(name):
                return call(*arguments, **named)

        return within


def texts(count: int) -> list[tuple[str, str]]:
    turns = [row for language in LANGUAGES for row in read_turns(language) if row.part == "dev"]
    return [(row.turn.user.text, row.turn.assistant.text) for row in turns][:count]


def people(count: int) -> list[tuple[User, Conversation]]:
    from conversations.recording import conversation_names
    from ops.access import as_system, as_user
    from ops.accounts import users

    made = []
    for _ in range(count):
        with as_system():
            user = users.find_or_create(f"bench-{uuid4()}")
        with as_user(user):
            made.append((user, conversation_names.create(user=user, external_id=None)))
    return made


def record(turn: tuple[str, str], *, of: tuple[User, Conversation], clock: Clock) -> None:
    from conversations.recording import turns
    from conversations.recording.turns import MessageInput
    from ops.access import as_user

    user, conversation = of
    with clock.timing("record"), as_user(user):
        turns.record_turn(
            user=user,
            conversation=conversation,
            user_message=MessageInput(turn[0]),
            assistant_message=MessageInput(turn[1] or "I see."),
        )


def one_by_one(turns: Sequence[tuple[str, str]], clock: Clock) -> int:
    """Learn from each turn before recording the next. Return the number of operations run."""
    from ops.queue import worker

    (who,) = people(1)
    ran = 0
    for turn in turns:
        record(turn, of=who, clock=clock)
        with clock.timing("learn"):
            ran += worker.drain()
    return ran


def from_a_backlog(turns: Sequence[tuple[str, str]], clock: Clock, *, of: int) -> int:
    """Record all turns, spread over `of` people, then run the worker."""
    from ops.queue import worker

    crowd = people(of)
    for place, turn in enumerate(turns):
        record(turn, of=crowd[place % of], clock=clock)
    with clock.timing("learn"):
        return worker.drain()


def floor(turns: int, clock: Clock) -> None:
    """Time a lower bound per turn: a transaction of ten small prepared statements."""
    from django.db import transaction

    from foundation.database import statements

    for _ in range(turns):
        with clock.timing("floor"), transaction.atomic():
            for _ in range(10):
                statements.rows("SELECT id FROM ops_operation WHERE id = %s", [1])


def measured(count: int, *, of: int) -> dict[str, dict[str, float | int]]:
    import django

    django.setup()
    from foundation.providers.embedders import BundledEmbedder
    from foundation.text import segment, tokens
    from memories.learning import turn_learning
    from ops.queue import broker

    broker.wake = lambda: None  # there is no other worker to wake
    BundledEmbedder().embed(["warm"])
    tokens.count("warm")  # loading the tables takes half a second once per process
    segment.terms("暖和 warm")
    embed, extract = BundledEmbedder.embed, turn_learning.extract
    turns = texts(count)
    one_by_one(turns[:5], Clock())
    found: dict[str, dict[str, float | int]] = {}
    for name, run in (
        ("one_by_one", one_by_one),
        ("from_a_backlog", partial(from_a_backlog, of=of)),
    ):
        clock = Clock()
        BundledEmbedder.embed = clock.timed("embed", embed)  # type: ignore[method-assign]
        turn_learning.extract = clock.timed("extract", extract)
        found[name] = {"operations": run(turns, clock), "people": 1 if run is one_by_one else of}
        floor(len(turns), clock)
        found[name] |= figures(clock, turns=len(turns))
    return found


def figures(clock: Clock, *, turns: int) -> dict[str, float | int]:
    """Return milliseconds of processor time per turn; `wall_ms` is wall time."""
    spent = {name: 1000 * seconds / turns for name, seconds in clock.processor.items()}
    whole = spent["record"] + spent["learn"]
    without = whole - spent["embed"]
    return {
        "turns": turns,
        "turns_per_second_per_core": round(1000 / without, 1),
        "with_embedding": round(1000 / whole, 1),
        "without_embedding_ms": round(without, 2),
        **{f"{name}_ms": round(spent[name], 2) for name in ("record", "extract", "embed")},
        "floor_ms": round(spent["floor"], 2),
        "over_floor": round(without / spent["floor"], 1),
        "wall_ms": round(1000 * (clock.wall["record"] + clock.wall["learn"]) / turns, 2),
    }


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--turns", type=int, default=298)
    parser.add_argument("--people", type=int, default=10)
    options = parser.parse_args(arguments)
    os.environ["DJANGO_SETTINGS_MODULE"] = "memcenter.settings"
    with tempfile.TemporaryDirectory(prefix="memcenter-bench-") as folder:
        instance = Instance(DataFolder(Path(folder) / "data"))
        os.environ.update(instance.environment())
        with instance.borrowed(prepare=migrate_if_needed):
            for way, found in measured(options.turns, of=options.people).items():
                print_result({"way": way, **found})


if __name__ == "__main__":
    main(sys.argv[1:])
