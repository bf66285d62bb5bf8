"""Hiding and erasing what was said. Everything here is safe to repeat."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Max, Q, QuerySet, Subquery
from django.utils import timezone

from conversations.models import (
    Conversation,
    Episode,
    Feedback,
    Message,
    Role,
    Summary,
    Turn,
    Withheld,
)
from memcenter.lib import cascades
from memories.models import Arbitration, TargetKind
from memories.services import erasing as known
from memories.services import tombstones
from ops.models import User

_SPEAKING = (Role.USER, Role.ASSISTANT)


@dataclass(frozen=True)
class Target:
    """What goes of one conversation: the messages with these keys and their turns."""

    conversation: int
    messages: tuple[int, ...]
    turns: tuple[int, ...]
    is_whole: bool = False

    @property
    def resting(self) -> Q:
        """Which sources of memories rest on it."""
        return Q(turn__in=self.turns) | Q(message__in=self.messages)

    @property
    def waiting(self) -> Q:
        """Which waiting operations are about it."""
        about = Q(payload__turn__in=self.turns) | Q(payload__message__in=self.messages)
        return about | Q(payload__conversation=self.conversation) if self.is_whole else about


def target_of(user: User, messages: Q, *, conversation: int, is_whole: bool = False) -> Target:
    """Messages that match, with every turn that any of them belongs to."""
    own = Message.everything.filter(messages, user=user, conversation=conversation)
    pks = tuple(own.order_by("pk").values_list("pk", flat=True))
    turns = Turn.everything.filter(
        Q(user_message__in=pks) | Q(assistant_message__in=pks), user=user
    )
    turn_pks = tuple(turns.order_by("pk").values_list("pk", flat=True))
    return Target(conversation, pks, turn_pks, is_whole=is_whole)


def hide(user: User, target: Target) -> int:
    """Hide it, turns first: who learns from a turn holds its row until they are done.

    Messages leave tombstones. Gives how many were hidden now.
    """
    now = timezone.now()
    visible = {"user": user, "hidden_at__isnull": True}
    Turn.everything.filter(pk__in=target.turns, **visible).update(hidden_at=now)
    Episode.everything.filter(turn__in=target.turns, **visible).update(hidden_at=now)
    covering(user, target).filter(hidden_at__isnull=True).update(hidden_at=now)
    _withhold_what_is_left(target)
    messages = Message.everything.filter(pk__in=target.messages, **visible)
    tombstones.leave_messages(user=user, messages=messages.filter(role__in=_SPEAKING), at=now)
    return messages.update(hidden_at=now)


def _withhold_what_is_left(target: Target) -> None:
    """The other message of a forgotten turn teaches nothing any more."""
    turns = Turn.everything.filter(pk__in=target.turns)
    sides = Q(pk__in=turns.values("user_message")) | Q(pk__in=turns.values("assistant_message"))
    left = Message.everything.filter(sides).exclude(pk__in=target.messages)
    left.filter(withheld=Withheld.NO).update(withheld=Withheld.FORGOTTEN)


def covering(user: User, target: Target) -> QuerySet[Summary]:
    """The summaries with something of it: a later one was made from the one before."""
    own = Summary.everything.filter(user=user, conversation=target.conversation)
    if target.is_whole:
        return own
    numbers = Message.everything.filter(pk__in=target.messages).order_by("number")
    return own.filter(through_number__gte=Subquery(numbers.values("number")[:1]))


def leave_conversation(conversation: Conversation) -> None:
    """Bring what the conversation says of itself in line with the messages that are left."""
    left = Message.objects.filter(conversation=conversation)
    conversation.message_count = left.count()
    conversation.last_message_at = left.aggregate(newest=Max("created_at"))["newest"]
    names = left.exclude(speaker="").order_by("speaker").values_list("speaker", flat=True)
    conversation.speakers = list(names.distinct())
    conversation.save(
        update_fields=["message_count", "last_message_at", "speakers", "title", "updated_at"]
    )


def texts_of(user: User, target: Target) -> list[str]:
    messages = Message.everything.filter(user=user, pk__in=target.messages)
    return list(messages.values_list("content", flat=True))


def rows_of(user: User, target: Target) -> list[QuerySet[Any]]:
    """The rows that go, whose ids nothing may refer to afterwards.

    Of a conversation that stays the newest summary stays as an empty row.
    """
    summaries = covering(user, target)
    last = None if target.is_whole else summaries.order_by("-version").first()
    return [
        Message.everything.filter(user=user, pk__in=target.messages),
        Turn.everything.filter(user=user, pk__in=target.turns),
        Episode.everything.filter(user=user, turn__in=target.turns),
        summaries.exclude(pk=last.pk) if last else summaries,
    ]


def words_of(user: User, target: Target) -> list[QuerySet[Any]]:
    """The rows in which something of it is said in words."""
    return [
        Message.everything.filter(user=user, pk__in=target.messages),
        covering(user, target),
        Feedback.objects.filter(user=user, message__in=target.messages),
        Arbitration.objects.filter(user=user, turn__in=target.turns),
    ]


def vouching(user_id: int, *, since: datetime | None) -> Iterator[str]:
    """Everything that was said and is still there."""
    messages = Message.objects.filter(user=user_id).order_by("-pk")
    yield from messages.values_list("content", flat=True).iterator(chunk_size=2_000)


def erase_traces(user: User, target: Target, *, until: datetime) -> Counter[str]:
    """Traces of the answers, of a whole conversation up to a moment, and of the same questions."""
    conversation = target.conversation if target.is_whole else None
    erased = known.erase_traces(
        user=user, answers=target.messages, conversation=conversation, until=until
    )
    erased += known.erase_hits(user=user, public_ids=_public_ids(user, target))
    return erased + known.erase_resembling(user=user, texts=texts_of(user, target))


def erase_index(user: User, target: Target) -> Counter[str]:
    episodes = Episode.everything.filter(user=user, turn__in=target.turns)
    summaries = covering(user, target)
    erased: Counter[str] = Counter()
    for kind, pks in (
        (TargetKind.MESSAGE, target.messages),
        (TargetKind.EPISODE, list(episodes.values_list("pk", flat=True))),
        (TargetKind.SUMMARY, list(summaries.values_list("pk", flat=True))),
    ):
        erased += known.erase_index(user=user, kind=kind, target_ids=pks)
    return erased


def erase_summaries(user: User, target: Target) -> Counter[str]:
    """Erase those that covered it.

    Of a conversation that stays, the newest is left as an empty, hidden row: it tells that there
    was one, so that what remains is summarized again, and its version is not used twice.
    """
    summaries = covering(user, target)
    last = None if target.is_whole else summaries.order_by("-version").first()
    if last is None:
        return cascades.delete(summaries)
    emptied = summaries.filter(pk=last.pk).exclude(text="").update(text="", token_count=0)
    erased = cascades.delete(summaries.exclude(pk=last.pk))
    return erased + Counter({"conversations_summary": emptied})


def erase_turns(user: User, target: Target) -> Counter[str]:
    """Turns with their episodes, and what was decided and refused on the strength of them."""
    return cascades.delete(Turn.everything.filter(user=user, pk__in=target.turns))


def erase_messages(user: User, target: Target) -> Counter[str]:
    """Messages, with what people said about them."""
    return cascades.delete(Message.everything.filter(user=user, pk__in=target.messages))


def _public_ids(user: User, target: Target) -> list[str]:
    rows = (
        Message.everything.filter(user=user, pk__in=target.messages),
        Episode.everything.filter(user=user, turn__in=target.turns),
        covering(user, target),
    )
    return [one for found in rows for one in found.values_list("public_id", flat=True)]
