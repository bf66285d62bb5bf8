"""Collect the memories learned from each turn and those used in each answer, for display."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from conversations.models import Message, Turn
from memories.extraction.types import OWNER_UNSURE, Verdict
from memories.learning import learnability
from memories.models import (
    Arbitration,
    Memory,
    MemoryStatus,
    MemoryVersion,
    RecallHit,
    Refusal,
    SecretCategory,
    Source,
)
from memories.pages import reason_words
from ops.models import Kind as OperationKind
from ops.models import Operation, Status, User

TRIES = 20  # requests for an update
_LATELY = timedelta(minutes=15)
_UPDATES = (Verdict.REPLACE, Verdict.MERGE)
# The columns that `Memory.is_always_included` reads, and the id.
_DECIDES_ALWAYS = ("public_id", "kind", "pinned", "standing", "feedback")


@dataclass(frozen=True)
class Lessons:
    """The memories learned from one turn, and the secrets in the turn that weren't stored.

    While the turn is queued, the page requests an update at most `TRIES` times; `tries` counts the
    requests. `waiting` holds the learned memories that await review, and `retired` the memories
    that the turn's memories superseded. `refused` holds the categories of secrets that weren't
    stored. `asked_about` is a constraint that may be about somebody else, so the person is asked to
    confirm it. `is_request` is True if the turn asks to forget; the labels then don't say that it
    is being processed or wasn't kept.
    """

    turn: Turn
    learned: Sequence[Memory] = ()
    updated: Sequence[Memory] = ()
    retired: Sequence[Memory] = ()
    waiting: Sequence[Memory] = ()
    asked_about: Memory | None = None
    refused: Sequence[str] = ()
    is_learning: bool = False
    is_request: bool = False
    tries: int = 0

    @property
    def taught(self) -> Sequence[Memory]:
        return [*self.learned, *self.updated]

    @property
    def is_withheld(self) -> bool:
        """Return True if the person asked not to keep the turn and nothing was learned from it."""
        asked = learnability.is_not_to_keep(self.turn.user_message) and not self.is_request
        return asked and not self.taught and not self.waiting

    @property
    def not_kept(self) -> list[str]:
        """Return a text for each category of secret that wasn't stored."""
        words = {
            SecretCategory.PASSWORD: _("Not kept: looks like a password or code"),
            SecretCategory.API_KEY: _("Not kept: looks like a key or token"),
            SecretCategory.CARD: _("Not kept: looks like a card number"),
            SecretCategory.BANK_ACCOUNT: _("Not kept: looks like a bank account"),
            SecretCategory.IDENTITY_NUMBER: _("Not kept: looks like an identity number"),
            SecretCategory.ADDRESS: _("Not kept: looks like a precise address"),
        }
        return [words[SecretCategory(one)] for one in self.refused]

    @property
    def chips(self) -> list[dict[str, Any]]:
        """Return the labels under an answer, for memories learned, updated and no longer used.

        Each label contains a number of memories; a click on it shows their list.
        """
        learned = ngettext("%(n)d memory learned", "%(n)d memories learned", len(self.learned))
        updated = ngettext("%(n)d memory updated", "%(n)d memories updated", len(self.updated))
        retired = ngettext(
            "%(n)d memory no longer used", "%(n)d memories no longer used", len(self.retired)
        )
        return [
            {"label": words % {"n": len(those)}, "icon": icon, "memories": those}
            for words, icon, those in (
                (learned, "sparkle", self.learned),
                (updated, "refresh", self.updated),
                (retired, "disable", self.retired),
            )
            if those
        ]

    @property
    def again_url(self) -> str:
        """Return the URL from which the page requests an update, or "" if no more are needed."""
        if not self.is_learning or self.tries >= TRIES:
            return ""
        address = reverse("turn_lessons", args=[self.turn.public_id])
        return f"{address}?try={self.tries + 1}"


def lessons_of(user: User, turns: Sequence[Turn], *, tries: int = 0) -> dict[int, Lessons]:
    """Return the memories learned from each turn and the refused secrets, by turn key."""
    taught, retiring = _memories_by_outcome(user, turns)
    refused: dict[int | None, dict[str, None]] = defaultdict(dict)
    for turn_id, category in Refusal.objects.filter(user=user, turn__in=turns).values_list(
        "turn", "category"
    ):
        refused[turn_id][category] = None
    retired: dict[int | None, list[Memory]] = defaultdict(list)
    for one in Memory.objects.filter(user=user, superseded_by__in=retiring).order_by("pk"):
        retired[one.superseded_by_id].append(one)
    learning = _being_learned(user, turns)
    requests = _asking_to_forget(user, turns, learning=learning)
    waiting = [one for each in taught.values() for one in each["waiting"]]
    versions = MemoryVersion.objects.filter(user=user, memory__in=waiting)
    unsure = versions.filter(reason__contains=OWNER_UNSURE)
    unclear = set(unsure.values_list("memory", flat=True))
    return {
        turn.pk: Lessons(
            turn,
            **taught[turn.pk],
            retired=[
                one
                for memory in (*taught[turn.pk]["learned"], *taught[turn.pk]["updated"])
                for one in retired[memory.pk]
            ],
            asked_about=next((m for m in taught[turn.pk]["waiting"] if m.pk in unclear), None),
            refused=sorted(refused[turn.pk]),
            is_learning=turn.pk in learning,
            is_request=turn.pk in requests,
            tries=tries,
        )
        for turn in turns
    }


