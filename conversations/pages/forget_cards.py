"""The card under an answer that asks which memories and messages to forget.

The list is rendered from the ids that the turn's operation holds; no message repeats it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from conversations.models import Message, Turn
from memories.forgetting.spoken_requests import FORGOTTEN, Outcome
from memories.models import Memory
from ops.models import Kind, Operation, User

_SHOWN = 160
_LATELY = timedelta(days=7)  # a question that nobody answered is not put for ever


@dataclass(frozen=True)
class Line:
    """A memory or message that may be forgotten."""

    public_id: str
    text: str
    at: datetime
    note: str = ""
    href: str = ""


@dataclass(frozen=True)
class Card:
    """The choices of one turn's request to forget. `is_done` tells that the memory is forgotten
    and only the messages that say it are asked about."""

    turn_id: str
    is_done: bool
    memories: Sequence[Line]
    messages: Sequence[Line]
    error: str = ""

    @property
    def url(self) -> str:
        return reverse("turn_forget", args=[self.turn_id])


def cards_of(user: User, turns: Sequence[Turn], *, asked: Sequence[Operation]) -> dict[int, Card]:
    """Return the open questions of these turns, by turn id; `asked` hold the requests to forget."""
    by_turn = {one.payload["turn"]: one for one in asked if not one.payload.get("answered")}
    outcomes = {pk: Outcome.of(one.forget_outcome) for pk, one in by_turn.items()}
    memories = _memories(user, outcomes.values())
    said = _messages(user, outcomes.values())
    cards = {}
    for turn in turns:
        outcome = outcomes.get(turn.pk)
        if outcome is None:
            continue
        card = _card(turn, outcome, memories=memories, said=said)
        if card.memories or card.messages:
            cards[turn.pk] = card
    return cards


def requests_of(user: User, turns: Sequence[Turn]) -> list[Operation]:
    """Return the operations that hold the recent requests to forget of these turns."""
    if not turns:
        return []
    found = Operation.objects.filter(
        subject=user.subject,
        kind=Kind.EXTRACT_TURN,
        created_at__gte=timezone.now() - _LATELY,
        payload__turn__in=[one.pk for one in turns],
    )
    return [one for one in found.order_by("pk") if one.forget_outcome]


def _card(
    turn: Turn, outcome: Outcome, *, memories: Mapping[str, Memory], said: Mapping[str, Message]
) -> Card:
    own = [memories[one] for one in outcome.memory_ids if one in memories]
    told = [said[one] for one in outcome.message_ids if one in said]
    return Card(
        turn_id=turn.public_id,
        is_done=outcome.status == FORGOTTEN,
        memories=[_memory_line(one) for one in own],
        messages=[_message_line(one, turn) for one in told],
    )


def _memory_line(memory: Memory) -> Line:
    if memory.deleted_at is not None:
        state = _("in the recycle bin")
    else:
        state = "" if memory.status == "active" else memory.get_status_display()
    note = " · ".join(filter(None, (str(memory.get_kind_display()), state)))
    page = reverse("memory_page", args=[memory.public_id])
    return Line(memory.public_id, _short(memory.content), memory.created_at, note, page)


def _message_line(message: Message, turn: Turn) -> Line:
    if message.pk == turn.user_message_id:
        note = _("what you just asked, with the answer")
    else:
        note = _("with its answer, and anything else learned only there")
    return Line(message.public_id, _short(message.content), message.created_at, note)


def _short(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= _SHOWN else plain[: _SHOWN - 1].rstrip() + "…"


def _memories(user: User, outcomes: Iterable[Outcome]) -> dict[str, Memory]:
    wanted = {one for outcome in outcomes for one in outcome.memory_ids}
    found = Memory.visible.filter(user=user, public_id__in=wanted)
    return {one.public_id: one for one in found}


def _messages(user: User, outcomes: Iterable[Outcome]) -> dict[str, Message]:
    wanted = {one for outcome in outcomes for one in outcome.message_ids}
    found = Message.objects.filter(user=user, public_id__in=wanted)
    return {one.public_id: one for one in found}
