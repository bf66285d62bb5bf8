"""What learning from a turn costs: record, extract, arbitrate, write, index; and embedding beside.

    .venv/bin/python bench/background.py [--turns N]

The dev turns of `bench/data/extraction` are recorded and learned from in this process, against
databases of its own. Counted is this process's processor time, so that a busy machine doesn't
change the figure; the database's part shows in the wall time. Embedding is timed where it happens
and told apart, because its cost depends on the embedder that is chosen.
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
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.extraction import read_turns
from bench.labelled import LANGUAGES
from bench.product import print_result
from memcenter.embedded.folder import DataFolder
from memcenter.embedded.instance import Instance
from memcenter.embedded.schema import migrate_if_needed


@dataclass
class Clock:
    """Processor and wall seconds by name; what runs inside something else is counted in both."""

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
    turns = [one for language in LANGUAGES for one in read_turns(language) if one.part == "dev"]
    return [(one.turn.user.text, one.turn.assistant.text) for one in turns][:count]


def learn(said: Sequence[tuple[str, str]], clock: Clock) -> int:
    """Record the turns and run all that they set off; gives the number of operations run."""
    from conversations.services import threads, turns
    from conversations.services.turns import MessageInput
    from ops.access import as_system, as_user
    from ops.services import broker, users, worker

    broker.wake = lambda: None  # nobody else works here
    with as_system():
        user = users.find_or_create("bench")
    with as_user(user):
        conversation = threads.create(user=user, external_id=None)
    ran = 0
    for user_text, reply in said:
        with clock.timing("record"), as_user(user):
            turns.record_turn(
                user=user,
                conversation=conversation,
                user_message=MessageInput(user_text),
                assistant_message=MessageInput(reply or "I see."),
            )
        with clock.timing("learn"):
            ran += worker.drain()
    return ran


def measured(count: int) -> dict[str, float | int]:
    import django

    django.setup()
    from memcenter.providers.bundled import BundledEmbedder
    from memories.services import ingest

    clock = Clock()
    BundledEmbedder().embed(["warm"])
    BundledEmbedder.embed = clock.timed("embed", BundledEmbedder.embed)  # type: ignore[method-assign]
    ingest.extract = clock.timed("extract", ingest.extract)
    said = texts(count)
    ran = learn(said, clock)
    spent = clock.processor
    without = spent["record"] + spent["learn"] - spent["embed"]
    return {
        "turns": len(said),
        "operations": ran,
        "turns_per_second_per_core": round(len(said) / without, 1),
        "with_embedding": round(len(said) / (spent["record"] + spent["learn"]), 1),
        "embedding_ms_per_turn": round(1000 * spent["embed"] / len(said), 2),
        "extract_ms_per_turn": round(1000 * spent["extract"] / len(said), 2),
        "record_ms_per_turn": round(1000 * spent["record"] / len(said), 2),
        "wall_ms_per_turn": round(
            1000 * (clock.wall["record"] + clock.wall["learn"]) / len(said), 2
        ),
    }


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--turns", type=int, default=298)
    options = parser.parse_args(arguments)
    os.environ["DJANGO_SETTINGS_MODULE"] = "memcenter.settings"
    with tempfile.TemporaryDirectory(prefix="memcenter-bench-") as folder:
        instance = Instance(DataFolder(Path(folder) / "data"))
        os.environ.update(instance.environment())
        with instance.borrowed(prepare=migrate_if_needed):
            print_result(measured(options.turns))


if __name__ == "__main__":
    main(sys.argv[1:])
