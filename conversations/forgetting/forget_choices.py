"""Forget the memories and messages that a person chose from a list, with one receipt."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import reduce
from operator import or_

from django.db.models import Q
from django.utils import timezone

from conversations import selectors
from conversations.forgetting import message_erasure, message_forgets
from conversations.forgetting.message_erasure import Target
from conversations.models import Conversation, Message, Turn
from memcenter.lib.errors import Invalid, NotFound
from memories import selectors as memory_selectors
from memories.forgetting import memory_erasure, memory_forgets, rederivation
from memories.models import Memory
from memories.writing import facet_cache
from ops.audit import receipts
from ops.forgetting import erasure
from ops.models import Kind, Operation, User

PERSON = "person"  # who chose: on the receipt


def forget(
    *,
    user: User,
    memory_ids: Sequence[str] = (),
    message_ids: Sequence[str] = (),
    requested_by_key: int | None = None,
    chosen: str = PERSON,
) -> Operation:
    """Hide these memories and messages now, and erase them by one operation with one receipt.

    A message takes the other message of its turn, the episode and everything derived from them
    with it. A repeated call returns the same operation while it runs. Raises `Invalid` if nothing
    is named and `NotFound` if any item does not exist or belongs to another person; then nothing
    is forgotten.
    """
    if not memory_ids and not message_ids:
        raise Invalid.field("memory_ids", "Name at least one memory or message.")
    named = {"memory_ids": sorted({*memory_ids}), "message_ids": sorted({*message_ids})}
    before = erasure.take_up(Kind.FORGET_CHOICE, user=user, payload={"named": named})
    if before is not None:
        return before
    memories = [memory_selectors.memory_of(user, one) for one in named["memory_ids"]]
    messages = [selectors.message_of(user, one) for one in named["message_ids"]]
    return _forget(
        user,
        memories,
        messages,
        extra={"named": named, "chosen": chosen},
        requested_by_key=requested_by_key,
    )


def forget_again(
    *, user: User, memories: Sequence[Memory], messages: Sequence[Message]
) -> Operation:
    """Repeat a forget after a restore of an older database state, for the rows that came back."""
    return _forget(user, memories, messages, extra={}, requested_by_key=None)


def targets_of(user: User, messages: Collection[int]) -> list[Target]:
    """Return what a forget of these messages deletes, one target per conversation."""
    rows = Message.everything.filter(user=user, pk__in=messages).order_by("conversation")
    conversations = rows.values_list("conversation", flat=True).distinct()
    return [
        message_erasure.target_of(user, Q(pk__in=messages), conversation=one)
        for one in list(conversations)
    ]


def resting_on(targets: Iterable[Target], *, gone: Collection[int]) -> Q:
    """Return a filter for the memory sources that depend on the targets."""
    return reduce(or_, (one.resting for one in targets), Q(memory__in=gone))


def _forget(
    user: User,
    memories: Sequence[Memory],
    messages: Sequence[Message],
    *,
    extra: dict[str, object],
    requested_by_key: int | None,
) -> Operation:
    erasure.start(user)
    pks = _with_turns(user, [one.pk for one in messages])
    found = Message.everything.filter(user=user, pk__in=pks)
    for conversation in sorted(set(found.values_list("conversation", flat=True))):
        message_forgets.lock(user, conversation)
    wanted = {one.pk for one in memories}
    memory_forgets.blank_titles(user, memory_forgets.with_archived(user, wanted))
    there = set(memory_forgets.lock(user, Q(pk__in=wanted)))
    if there != wanted:
        raise NotFound("There is no such memory.")
    gone = memory_forgets.with_archived(user, there)
    targets = targets_of(user, pks)
    counted = [_hide(user, target) for target in targets]
    rederivation.hide(user=user, resting=resting_on(targets, gone=gone), gone=gone)
    facet_cache.drop(user.pk)
    payload = {
        "memories": sorted(gone),
        "messages": pks,
        "conversations": [one.conversation for one in targets],
        **extra,
    }
    operation = erasure.begin(
        Kind.FORGET_CHOICE,
        user=user,
        payload=payload,
        about=reduce(or_, (one.waiting for one in targets), Q(payload__memory__in=sorted(gone))),
        requested_by_key=requested_by_key,
        target=_named(user, gone, pks),
    )
    for traces in counted:
        receipts.note(operation, step="traces", counts=traces)
    return operation


def _hide(user: User, target: Target) -> receipts.Counts:
    """Hide the messages and erase their traces at once, since traces have no hidden state."""
    conversation = Conversation.everything.get(user=user, pk=target.conversation)
    message_forgets.hide(user, conversation, target)
    return memory_erasure.erase_traces(user=user, answers=target.messages, until=timezone.now())


def _with_turns(user: User, messages: Collection[int]) -> list[int]:
    """Add the other message of each turn."""
    of_them = Q(user_message__in=messages) | Q(assistant_message__in=messages)
    turns = Turn.everything.filter(of_them, user=user)
    pairs = turns.values_list("user_message", "assistant_message")
    return sorted({*messages, *(pk for pair in pairs for pk in pair)})


def _named(user: User, memories: Collection[int], messages: Collection[int]) -> dict[str, object]:
    """Return public ids, which are the same in every copy of the database."""
    known_rows = Memory.everything.filter(user=user, pk__in=memories).order_by("pk")
    said_rows = Message.everything.filter(user=user, pk__in=messages).order_by("pk")
    return {
        "memories": list(known_rows.values_list("public_id", flat=True)),
        "messages": list(said_rows.values_list("public_id", flat=True)),
    }
