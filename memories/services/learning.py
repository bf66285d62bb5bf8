"""Learning from several turns of one person at once, where many wait.

Each turn is heard, decided on and marked as if it were alone, in their order, but in one
transaction, which ends the operations of the others too. So a kill leaves all of it or nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import OperationalError

from memcenter.lib import statements
from memories.extraction.types import Extraction
from memories.services import indexing, ingest
from memories.services.deciding import Decided
from memories.services.ingest import Taught
from memories.services.listening import Heard
from memories.services.requests import Outcome
from ops.models import User
from ops.services import along
from ops.services.along import Beside
from ops.services.worker import Run

TOGETHER = 15  # operations beside the one that runs
# Shorter than PostgreSQL waits before it looks for a deadlock: it is never the person's own
# request that is broken off.
_IMPATIENT = "SELECT set_config('lock_timeout', '500ms', true)"


@dataclass(frozen=True)
class _Lesson:
    """One turn; `operation` is None for the one that runs."""

    operation: int | None
    heard: Heard
    extraction: Extraction


def learn(
    run: Run, *, user: User, beside: Sequence[Beside], heard: Mapping[int, Heard]
) -> Mapping[str, Any] | None:
    """Give what the running operation tells; None where it has to be done alone.

    It must be alone when its turn asks to forget or ran tools, when no other goes with it, and
    when somebody holds a row that it needs.
    """
    lessons = list(_lessons(run, beside, heard))
    if len(lessons) < 2 or lessons[0].operation is not None:
        return None
    taught = _taught(lessons)
    try:
        with run.applying(user):
            statements.rows(_IMPATIENT)
            return _applied(run, lessons, taught, user=user, held=along.hold(beside))
    except OperationalError:
        return None


def told(
    decided: Sequence[Decided], extraction: Extraction, *, forget: Outcome | None = None
) -> dict[str, Any]:
    """What an operation that learned from a turn says of it, by ids."""
    return {
        "memories": [
            {"id": one.memory.public_id, "result": one.result, "verdict": one.verdict.value}
            for one in decided
        ],
        "refused": len(extraction.refused),
        **({"forget": forget.told} if forget is not None else {}),
    }


def _lessons(run: Run, beside: Sequence[Beside], heard: Mapping[int, Heard]) -> Iterator[_Lesson]:
    """Up to the first turn that has to be alone: what comes after it may rest on it."""
    waiting = [(None, run.payload["turn"]), *((one.pk, one.payload["turn"]) for one in beside)]
    for operation, turn in waiting:
        one = heard.get(turn)
        if one is None:
            continue
        run.turn_to(operation)
        extraction = ingest.extract_from(one)
        if extraction.forget or one.turn.tools:
            return
        yield _Lesson(operation, one, extraction)


def _taught(lessons: Sequence[_Lesson]) -> list[list[Taught]]:
    """The candidates of each lesson, embedded all at once."""
    contents = [one.content for lesson in lessons for one in lesson.extraction.candidates]
    embedded = iter(indexing.embed_memories(contents))
    return [
        [
            ingest.teach(
                one, turn=lesson.heard.turn, project=lesson.heard.project, embedded=next(embedded)
            )
            for one in lesson.extraction.candidates
        ]
        for lesson in lessons
    ]


def _applied(
    run: Run,
    lessons: Sequence[_Lesson],
    taught: Sequence[Sequence[Taught]],
    *,
    user: User,
    held: set[int],
) -> Mapping[str, Any]:
    results: dict[int | None, Mapping[str, Any]] = {}
    for lesson, candidates in zip(lessons, taught, strict=True):
        if lesson.operation is None or lesson.operation in held:
            run.turn_to(lesson.operation)
            decided = [ingest.decide_here(one, user=user) for one in candidates]
            ingest.mark(user, lesson.heard.turn, lesson.extraction)
            found = [one for one in decided if one is not None]
            results[lesson.operation] = told(found, lesson.extraction)
    run.turn_to(None)
    own = results.pop(None)
    along.succeed({pk: one for pk, one in results.items() if pk is not None})
    return own
