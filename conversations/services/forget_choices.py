"""Forgetting what a person chose from a list: memories and messages together, one receipt."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import reduce
from operator import or_

from django.db.models import Q
from django.utils import timezone

from conversations import selectors
from conversations.models import Conversation, Message, Turn
from conversations.services import erasing as said
from conversations.services import forgetting
from conversations.services.erasing import Target
from memcenter.lib.errors import Invalid, NotFound
from memories import selectors as known_selectors
from memories.models import Memory
from memories.services import deriving, hot_cache
from memories.services import erasing as known
from memories.services import forgetting as memory_forgetting
from ops.models import Kind, Operation, User
from ops.services import erasing, receipts

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

    With a message goes the other one of its turn, the episode and what rests on them. Asked again
    meanwhile, it gives the same operation. Raises `Invalid` when nothing is named and `NotFound`
    when something of it is gone or another's: then nothing is forgotten.
    """
    if not memory_ids and not message_ids:
        raise Invalid.field("memory_ids", "Name at least one memory or message.")
    named = {"memory_ids": sorted({*memory_ids}), "message_ids": sorted({*message_ids})}
    before = erasing.take_up(Kind.FORGET_CHOICE, user=user, payload={"named": named})
    if before is not None:
        return before
    memories = [known_selectors.memory_of(user, one) for one in named["memory_ids"]]
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
    """The same after an older state of the database was restored: what is there again."""
    return _forget(user, memories, messages, extra={}, requested_by_key=None)


def targets_of(user: User, messages: Collection[int]) -> list[Target]:
    """What goes with these messages, by conversation."""
    rows = Message.everything.filter(user=user, pk__in=messages).order_by("conversation")
    conversations = rows.values_list("conversation", flat=True).distinct()
    return [
        said.target_of(user, Q(pk__in=messages), conversation=one) for one in list(conversations)
    ]


def resting_on(targets: Iterable[Target], *, gone: Collection[int]) -> Q:
    """Which sources rest on what goes."""
    return reduce(or_, (one.resting for one in targets), Q(memory__in=gone))


def _forget(
    user: User,
    memories: Sequence[Memory],
    messages: Sequence[Message],
    *,
    extra: dict[str, object],
    requested_by_key: int | None,
) -> Operation:
    erasing.start(user)
    pks = _with_turns(user, [one.pk for one in messages])
    found = Message.everything.filter(user=user, pk__in=pks)
    for conversation in sorted(set(found.values_list("conversation", flat=True))):
        forgetting.lock(user, conversation)
    wanted = {one.pk for one in memories}
    memory_forgetting.blank_titles(user, memory_forgetting.with_archived(user, wanted))
    there = set(memory_forgetting.lock(user, Q(pk__in=wanted)))
    if there != wanted:
        raise NotFound("There is no such memory.")
    gone = memory_forgetting.with_archived(user, there)
    targets = targets_of(user, pks)
    counted = [_hide(user, target) for target in targets]
    deriving.hide(user=user, resting=resting_on(targets, gone=gone), gone=gone)
    hot_cache.drop(user.pk)
    payload = {
        "memories": sorted(gone),
        "messages": pks,
        "conversations": [one.conversation for one in targets],
        **extra,
    }
    operation = erasing.begin(
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
    """Hide the messages; traces have nothing to hide them by and are erased at once."""
    conversation = Conversation.everything.get(user=user, pk=target.conversation)
    forgetting.hide(user, conversation, target)
    return known.erase_traces(user=user, answers=target.messages, until=timezone.now())


def _with_turns(user: User, messages: Collection[int]) -> list[int]:
    """With the other message of each turn."""
    of_them = Q(user_message__in=messages) | Q(assistant_message__in=messages)
    turns = Turn.everything.filter(of_them, user=user)
    pairs = turns.values_list("user_message", "assistant_message")
    return sorted({*messages, *(pk for pair in pairs for pk in pair)})


def _named(user: User, memories: Collection[int], messages: Collection[int]) -> dict[str, object]:
    """By ids that mean the same in every copy of the database."""
    known_rows = Memory.everything.filter(user=user, pk__in=memories).order_by("pk")
    said_rows = Message.everything.filter(user=user, pk__in=messages).order_by("pk")
    return {
        "memories": list(known_rows.values_list("public_id", flat=True)),
        "messages": list(said_rows.values_list("public_id", flat=True)),
    }
