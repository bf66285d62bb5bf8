"""Learn from several queued turns of a user in one transaction.

The turns are processed in order, each as if it were the only turn. The transaction also marks the
operations of the other turns as succeeded, so a killed process leaves either all results or none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db import OperationalError

from foundation.database import statements
from memories.extraction.types import Extraction
from memories.forgetting.spoken_requests import ForgetOutcome
from memories.indexing import search_index
from memories.learning import turn_learning
from memories.learning.turn_context import LoadedTurn, RolePlays
from memories.learning.turn_learning import CandidateDraft
from memories.writing.verdict_writes import AppliedVerdict
from ops.models import User
from ops.queue.run import QueuedOperation, Run, lock_queued, succeed_queued

TOGETHER = 15  # maximum number of operations processed together with the running one
# Shorter than PostgreSQL's deadlock_timeout, so that a deadlock never cancels the user's own
# request.
_LOCK_TIMEOUT = "SELECT set_config('lock_timeout', '500ms', true)"


@dataclass(frozen=True)
class _Lesson:
    """A turn with its extraction.

    `operation` is the key of the turn's queued operation, or None for the running operation.
    """

    operation: int | None
    loaded: LoadedTurn
    extraction: Extraction


def learn(
    run: Run, *, user: User, queued: Sequence[QueuedOperation], loaded: Mapping[int, LoadedTurn]
) -> Mapping[str, Any] | None:
    """Learn from the turns together, and return the running operation's result.

    Return None if the running operation must be processed on its own: its turn asks to forget or
    used tools, no other turn can be processed with it, or another transaction has locked a needed
    row.
    """
    lessons = list(_lessons(run, queued, loaded))
    if len(lessons) < 2 or lessons[0].operation is not None:
        return None
    contents = [one.content for lesson in lessons for one in lesson.extraction.undecided]
    embedded = iter(search_index.embed_memories(contents))
    texts = [
        turn_learning.text_of_turn(one.loaded.turn, user=user, project=one.loaded.project)
        for one in lessons
    ]
    drafts = [
        [
            turn_learning.prepare(one, text, embedded=next(embedded))
            for one in lesson.extraction.undecided
        ]
        for lesson, text in zip(lessons, texts, strict=True)
    ]
    try:
        with run.applying(user):
            statements.rows(_LOCK_TIMEOUT)
            return _learn_drafts(run, lessons, drafts, user=user, held=lock_queued(queued))
    except OperationalError:
        return None


def result_of(
    decided: Sequence[AppliedVerdict],
    extraction: Extraction,
    *,
    forget: ForgetOutcome | None = None,
) -> dict[str, Any]:
    """Return the result to store in an operation that learned from a turn.

    The result contains ids but no text.
    """
    return {
        "memories": [
            {"id": one.memory.public_id, "result": one.result, "verdict": one.verdict.value}
            for one in decided
        ],
        "refused": len(extraction.refused),
        **({"forget": forget.as_payload} if forget is not None else {}),
    }


def _lessons(
    run: Run, queued: Sequence[QueuedOperation], loaded: Mapping[int, LoadedTurn]
) -> Iterator[_Lesson]:
    """Yield lessons up to, but not including, the first turn that needs a run of its own.

    Later turns are left out too, since they may depend on the result of that turn.
    """
    waiting = [(None, run.payload["turn"]), *((one.pk, one.payload["turn"]) for one in queued)]
    role_plays: dict[int, RolePlays] = defaultdict(RolePlays)
    for operation, turn in waiting:
        found = loaded.get(turn)
        if found is None:
            continue
        run.switch_to(operation)
        role_play = role_plays[found.turn.conversation_id]
        found = replace(found, text=role_play.in_context(found.text))
        extraction = turn_learning.extract_from(found)
        role_play.note(found.text.user, extraction.role_play)
        if extraction.forget or found.turn.tools:
            return
        yield _Lesson(operation, found, extraction)


def _learn_drafts(
    run: Run,
    lessons: Sequence[_Lesson],
    drafts: Sequence[Sequence[CandidateDraft]],
    *,
    user: User,
    held: set[int],
) -> Mapping[str, Any]:
    results: dict[int | None, Mapping[str, Any]] = {}
    for lesson, candidates in zip(lessons, drafts, strict=True):
        if lesson.operation is None or lesson.operation in held:
            run.switch_to(lesson.operation)
            decided = [turn_learning.arbitrate_and_apply(one) for one in candidates]
            turn_learning.mark_processed(user, lesson.loaded.turn, lesson.extraction)
            found = [one for one in decided if one is not None]
            turn_learning.share_earlier_texts(lesson.extraction.undecided, decided, user=user)
            results[lesson.operation] = result_of(found, lesson.extraction)
    run.switch_to(None)
    own = results.pop(None)
    succeed_queued({pk: one for pk, one in results.items() if pk is not None})
    return own
