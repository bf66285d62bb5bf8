"""Learn skills: sequences of tool calls that succeeded for the same kind of request more than once.

The sources of a skill are the turns in which it worked. Its successes and failures are recounted
from the turns each time, so that a repeated run or a forgotten turn never leads to a miscount.

Skills aren't compared with similar memories by an arbiter: two skills with similar requests are
different if their steps differ, so a skill is recognised by its steps and turns. The log of
verdicts contains skills too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.conf import settings

from conversations.models import Turn
from foundation.database import statements
from foundation.providers.base import Vectors
from memories.extraction.message_reading import habits
from memories.extraction.message_reading.habits import Step, Workflow
from memories.extraction.types import Verdict
from memories.forgetting import tombstones
from memories.indexing import search_index
from memories.learning import learnability, turn_context
from memories.models import Arbitration, Kind, Memory, MemoryStatus, Origin, Source
from memories.writing import memory_writes, verdict_effects
from memories.writing.memory_writes import Draft, SourceInput
from ops.access import as_user
from ops.accounts import users
from ops.models import User
from ops.queue.run import Run

_LATEST = 100  # number of latest turns with tools that are read
_MIN_SIMILARITY = 0.4  # minimum cosine of two requests of the same kind
_IMPORTANCE = 0.5


@dataclass(frozen=True)
class _Skill:
    steps: tuple[Step, ...]
    worked: Sequence[Workflow]
    failed: Sequence[Workflow]
    vectors: Vectors
    pieces: Sequence[str]

    @property
    def confidence(self) -> float:
        return habits.workflow_confidence(successes=len(self.worked), failures=len(self.failed))

    @property
    def data(self) -> Mapping[str, object]:
        return {
            "tools": [name for name, _ in self.steps],
            "successes": len(self.worked),
            "failures": len(self.failed),
        }


def learn(run: Run, *, user: User, turn: Turn) -> list[Memory]:
    """Update the skills whose tool calls this turn repeats; return their memories.

    A sequence that worked in two turns becomes a skill. Failures lower its confidence, and a skill
    below `SKILL_FLOOR` is archived. Safe to repeat.
    """
    own = habits.workflow_of(turn.pk, request=turn.user_message.content, tools=turn.tools)
    if own is None or not learnability.may_teach(turn):
        return []
    with as_user(user):
        turns = _turns(user, turn)
    found = [
        _known(own, steps, alike)
        for alike in [_similar_workflows(own, turns)]
        for steps in _proven_steps(own, alike)
    ]
    with run.applying(user):
        if not users.settings_held(user).longterm_enabled:
            return []
        return [one for skill in found if (one := _keep(user, skill, turn))]


def _turns(user: User, turn: Turn) -> list[Turn]:
    rows = Turn.objects.filter(user=user, project_key=turn.project_key, pk__lte=turn.pk)
    with_tools = learnability.teachable_turns(rows).exclude(tools=[]).select_related("user_message")
    return list(with_tools.order_by("-pk")[:_LATEST])[::-1]


def _similar_workflows(own: Workflow, turns: Sequence[Turn]) -> list[Workflow]:
    found = [
        one
        for turn in turns
        if (one := habits.workflow_of(turn.pk, request=turn.user_message.content, tools=turn.tools))
        and own.names[:1] == one.names[:1]
    ]
    vectors = search_index.embed([own.request, *(one.request for one in found)])
    return [
        one
        for one, likeness in zip(found, vectors[1:] @ vectors[0], strict=True)
        if one.turn == own.turn or likeness >= _MIN_SIMILARITY
    ]


def _proven_steps(own: Workflow, alike: Sequence[Workflow]) -> list[tuple[Step, ...]]:
    """Return the sequences of steps that worked often enough and that the turn of `own` repeats.

    The turn either succeeded with exactly these steps or failed at one of them.
    """
    worked: dict[tuple[Step, ...], int] = defaultdict(int)
    for workflow in alike:
        worked[workflow.steps] += workflow.worked
    return [
        steps
        for steps, count in worked.items()
        if count >= habits.FEWEST_SUCCESSES
        and (steps == own.steps if own.worked else own in habits.failures_of(steps, [own]))
    ]


def _known(own: Workflow, steps: tuple[Step, ...], alike: Sequence[Workflow]) -> _Skill:
    worked = [workflow for workflow in alike if workflow.worked and workflow.steps == steps]
    vectors, pieces = search_index.embed_memory(worked[0].statement)
    return _Skill(steps, worked, habits.failures_of(steps, alike), vectors, pieces)


def _keep(user: User, skill: _Skill, turn: Turn) -> Memory | None:
    turns = {
        one.pk: one
        for one in Turn.objects.select_for_update(of=("self",))
        .filter(user=user, pk__in=[one.turn for one in skill.worked])
        .select_related("user_message", "assistant_message")
        .order_by("pk")
    }
    if len(turns) != len(skill.worked):
        return None
    memory = (
        Memory.visible.select_for_update(of=("self",))
        .select_related("user")
        .filter(user=user, kind=Kind.SKILL, origin=Origin.EXTRACTED, sources__turn__in=turns)
        .order_by("pk")
        .first()
    )
    if memory is None:
        memory = _create(user, skill, turns)
    if memory is None or memory.deleted_at is not None:
        return None
    # Add the turns in which the skill worked as sources. Unlike other repetitions
    # (`memory_writes.reinforce`), they change neither importance nor confidence: the confidence is
    # counted from the turns.
    version = memory_writes.current_version(memory)
    known = set(Source.objects.filter(version=version).values_list("turn", flat=True))
    for one in skill.worked:
        if one.turn not in known:
            memory_writes.add_repetition(memory, version, source=_source(one, turns))
            log = _log_entry(memory.user, one, turns, verdict=Verdict.SKIP)
            log.memory = memory
            statements.insert([log])
    memory.confidence = skill.confidence
    memory.data = {**memory.data, **skill.data}
    low = skill.confidence < settings.SKILL_FLOOR
    works_again = not low and memory.status == MemoryStatus.ARCHIVED
    if works_again:
        memory.status = MemoryStatus.ACTIVE
    memory.save(update_fields=["confidence", "data", "status", "updated_at"])
    if works_again:
        memory_writes.announce_change(memory)
    elif low and memory.status == MemoryStatus.ACTIVE and not memory.pinned:
        verdict_effects.archive([memory], user=user, at=None)  # search must not find failing steps
    return memory


def _create(user: User, skill: _Skill, turns: Mapping[int, Turn]) -> Memory | None:
    first = skill.worked[0]
    provenance = learnability.provenance_of_turns(turns.values())
    forgotten = tombstones.is_forgotten(
        user=user, text=first.statement, quote="", provenance=provenance
    )
    if forgotten or skill.confidence < settings.SKILL_FLOOR:
        return None
    draft = Draft(
        content=first.statement,
        kind=Kind.SKILL,
        vectors=skill.vectors,
        pieces=skill.pieces,
        importance=_IMPORTANCE,
        confidence=skill.confidence,
        project=turn_context.project_of(turns[first.turn]),
    )
    waits = users.settings_of(user).confirm_before_remembering
    status = MemoryStatus.CANDIDATE if waits else MemoryStatus.ACTIVE
    return memory_writes.create(
        draft,
        user=user,
        source=_source(first, turns),
        status=status,
        reason="workflow",
        verdict=_log_entry(user, first, turns, verdict=Verdict.ADD),
    )


def _source(workflow: Workflow, turns: Mapping[int, Turn]) -> SourceInput:
    message = turns[workflow.turn].user_message
    quote = workflow.request.rstrip("…")
    start = max(0, message.content.find(quote))
    return SourceInput(
        origin=Origin.EXTRACTED,
        turn=turns[workflow.turn],
        message=message,
        quote=quote,
        quote_start=start,
    )


def _log_entry(
    user: User, workflow: Workflow, turns: Mapping[int, Turn], *, verdict: Verdict
) -> Arbitration:
    return verdict_effects.new_log_entry(
        verdict,
        user=user,
        candidate_text=workflow.statement,
        decided_by="rule",
        reasons=["workflow"],
        turn=turns[workflow.turn],
    )
