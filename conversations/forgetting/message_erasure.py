"""Hide and erase messages, turns and summaries. Every function here is safe to repeat."""

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
from memcenter.lib.database import cascades
from memories.forgetting import memory_erasure, tombstones
from memories.models import Arbitration, TargetKind
from ops.models import User

_SPEAKING = (Role.USER, Role.ASSISTANT)


@dataclass(frozen=True)
class Target:
    """What a forget deletes of one conversation: the messages with these keys and their turns."""

    conversation: int
    messages: tuple[int, ...]
    turns: tuple[int, ...]
    is_whole: bool = False

    @property
    def resting(self) -> Q:
        """Return a filter for the memory sources that depend on the target."""
        return Q(turn__in=self.turns) | Q(message__in=self.messages)

    @property
    def waiting(self) -> Q:
        """Return a filter for the queued operations that concern the target."""
        about = Q(payload__turn__in=self.turns) | Q(payload__message__in=self.messages)
        return about | Q(payload__conversation=self.conversation) if self.is_whole else about


def target_of(user: User, messages: Q, *, conversation: int, is_whole: bool = False) -> Target:
    """Return the matching messages with every turn that contains one of them."""
    own = Message.everything.filter(messages, user=user, conversation=conversation)
    pks = tuple(own.order_by("pk").values_list("pk", flat=True))
    turns = Turn.everything.filter(
        Q(user_message__in=pks) | Q(assistant_message__in=pks), user=user
    )
    turn_pks = tuple(turns.order_by("pk").values_list("pk", flat=True))
    return Target(conversation, pks, turn_pks, is_whole=is_whole)


def hide(user: User, target: Target) -> int:
    """Hide the target, turns first, because learning locks the turn's row until it is done.

    Hidden messages leave tombstones. Returns how many rows were hidden by this call.
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
    """Mark the other message of a forgotten turn, so that nothing is learned from it."""
    turns = Turn.everything.filter(pk__in=target.turns)
    sides = Q(pk__in=turns.values("user_message")) | Q(pk__in=turns.values("assistant_message"))
    left = Message.everything.filter(sides).exclude(pk__in=target.messages)
    left.filter(withheld=Withheld.NO).update(withheld=Withheld.FORGOTTEN)


def covering(user: User, target: Target) -> QuerySet[Summary]:
    """Return the summaries that contain part of it, including all later versions."""
    own = Summary.everything.filter(user=user, conversation=target.conversation)
    if target.is_whole:
        return own
    numbers = Message.everything.filter(pk__in=target.messages).order_by("number")
    return own.filter(through_number__gte=Subquery(numbers.values("number")[:1]))


def leave_conversation(conversation: Conversation) -> None:
    """Update the conversation's counters and title to match the remaining messages."""
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
    """Return the rows to delete; afterwards no row may refer to their ids.

    The newest summary of a kept conversation stays as an empty row.
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
    """Return the rows that contain its text."""
    return [
        Message.everything.filter(user=user, pk__in=target.messages),
        covering(user, target),
        Feedback.objects.filter(user=user, message__in=target.messages),
        Arbitration.objects.filter(user=user, turn__in=target.turns),
    ]


def vouching(user_id: int, *, since: datetime | None) -> Iterator[str]:
    """Return the texts of all messages that still exist."""
    messages = Message.objects.filter(user=user_id).order_by("-pk")
    yield from messages.values_list("content", flat=True).iterator(chunk_size=2_000)


def erase_traces(user: User, target: Target, *, until: datetime) -> Counter[str]:
    """Erase recall traces of the answers, of the same questions and of a whole conversation."""
    conversation = target.conversation if target.is_whole else None
    erased = memory_erasure.erase_traces(
        user=user, answers=target.messages, conversation=conversation, until=until
    )
    erased += memory_erasure.erase_hits(user=user, public_ids=_public_ids(user, target))
    return erased + memory_erasure.erase_resembling(user=user, texts=texts_of(user, target))


def erase_index(user: User, target: Target) -> Counter[str]:
    episodes = Episode.everything.filter(user=user, turn__in=target.turns)
    summaries = covering(user, target)
    erased: Counter[str] = Counter()
    for kind, pks in (
        (TargetKind.MESSAGE, target.messages),
        (TargetKind.EPISODE, list(episodes.values_list("pk", flat=True))),
        (TargetKind.SUMMARY, list(summaries.values_list("pk", flat=True))),
    ):
        erased += memory_erasure.erase_index(user=user, kind=kind, target_ids=pks)
    return erased


def erase_summaries(user: User, target: Target) -> Counter[str]:
    """Erase the summaries that covered the target.

    The newest summary of a kept conversation is left as an empty, hidden row, so that the rest is
    summarized again and the version number is not used twice.
    """
    summaries = covering(user, target)
    last = None if target.is_whole else summaries.order_by("-version").first()
    if last is None:
        return cascades.delete(summaries)
    emptied = summaries.filter(pk=last.pk).exclude(text="").update(text="", token_count=0)
    erased = cascades.delete(summaries.exclude(pk=last.pk))
    return erased + Counter({"conversations_summary": emptied})


def erase_turns(user: User, target: Target) -> Counter[str]:
    """Erase turns with their episodes, arbitration logs and refusals."""
    return cascades.delete(Turn.everything.filter(user=user, pk__in=target.turns))


def erase_messages(user: User, target: Target) -> Counter[str]:
    """Erase messages with their feedback."""
    return cascades.delete(Message.everything.filter(user=user, pk__in=target.messages))


def _public_ids(user: User, target: Target) -> list[str]:
    rows = (
        Message.everything.filter(user=user, pk__in=target.messages),
        Episode.everything.filter(user=user, turn__in=target.turns),
        covering(user, target),
    )
    return [one for found in rows for one in found.values_list("public_id", flat=True)]
