"""What the turns of a conversation taught, and whether one is still being learned from."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.urls import reverse
from django.utils import timezone
from django.utils.translation import ngettext

from conversations.models import Turn, Withheld
from memories.extraction.types import Verdict
from memories.models import Arbitration, Memory, MemoryStatus, Refusal
from ops.models import Kind, Operation, Status, User

TRIES = 20
_LATELY = timedelta(minutes=15)
_UPDATES = (Verdict.REPLACE, Verdict.MERGE)


@dataclass(frozen=True)
class Lessons:
    """What came of one turn. While `tries` are left the page asks again."""

    turn: Turn
    learned: Sequence[Memory] = ()
    updated: Sequence[Memory] = ()
    waiting: Sequence[Memory] = ()
    refused: int = 0
    is_learning: bool = False
    tries: int = 0

    @property
    def taught(self) -> Sequence[Memory]:
        return [*self.learned, *self.updated]

    @property
    def is_withheld(self) -> bool:
        """Whether the person asked not to keep it."""
        return self.turn.user_message.withheld == Withheld.ASKED

    @property
    def chips(self) -> list[dict[str, Any]]:
        """One chip for each thing that happened; a single memory is opened by its chip."""
        learned = ngettext("%(n)d memory learned", "%(n)d memories learned", len(self.learned))
        updated = ngettext("%(n)d memory updated", "%(n)d memories updated", len(self.updated))
        return [
            {
                "label": words % {"n": len(those)},
                "icon": icon,
                "memory": those[0] if len(those) == 1 else None,
                "title": "\n".join(one.content for one in those),
            }
            for words, icon, those in (
                (learned, "sparkle", self.learned),
                (updated, "refresh", self.updated),
            )
            if those
        ]

    @property
    def again_url(self) -> str:
        """Where the page asks again; empty when there is nothing to wait for."""
        if not self.is_learning or self.tries >= TRIES:
            return ""
        address = reverse("turn_lessons", args=[self.turn.public_id])
        return f"{address}?try={self.tries + 1}"


def lessons_of(user: User, turns: Sequence[Turn], *, tries: int = 0) -> dict[int, Lessons]:
    """What each turn taught, by the turn's key."""
    taught = _taught(user, turns)
    refused = Counter(
        Refusal.objects.filter(user=user, turn__in=turns).values_list("turn", flat=True)
    )
    learning = _being_learned(user, turns)
    return {
        turn.pk: Lessons(
            turn,
            **taught[turn.pk],
            refused=refused[turn.pk],
            is_learning=turn.pk in learning,
            tries=tries,
        )
        for turn in turns
    }


def _taught(user: User, turns: Iterable[Turn]) -> dict[int, dict[str, list[Memory]]]:
    """By the verdicts, each memory once; what is in the bin or being forgotten is left out."""
    verdicts = Arbitration.objects.filter(
        user=user,
        turn__in=list(turns),
        memory__hidden_at__isnull=True,
        memory__deleted_at__isnull=True,
    ).select_related("memory")
    taught: dict[int, dict[str, list[Memory]]] = defaultdict(lambda: defaultdict(list))
    seen = set()
    for one in verdicts.order_by("pk"):
        memory, name = one.memory, _what_happened(one)
        if memory is not None and name and (one.turn_id, memory.pk) not in seen:
            seen.add((one.turn_id, memory.pk))
            taught[one.turn_id or 0][name].append(memory)
    return taught


def _what_happened(one: Arbitration) -> str:
    if one.verdict == Verdict.SKIP or one.memory is None:
        return ""
    if one.memory.status == MemoryStatus.CANDIDATE:
        return "waiting"
    return "updated" if one.verdict in _UPDATES and one.memory_id == one.target_id else "learned"


def _being_learned(user: User, turns: Iterable[Turn]) -> set[int]:
    """Only of late: what failed long ago is not waited for."""
    since = timezone.now() - _LATELY
    open_turns = [one.pk for one in turns if one.extracted_at is None]
    waiting = Operation.objects.filter(
        subject=user.subject,
        kind=Kind.EXTRACT_TURN,
        status__in=(Status.PENDING, Status.RUNNING),
        created_at__gte=since,
        payload__turn__in=open_turns,
    )
    return set(waiting.values_list("payload__turn", flat=True))
