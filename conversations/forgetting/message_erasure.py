"""Hide and erase messages, turns and summaries, and preview what a request to forget would delete.

All functions that hide or erase are safe to repeat.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
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
)
from foundation.database import cascades
from memories.forgetting import dependencies, forget_plan, memory_erasure, tombstones
from memories.learning import learnability
from memories.models import Arbitration, Memory, Source, TargetKind
from ops.models import User

_SPEAKING = (Role.USER, Role.ASSISTANT)
_ALL = Q()


@dataclass(frozen=True)
class Target:
    """The messages of one conversation that are to be forgotten, and the turns that contain them.

    `conversation`, `messages` and `turns` hold primary keys. `is_whole` is True if all messages of
    the conversation are to be forgotten.
    """

    conversation: int
    messages: tuple[int, ...]
    turns: tuple[int, ...]
    is_whole: bool = False

    @property
    def lost_sources(self) -> Q:
        """Return a filter for the memory sources that refer to these messages or turns."""
        return Q(turn__in=self.turns) | Q(message__in=self.messages)

    @property
    def waiting(self) -> Q:
        """Return a filter for the queued operations that would process these messages or turns."""
        about = Q(payload__turn__in=self.turns) | Q(payload__message__in=self.messages)
        return about | Q(payload__conversation=self.conversation) if self.is_whole else about


def target_of(user: User, messages: Q, *, conversation: int, is_whole: bool = False) -> Target:
    """Return a target with the messages that match the filter, and all turns of these messages."""
    own = Message.everything.filter(messages, user=user, conversation=conversation)
    pks = tuple(own.order_by("pk").values_list("pk", flat=True))
    turns = Turn.everything.filter(
        Q(user_message__in=pks) | Q(assistant_message__in=pks), user=user
    )
    turn_pks = tuple(turns.order_by("pk").values_list("pk", flat=True))
    return Target(conversation, pks, turn_pks, is_whole=is_whole)


@dataclass(frozen=True)
class Consequences:
    """The effects that forgetting would have.

    Forgetting would delete the memories in `memories`, and derive those in `changed` again from
    their other sources. `kept` is the number of memories that have a source among the forgotten
    messages but would not change. `messages` is the number of forgotten messages, of which
    `replies` are the assistant's.
    """

    messages: int
    replies: int
    summaries: int
    episodes: int
    memories: Sequence[Memory]
    changed: Sequence[Memory]
    kept: int


def consequences_of_message(message: Message, *, user: User) -> Consequences:
    """Return the effects of forgetting the message and the other message of its turn."""
    of_it = Q(user_message=message) | Q(assistant_message=message)
    turns = Turn.objects.filter(of_it, user=user)
    both = Q(pk__in=turns.values("user_message")) | Q(pk__in=turns.values("assistant_message"))
    target = target_of(user, Q(pk=message.pk) | both, conversation=message.conversation_id)
    return _consequences(target, user=user)


def consequences_of_messages(pks: Sequence[int], *, user: User, conversation: int) -> Consequences:
    """Return the effects of forgetting these messages of one conversation."""
    target = target_of(user, Q(pk__in=pks), conversation=conversation)
    return _consequences(target, user=user)


def later_message_pks(message: Message, *, user: User) -> list[int]:
    """Return the keys of the message, all later messages and the other messages of their turns."""
    later = Q(conversation=message.conversation_id, number__gte=message.number)
    return turn_message_pks(
        user, Message.objects.filter(later, user=user).values_list("pk", flat=True)
    )


def turn_message_pks(user: User, messages: Iterable[int]) -> list[int]:
    """Return the keys of these messages, and of the other message of each of their turns."""
    pks = list(messages)
    of_them = Q(user_message__in=pks) | Q(assistant_message__in=pks)
    turns = Turn.everything.filter(of_them, user=user)
    pairs = turns.values_list("user_message", "assistant_message")
    return sorted({*pks, *(pk for pair in pairs for pk in pair)})


def consequences_of_conversation(conversation: Conversation, *, user: User) -> Consequences:
    visible = Q(hidden_at__isnull=True)
    target = target_of(user, visible, conversation=conversation.pk, is_whole=True)
    return _consequences(target, user=user)


def _consequences(target: Target, *, user: User) -> Consequences:
    lost, changed, kept = preview_memory_effects(target.lost_sources, user=user)
    touched = Memory.visible.filter(user=user, pk__in=[*lost, *changed]).order_by("pk")
    memories = list(touched) if lost or changed else []
    messages = Message.objects.filter(user=user, pk__in=target.messages)
    roles = list(messages.values_list("role", flat=True))
    return Consequences(
        messages=len(roles),
        replies=roles.count(Role.ASSISTANT),
        summaries=covering_summaries(user, target).filter(hidden_at__isnull=True).count(),
        episodes=Episode.objects.filter(user=user, turn__in=target.turns).count(),
        memories=[one for one in memories if one.pk in lost],
        changed=[one for one in memories if one.pk in changed],
        kept=len(kept),
    )


def preview_memory_effects(
    lost_sources: Q, *, user: User
) -> tuple[list[int], list[int], list[int]]:
    """Return the primary keys of the memories that forgetting would delete, change and keep.

    `lost_sources` is a filter for the sources that would be lost. The effects are computed
    exactly as for a real request: the sources are hidden in a savepoint, which is rolled back
    afterwards.
    """
    sources = Source.everything.filter(lost_sources, user=user, hidden_at__isnull=True)
    touched = set(sources.values_list("memory", flat=True))
    if not touched:
        return [], [], []
    with transaction.atomic():
        sources.update(hidden_at=timezone.now())
        graph = dependencies.read(user, touched)
        transaction.set_rollback(True)
    outcomes = forget_plan.plan(graph.texts)
    standing = {one.memory for one in graph.texts if not outcomes[one.id].erased}
    visible = [one for one in graph.memories if one.hidden_at is None]
    lost = [one.pk for one in visible if one.pk not in standing]
    changed = [
        one.pk
        for one in visible
        if one.pk in standing and outcomes[dependencies.current_text(graph, one).id].changed
    ]
    return lost, changed, [one.pk for one in visible if one.pk not in {*lost, *changed}]


def hide(user: User, target: Target) -> int:
    """Hide the messages and turns of the target, their episodes and the summaries that cover them.

    Turns are hidden first, because learning locks a turn's row while it runs. Each hidden message
    of the user or the assistant leaves a tombstone, so that nothing is learned from a copy of its
    text. Return the number of messages that this call hid.
    """
    now = timezone.now()
    for rows in (_turns(user, target), _episodes(user, target), covering_summaries(user, target)):
        rows.filter(hidden_at__isnull=True).update(hidden_at=now)
    # Nothing may be learned from the other message of a forgotten turn.
    turns = _turns(user, target)
    sides = Q(pk__in=turns.values("user_message")) | Q(pk__in=turns.values("assistant_message"))
    left = Message.everything.filter(sides).exclude(pk__in=target.messages)
    learnability.withhold_as_forgotten(left)
    messages = _messages(user, target).filter(hidden_at__isnull=True)
    tombstones.create_message_tombstones(
        user=user, messages=messages.filter(role__in=_SPEAKING), at=now
    )
    return messages.update(hidden_at=now)


def covering_summaries(user: User, target: Target) -> QuerySet[Summary]:
    """Return the summaries, even hidden ones, that cover the target, and all later versions."""
    own = Summary.everything.filter(user=user, conversation=target.conversation)
    if target.is_whole:
        return own
    numbers = Message.everything.filter(pk__in=target.messages).order_by("number")
    return own.filter(through_number__gte=Subquery(numbers.values("number")[:1]))


def recount_conversation(conversation: Conversation) -> None:
    """Update the conversation's message count, last message time and speakers.

    The title is saved too, since callers may have changed it.
    """
    left = Message.objects.filter(conversation=conversation)
    conversation.message_count = left.count()
    conversation.last_message_at = left.aggregate(newest=Max("created_at"))["newest"]
    names = left.exclude(speaker="").order_by("speaker").values_list("speaker", flat=True)
    conversation.speakers = list(names.distinct())
    conversation.save(
        update_fields=["message_count", "last_message_at", "speakers", "title", "updated_at"]
    )


def texts_of(user: User, target: Target) -> list[str]:
    return list(_messages(user, target).values_list("content", flat=True))


def rows_of(user: User, target: Target) -> list[QuerySet[Any]]:
    """Return the rows that will be deleted; the residue scan later searches for their ids.

    If the conversation is kept, its newest summary isn't among these rows: the summary's text is
    cleared, but the row remains.
    """
    summaries = covering_summaries(user, target)
    last = None if target.is_whole else summaries.order_by("-version").first()
    return [
        _messages(user, target),
        _turns(user, target),
        _episodes(user, target),
        summaries.exclude(pk=last.pk) if last else summaries,
    ]


def rows_with_erased_texts(user: User, target: Target) -> list[QuerySet[Any]]:
    """Return the rows whose texts will be erased: messages, summaries, feedback, arbitrations."""
    return [
        _messages(user, target),
        covering_summaries(user, target),
        Feedback.objects.filter(user=user, message__in=target.messages),
        Arbitration.objects.filter(user=user, turn__in=target.turns),
    ]


def independent_texts(user_id: int, *, since: datetime | None) -> Iterator[str]:
    """Yield the texts of all visible messages, and of visible summaries written after `since`.

    Parts of an erased text that also occur in these texts may stay in the database, so the residue
    scan must not report them. A summary written after `since` can only repeat text that wasn't
    hidden.
    """
    messages = Message.objects.filter(user=user_id).order_by("-pk")
    yield from messages.values_list("content", flat=True).iterator(chunk_size=2_000)
    if since is not None:
        yield from remaining_summaries(user_id, Q(created_at__gt=since))


def remaining_summaries(user_id: int, wanted: Q = _ALL) -> Iterator[str]:
    """Yield the texts of the visible summaries, which the residue scan must not report.

    An erased version of a summary may contain the same sentences as a visible summary.
    """
    texts = Summary.objects.filter(wanted, user=user_id).values_list("text", flat=True)
    yield from texts.order_by().iterator(chunk_size=500)


def erase_traces(user: User, target: Target, *, until: datetime) -> Counter[str]:
    """Erase the recall traces of the messages, and any traces and daily notes with similar texts.

    If the whole conversation is forgotten, all its traces up to `until` are erased.
    """
    conversation = target.conversation if target.is_whole else None
    erased = memory_erasure.erase_traces(
        user=user, answers=target.messages, conversation=conversation, until=until
    )
    rows = (_messages(user, target), _episodes(user, target), covering_summaries(user, target))
    names = [one for found in rows for one in found.values_list("public_id", flat=True)]
    erased += memory_erasure.erase_hits(user=user, public_ids=names)
    return erased + memory_erasure.erase_resembling(user=user, texts=texts_of(user, target))


def erase_index(user: User, target: Target) -> Counter[str]:
    erased: Counter[str] = Counter()
    for kind, rows in (
        (TargetKind.MESSAGE, _messages(user, target)),
        (TargetKind.EPISODE, _episodes(user, target)),
        (TargetKind.SUMMARY, covering_summaries(user, target)),
    ):
        pks = list(rows.values_list("pk", flat=True))
        erased += memory_erasure.erase_index(user=user, kind=kind, target_ids=pks)
    return erased


def erase_summaries(user: User, target: Target) -> Counter[str]:
    """Erase the summaries that cover the target.

    If the conversation is kept, its newest summary stays as a hidden row without text, so that the
    remaining messages are summarized again and the summary's version number isn't used twice.
    """
    summaries = covering_summaries(user, target)
    last = None if target.is_whole else summaries.order_by("-version").first()
    if last is None:
        return cascades.delete(summaries)
    emptied = summaries.filter(pk=last.pk).exclude(text="").update(text="", token_count=0)
    erased = cascades.delete(summaries.exclude(pk=last.pk))
    return erased + Counter({"conversations_summary": emptied})


def erase_turns(user: User, target: Target) -> Counter[str]:
    """Erase the turns of the target with their episodes, arbitrations and refusals."""
    return cascades.delete(_turns(user, target))


def erase_messages(user: User, target: Target) -> Counter[str]:
    """Erase the messages of the target with their feedback."""
    return cascades.delete(_messages(user, target))


def _messages(user: User, target: Target) -> QuerySet[Message]:
    return Message.everything.filter(user=user, pk__in=target.messages)


def _turns(user: User, target: Target) -> QuerySet[Turn]:
    return Turn.everything.filter(user=user, pk__in=target.turns)


def _episodes(user: User, target: Target) -> QuerySet[Episode]:
    return Episode.everything.filter(user=user, turn__in=target.turns)
