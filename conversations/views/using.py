"""What an answer used: the memories in its block, how well they fit, and where they are from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from django.conf import settings
from django.db.models import QuerySet

from conversations.models import Message
from memories.models import Memory, RecallHit, Source
from ops.models import User


@dataclass(frozen=True)
class Used:
    """One memory in an answer. Constraints are in it even where they don't fit: no `percent`."""

    memory: Memory
    percent: int | None
    source: Source | None


@dataclass(frozen=True)
class Panel:
    """What stands beside the conversation about one answer."""

    answer: Message | None
    used: Sequence[Used] = ()
    others: Counter[str] = field(default_factory=Counter)


def panel_of(user: User, answer: Message | None) -> Panel:
    if answer is None:
        return Panel(None)
    hits = list(_hits(user, [answer]).order_by("rank"))
    wanted = [hit.target_public_id for hit in hits if hit.type == "memory"]
    memories = {
        one.public_id: one for one in Memory.objects.filter(user=user, public_id__in=wanted)
    }
    sources = _sources(user, list(memories.values()))
    used = [
        Used(memories[hit.target_public_id], _percent(hit), sources.get(memory.pk))
        for hit in hits
        if (memory := memories.get(hit.target_public_id)) is not None
    ]
    return Panel(answer, used, Counter(hit.type for hit in hits if hit.type != "memory"))


def counts_of(user: User, answers: Sequence[Message]) -> Counter[int]:
    """How many memories each answer used, of those that are still there."""
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


def _percent(hit: RecallHit) -> int | None:
    relevance = hit.components.get("raw_relevance", 0)
    return round(100 * relevance) if relevance >= settings.RELEVANCE_FLOOR else None


def _sources(user: User, memories: Sequence[Memory]) -> dict[int, Source]:
    """The newest words that each rests on."""
    found = (
        Source.objects.filter(user=user, memory__in=memories, turn__isnull=False)
        .exclude(quote="")
        .select_related("turn")
        .order_by("pk")
    )
    return {one.memory_id: one for one in found}
