"""The memories in an answer's block, the reasons and their sources."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from django.db.models import QuerySet

from conversations.models import Message
from memories.models import Kind, Memory, RecallHit, Source
from memories.pages import recall_words
from ops.models import User


@dataclass(frozen=True)
class Used:
    """A memory in an answer, with the reason in words."""

    memory: Memory
    why: str
    source: Source | None


@dataclass(frozen=True)
class Panel:
    """The panel about one answer."""

    answer: Message | None
    used: Sequence[Used] = ()
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
    used = [
        Used(memory, _why(hit, memory), sources.get(memory.pk))
        for hit in hits
        if (memory := memories.get(hit.target_public_id)) is not None
    ]
    return Panel(answer, used, Counter(hit.type for hit in hits if hit.type != "memory"))


def counts_of(user: User, answers: Sequence[Message]) -> Counter[int]:
    """Return how many existing memories each answer used."""
    hits = _hits(user, answers).filter(type="memory")
    pairs = list(hits.values_list("trace__answer", "target_public_id").distinct())
    present = set(
        Memory.objects.filter(user=user, public_id__in={one for _, one in pairs}).values_list(
            "public_id", flat=True
        )
    )
    return Counter(answer for answer, memory in pairs if memory in present)


def _hits(user: User, answers: Sequence[Message]) -> QuerySet[RecallHit]:
    return RecallHit.objects.filter(user=user, trace__answer__in=answers, in_block=True)


def _why(hit: RecallHit, memory: Memory) -> str:
    always = memory.kind == Kind.CONSTRAINT or memory.pinned or memory.standing
    return recall_words.why(
        hit.components, asked=hit.trace.query, text=memory.content, always=always
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