def _memories_by_outcome(
    user: User, turns: Iterable[Turn]
) -> tuple[dict[int, dict[str, list[Memory]]], set[int]]:
    """Return the memories learned from each turn, grouped by outcome (learned, updated or waiting).

    Each memory is returned once per turn; deleted and forgotten memories are left out. Also return
    the keys of the memories that superseded another memory.
    """
    superseded = Memory.objects.filter(user=user, superseded_by=OuterRef("memory"))
    verdicts = Arbitration.objects.filter(
        user=user,
        turn__in=list(turns),
        memory__hidden_at__isnull=True,
        memory__deleted_at__isnull=True,
    ).select_related("memory")
    verdicts = verdicts.annotate(retires=Exists(superseded))
    retiring: set[int] = set()
    taught: dict[int, dict[str, list[Memory]]] = defaultdict(lambda: defaultdict(list))
    seen = set()
    for one in verdicts.order_by("pk"):
        memory, name = one.memory, _outcome(one)
        if memory is not None and name and (one.turn_id, memory.pk) not in seen:
            seen.add((one.turn_id, memory.pk))
            if name == "updated" and one.target_text != memory.content:
                memory.text_before = one.target_text
            taught[one.turn_id or 0][name].append(memory)
            retiring |= {memory.pk} if one.retires else set()
    return taught, retiring


def _outcome(row: Arbitration) -> str:
    if row.verdict == Verdict.SKIP or row.memory is None:
        return ""
    if row.memory.status == MemoryStatus.CANDIDATE:
        return "waiting"
    return "updated" if row.verdict in _UPDATES and row.memory_id == row.target_id else "learned"


def _being_learned(user: User, turns: Iterable[Turn]) -> set[int]:
    """Return the keys of those turns that are still queued for learning.

    Operations older than `_LATELY` are ignored, since they are probably stuck.
    """
    since = timezone.now() - _LATELY
    open_turns = [
        one.pk
        for one in turns
        if one.extracted_at is None and not learnability.was_recorded_while_off(one.user_message)
    ]
    waiting = Operation.objects.filter(
        subject=user.subject,
        kind=OperationKind.EXTRACT_TURN,
        status__in=(Status.PENDING, Status.RUNNING),
        created_at__gte=since,
        payload__turn__in=open_turns,
    )
    return set(waiting.values_list("payload__turn", flat=True))


def _asking_to_forget(user: User, turns: Iterable[Turn], *, learning: Collection[int]) -> set[int]:
    """Return the keys of the turns that ask to forget.

    Only turns whose labels depend on this are checked: those that are still queued for learning or
    that the person asked not to keep.
    """
    unclear = [
        one.pk
        for one in turns
        if one.pk in learning or learnability.is_not_to_keep(one.user_message)
    ]
    if not unclear:
        return set()
    asking = Operation.objects.filter(
        Q(payload__has_key="forget") | Q(result__has_key="forget"),
        subject=user.subject,
        kind=OperationKind.EXTRACT_TURN,
        payload__turn__in=unclear,
    )
    return set(asking.values_list("payload__turn", flat=True))


@dataclass(frozen=True)
class UsedMemory:
    memory: Memory
    why: str
    source: Source | None


@dataclass(frozen=True)
class Panel:
    """The content of the side panel about one answer.

    `used` holds the memories that are relevant to the question; `always` holds those that are part
    of every prompt. `others` counts the other recalled items by type.
    """

    answer: Message | None
    used: Sequence[UsedMemory] = ()
    always: Sequence[UsedMemory] = ()
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
    parts: dict[bool, list[UsedMemory]] = {True: [], False: []}
    for is_relevant in (True, False):  # a memory is relevant if any of its hits is
        for hit in hits:
            memory = memories.get(hit.target_public_id)
            if memory is not None and _is_relevant(hit.components, memory) is is_relevant:
                one = UsedMemory(memory, _why(hit, memory), sources.get(memory.pk))
                parts[is_relevant].append(one)
                del memories[hit.target_public_id]
    others = Counter(hit.type for hit in hits if hit.type != "memory")
    return Panel(answer, parts[True], parts[False], others)


def counts_of(user: User, answers: Sequence[Message]) -> Counter[int]:
    """Return the number of relevant memories that each answer used, by the answer's primary key.

    Memories that no longer exist aren't counted.
    """
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


def _is_relevant(components: Mapping[str, float], memory: Memory) -> bool:
    return reason_words.is_relevant(components) or not memory.is_always_included


def _why(hit: RecallHit, memory: Memory) -> str:
    return reason_words.why(
        hit.components, asked=hit.trace.query, text=memory.content, always=memory.is_always_included
    )


def _sources(user: User, memories: Sequence[Memory]) -> dict[int, Source]:
    found = (
        Source.objects.filter(user=user, memory__in=memories, turn__isnull=False)
        .exclude(quote="")
        .select_related("turn")
        .order_by("pk")
    )
    return {one.memory_id: one for one in found}
