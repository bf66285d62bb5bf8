"""The memories in an answer's block, the reasons and their sources."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from django.db.models import QuerySet

from conversations.models import Message
from memories.models import Kind, Memory, RecallHit, Source
from memories.pages import recall_words
from ops.models import User

_DECIDES_ALWAYS = ("public_id", "kind", "pinned", "standing")


@dataclass(frozen=True)
class Used:
    """A memory in an answer, with the reason in words."""

    memory: Memory
    why: str
    source: Source | None


@dataclass(frozen=True)
class Panel:
    """The panel about one answer.

    `used` fitted the question; `always` is in every answer, whatever the question.
    """

    answer: Message | None
    used: Sequence[Used] = ()
    always: Sequence[Used] = ()
    others: Counter[str] = field(default_factory=Counter)


def panel_of(user: User, answer: Message | None) -> Panel:
    if answer is None:
        return Panel(None)
    hits = list(_hits(user, [answer]).select_related("trace").order_by("rank"))
    wanted = [hit.target_public_id for hit in hits if hit.type == "memory"]
    memories = {
        one.public_id: one for one in Memory.objects.filter(user=user, public_id__in=wanted)
    }
    sources = _sources(user, list(memories.values()))
    parts: dict[bool, list[Used]] = {True: [], False: []}
    for hit in hits:
        memory = memories.get(hit.target_public_id)
        if memory is not None:
            one = Used(memory, _why(hit, memory), sources.get(memory.pk))
            parts[_is_relevant(hit.components, memory)].append(one)
    others = Counter(hit.type for hit in hits if hit.type != "memory")
    return Panel(answer, parts[True], parts[False], others)


def counts_of(user: User, answers: Sequence[Message]) -> Counter[int]:
    """Return how many existing memories each answer used because they fit the question."""
    hits = _hits(user, answers).filter(type="memory")
    found = list(hits.values_list("trace__answer", "target_public_id", "components"))
    rows = Memory.objects.filter(user=user, public_id__in={one for _, one, _ in found})
    present = {one.public_id: one for one in rows.only(*_DECIDES_ALWAYS)}
    used = {
        (answer, public_id)
        for answer, public_id, components in found
        if public_id in present and _is_relevant(components, present[public_id])
    }
    return Counter(answer for answer, _ in used)


def _hits(user: User, answers: Sequence[Message]) -> QuerySet[RecallHit]:
    return RecallHit.objects.filter(user=user, trace__answer__in=answers, in_block=True)


def _is_always(memory: Memory) -> bool:
    return memory.kind == Kind.CONSTRAINT or memory.pinned or memory.standing


def _is_relevant(components: Mapping[str, float], memory: Memory) -> bool:
    return recall_words.is_relevant(components) or not _is_always(memory)


def _why(hit: RecallHit, memory: Memory) -> str:
    return recall_words.why(
        hit.components, asked=hit.trace.query, text=memory.content, always=_is_always(memory)
    )


def _sources(user: User, memories: Sequence[Memory]) -> dict[int, Source]:
    """Return the newest quotation of each memory."""
    found = (
        Source.objects.filter(user=user, memory__in=memories, turn__isnull=False)
        .exclude(quote="")
        .select_related("turn")
        .order_by("pk")
    )
    return {one.memory_id: one for one in found}
