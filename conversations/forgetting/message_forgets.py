"""Forget messages, conversations, chosen items or a whole layer (all summaries or all episodes).

Each kind of request hides the rows at once and enqueues an operation that erases them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial, reduce
from operator import or_
from typing import Any

from django.db.models import Exists, Max, OuterRef, Q
from django.utils import timezone

from conversations import selectors
from conversations.forgetting import message_erasure
from conversations.forgetting.message_erasure import Target
from conversations.models import Conversation, Episode, Message, Summary, Turn
from foundation.database import cascades
from foundation.errors import Invalid, NotFound
from foundation.text import shingles
from memories import selectors as memory_selectors
from memories.extraction.masking import masked
from memories.forgetting import memory_erasure, memory_forgets, rederivation
from memories.models import Memory, Source, TargetKind
from memories.writing import memory_writes
from ops import audit_chain, audit_log
from ops.forgetting import forget_steps
from ops.models import Kind, Operation, User

# Who chose what to forget or to keep; shown on the receipt.
BY_PERSON, BY_PROGRAM = "person", "program"
KEPT_MEMORIES = "kept_memories"  # payload key: how many memories are kept
_LAYERS: dict[str, Any] = {"summary": Summary, "episode": Episode}
_LAYER_KINDS = {"summary": TargetKind.SUMMARY, "episode": TargetKind.EPISODE}


def forget_message(
    *, user: User, message: Message, cascade: bool = False, requested_by_key: int | None = None
) -> Operation:
    """Hide a message now, and enqueue the erasure of the message and everything derived from it.

    `cascade` also forgets the other message of the turn. Until the erasure is finished, a repeated
    call returns the same operation. Raise `NotFound` if the person has no such message.
    """
    conversation = lock(user, message.conversation_id)
    if not Message.everything.filter(user=user, pk=message.pk).exists():
        raise NotFound("This message doesn’t exist.")
    before = forget_steps.find_unfinished(
        Kind.FORGET_MESSAGE, user=user, payload={"messages": [message.pk]}
    )
    pks = message_erasure.turn_message_pks(user, [message.pk]) if cascade else [message.pk]
    if before is not None and set(pks) <= set(before.payload["messages"]):
        return before
    return forget_messages(user, conversation, pks, requested_by_key=requested_by_key)


def forget_messages(
    user: User,
    conversation: Conversation,
    pks: Sequence[int],
    *,
    requested_by_key: int | None = None,
) -> Operation:
    """Hide these messages of a locked conversation now, and enqueue one operation that erases them.

    Everything derived from them is hidden and erased as well.
    """
    target = message_erasure.target_of(user, Q(pk__in=pks), conversation=conversation.pk)
    hide(user, conversation, target)
    still_said = hide_memories(user, target)
    return _begin(
        Kind.FORGET_MESSAGE,
        user,
        target,
        {
            "conversation": conversation.pk,
            "messages": pks,
            **memory_forgets.kept_messages_payload(still_said),
        },
        named={"messages": _public_ids(Message, user, pks)},
        requested_by_key=requested_by_key,
    )


def target_through(user: User, *, conversation: int, through: int) -> Target:
    """Return a target with all messages of a conversation whose number is at most `through`."""
    upto = Q(number__lte=through)
    return message_erasure.target_of(user, upto, conversation=conversation, is_whole=True)


def requester(requested_by_key: int | None = None) -> str:
    """Return `BY_PROGRAM` if an API key made the request, `BY_PERSON` if a user did, else ""."""
    if requested_by_key is not None or audit_log.acting_key_id() is not None:
        return BY_PROGRAM
    return BY_PERSON if audit_log.current_actor().actor == "user" else ""


def hide_memories(user: User, target: Target) -> set[int]:
    """Hide memories derived from the target until they are erased or derived again.

    Return the keys of the messages that are kept even though they repeat a hidden memory.
    """
    hidden = rederivation.hide(user=user, lost_sources=target.lost_sources)
    return memory_forgets.find_messages_repeating_hidden(user, hidden)


def _forget_all(
    kind: Kind,
    *,
    user: User,
    conversation: Conversation,
    forget_memories: bool = True,
    requested_by_key: int | None = None,
    through: int | None = None,
) -> Operation:
    """Hide the messages of a conversation now, and enqueue their erasure.

    `through` is the number of the last message to forget. Everything derived from the messages is
    forgotten with them; if `forget_memories` is False, memories are kept and count as written by
    the person. Raise `NotFound` if the person has no such conversation.
    """
    locked = lock(user, conversation.pk)
    last = locked.last_number if through is None else through
    payload: dict[str, Any] = {"conversation": locked.pk, "through": last}
    before = forget_steps.find_unfinished(kind, user=user, payload=payload)
    if before is not None:
        return before
    if kind == Kind.CLEAR_CONVERSATION and locked.hidden_at is not None:
        raise NotFound("This conversation doesn’t exist.")
    target = target_through(user, conversation=locked.pk, through=last)
    hide(user, locked, target)
    if kind == Kind.FORGET_CONVERSATION:
        Conversation.objects.filter(pk=locked.pk).update(hidden_at=timezone.now())
    payload |= {"forget_memories": forget_memories}
    if forget_memories:
        payload |= memory_forgets.kept_messages_payload(hide_memories(user, target))
    else:
        payload["chosen"] = requester(requested_by_key)
        payload[KEPT_MEMORIES] = rederivation.keep_as_own(
            user=user, lost_sources=target.lost_sources
        )
    return _begin(
        kind,
        user,
        target,
        payload,
        named={
            "conversation": locked.public_id,
            "through": last,
            "forget_memories": forget_memories,
        },
        requested_by_key=requested_by_key,
    )


# Forgetting also erases the conversation itself; clearing erases only its content.
forget_conversation = partial(_forget_all, Kind.FORGET_CONVERSATION)
clear_conversation = partial(_forget_all, Kind.CLEAR_CONVERSATION)


def repeat_clear(
    *, user: User, conversation: Conversation, at: datetime, forget_memories: bool
) -> Operation | None:
    """Clear the messages of a conversation that were recorded up to `at`.

    Return None if there are no such messages. Used to repeat a request after a backup was restored.
    """
    before = Message.everything.filter(user=user, conversation=conversation, recorded_at__lte=at)
    newest = before.order_by("-number").first()
    if newest is None:
        return None
    return clear_conversation(
        user=user,
        conversation=conversation,
        forget_memories=forget_memories,
        through=newest.number,
    )


def lock(user: User, pk: int) -> Conversation:
    """Register a request to forget, lock the conversation, and return it.

    Call this before messages are hidden. Recording takes the same lock, so no message is added
    until the transaction ends. Raise `NotFound` if there is no such conversation.
    """
    forget_steps.register_forget(user)
    found = Conversation.everything.select_for_update().filter(user=user, pk=pk).first()
    if found is None:
        raise NotFound("This conversation doesn’t exist.")
    return found


def hide(user: User, conversation: Conversation, target: Target) -> None:
    """Hide the target in a locked conversation; update the conversation's counters and title."""
    message_erasure.hide(user, target)
    texts = message_erasure.texts_of(user, target)
    conversation.title = shingles.blank_title_if_contained(
        conversation.title, [*texts, *map(masked, texts)]
    )
    message_erasure.recount_conversation(conversation)


def _begin(
    kind: Kind,
    user: User,
    target: Target,
    payload: Mapping[str, object],
    *,
    named: Mapping[str, object],
    requested_by_key: int | None,
) -> Operation:
    """Enqueue the operation that erases the target, and erase the target's recall traces at once.

    Recall traces can't be hidden, so they are erased without waiting for the operation. `named`
    describes the request without primary keys, so that it can be repeated after a backup is
    restored.
    """
    traces = memory_erasure.erase_traces(
        user=user,
        answers=target.messages,
        conversation=target.conversation if target.is_whole else None,
        until=timezone.now(),
    )
    memory_writes.drop_cached_counts(user.pk)
    operation = forget_steps.enqueue_forget(
        kind,
        user=user,
        payload=payload,
        about=target.waiting,
        requested_by_key=requested_by_key,
        target=named,
    )
    audit_chain.note_step(operation, step="traces", counts=traces)
    return operation


def forget_chosen(
    *,
    user: User,
    memory_ids: Sequence[str] = (),
    message_ids: Sequence[str] = (),
    keep_ids: Collection[str] = (),
    said_in: Collection[int] = (),
    conversation: Conversation | None = None,
    requested_by_key: int | None = None,
) -> Operation:
    """Hide these memories and messages now, and enqueue one operation that erases all of them.

    The operation has one receipt. For each message, the other message of its turn, the episode and
    everything derived from them are forgotten too, except the memories in `keep_ids`: these lose
    their quotations and from then on count as the person's own. `said_in` holds the keys of further
    messages that still state what is forgotten; the receipt counts them as kept. `message_ids` may
    hold our ids or the client's ids; if `conversation` is given, only that conversation is
    searched. Until the erasure is finished, a repeated call returns the same operation. Raise
    `Invalid` if both lists are empty or if a client's id needs `conversation`, and `NotFound` if an
    item doesn't exist or belongs to another person; in these cases nothing is forgotten.
    """
    if not memory_ids and not message_ids:
        raise Invalid.field("memory_ids", "Name at least one memory or message.")
    own_ids = {_public_id(user, one, conversation) for one in message_ids}
    named = {"memory_ids": sorted({*memory_ids}), "message_ids": sorted(own_ids)}
    before = forget_steps.find_unfinished(Kind.FORGET_CHOICE, user=user, payload={"named": named})
    if before is not None:
        return before
    memories = [memory_selectors.memory_of(user, one) for one in named["memory_ids"]]
    messages = [selectors.message_of(user, one) for one in named["message_ids"]]
    kept = Memory.visible.filter(user=user, public_id__in=keep_ids)
    return forget_rows(
        user,
        memories,
        messages,
        keeping=kept,
        said_in=said_in,
        extra={"named": named, "chosen": requester(requested_by_key)},
        requested_by_key=requested_by_key,
    )


def _public_id(user: User, reference: str, conversation: Conversation | None) -> str:
    """Return the public id of a message, even if an unfinished forget operation has hidden it.

    Raise `NotFound` if there is no such message, and `Invalid` if several messages have the
    client's id.
    """
    try:
        return selectors.message_of(user, reference, conversation=conversation).public_id
    except NotFound:
        hidden = Message.everything.filter(user=user, hidden_at__isnull=False)
        if conversation is not None:
            hidden = hidden.filter(conversation=conversation)
        found = hidden.filter(Q(public_id=reference) | Q(external_id=reference))
        if (newest := found.order_by("-pk").first()) is None:
            raise
        return newest.public_id


def also_forgotten(
    user: User, *, memory_ids: Collection[str], message_ids: Collection[str]
) -> list[Memory]:
    """Return the memories that `forget_chosen` would forget in addition to `memory_ids`.

    A memory is returned if it was learned only from the turns of the given messages. A memory that
    was learned from these and other sources is returned if the other sources alone don't support
    its text. Takes one query.
    """
    messages = Message.objects.filter(user=user, public_id__in=message_ids).values("pk")
    turns = Turn.everything.filter(
        Q(user_message__in=messages) | Q(assistant_message__in=messages), user=user
    ).values("pk")
    of_turn = Q(message__turn_as_question__in=turns) | Q(message__turn_as_reply__in=turns)
    from_messages = Q(turn__in=turns) | Q(message__in=messages) | of_turn
    sources = Source.objects.filter(user=user)
    parts = sources.filter(from_messages, joint=True, version=OuterRef("version"))
    supports = sources.filter(memory=OuterRef("pk")).exclude(from_messages)
    supports = supports.exclude(Exists(parts), joint=True)
    lost = Memory.visible.filter(
        ~Exists(supports), user=user, sources__in=sources.filter(from_messages)
    )
    return list(lost.exclude(public_id__in=memory_ids).order_by("pk").distinct())


def targets_of(user: User, messages: Collection[int]) -> list[Target]:
    """Return one target for each conversation that contains any of these messages."""
    rows = Message.everything.filter(user=user, pk__in=messages).order_by("conversation")
    conversations = rows.values_list("conversation", flat=True).distinct()
    return [
        message_erasure.target_of(user, Q(pk__in=messages), conversation=one)
        for one in list(conversations)
    ]


def lost_sources_of(targets: Iterable[Target], *, gone: Collection[int]) -> Q:
    """Return a filter for the memory sources that refer to messages or turns of the targets.

    The filter also matches all sources of the memories in `gone`.
    """
    return reduce(or_, (one.lost_sources for one in targets), Q(memory__in=gone))


def forget_rows(
    user: User,
    memories: Sequence[Memory],
    messages: Sequence[Message],
    *,
    keeping: Iterable[Memory],
    said_in: Collection[int] = (),
    extra: Mapping[str, object] | None = None,
    requested_by_key: int | None = None,
) -> Operation:
    """Forget these memories and messages as `forget_chosen` does.

    `keeping` are memories that were learned from the messages and are kept. `extra` is added to the
    operation's payload. Raise `NotFound` if a memory no longer exists.
    """
    forget_steps.register_forget(user)
    pks = message_erasure.turn_message_pks(user, [one.pk for one in messages])
    found = Message.everything.filter(user=user, pk__in=pks)
    for conversation in sorted(set(found.values_list("conversation", flat=True))):
        lock(user, conversation)
    wanted = {one.pk for one in memories}
    memory_forgets.blank_titles(user, memory_forgets.add_archived(user, wanted))
    existing = set(memory_forgets.lock(user, Q(pk__in=wanted)))
    if existing != wanted:
        raise NotFound("This memory doesn’t exist.")
    gone = memory_forgets.add_archived(user, existing)
    targets = targets_of(user, pks)
    counted = [_hide_with_traces(user, target) for target in targets]
    still_said = memory_forgets.find_stating_messages(user, gone) | set(said_in)
    kept = {one.pk for one in keeping} - gone
    kept_count = _keep_without_messages(user, targets, kept)
    lost = lost_sources_of(targets, gone=gone)
    hidden = set(rederivation.hide(user=user, lost_sources=lost, gone=gone))
    still_said |= memory_forgets.find_messages_repeating_hidden(user, hidden - gone)
    still_said -= set(pks)
    memory_writes.drop_cached_counts(user.pk)
    payload = {
        **memory_forgets.kept_messages_payload(still_said),
        KEPT_MEMORIES: kept_count,
        "memories": sorted(gone),
        "messages": pks,
        "conversations": [one.conversation for one in targets],
        **(extra or {}),
    }
    operation = forget_steps.enqueue_forget(
        Kind.FORGET_CHOICE,
        user=user,
        payload=payload,
        about=reduce(or_, (one.waiting for one in targets), Q(payload__memory__in=sorted(gone))),
        requested_by_key=requested_by_key,
        target={
            "memories": _public_ids(Memory, user, gone),
            "messages": _public_ids(Message, user, pks),
            "kept": _public_ids(Memory, user, kept if kept_count else ()),
        },
    )
    for traces in counted:
        audit_chain.note_step(operation, step="traces", counts=traces)
    return operation


def _keep_without_messages(user: User, targets: Sequence[Target], kept: Collection[int]) -> int:
    """Remove the targets' messages as sources of the memories `kept`; return how many were changed.

    These memories lose their quotations and from then on count as the person's own. Memories
    without a source in the targets are left unchanged.
    """
    if not kept or not targets:
        return 0
    lost = lost_sources_of(targets, gone=()) & Q(memory__in=kept)
    return rederivation.keep_as_own(user=user, lost_sources=lost, comment=rederivation.KEPT_ALONE)


def _hide_with_traces(user: User, target: Target) -> audit_chain.Counts:
    """Hide the messages of the target, erase their recall traces, and return the erased counts.

    Recall traces can't be hidden, so they are erased without waiting for the operation.
    """
    conversation = Conversation.everything.get(user=user, pk=target.conversation)
    hide(user, conversation, target)
    return memory_erasure.erase_traces(user=user, answers=target.messages, until=timezone.now())


def _public_ids(model: type[Memory | Message], user: User, pks: Collection[int]) -> list[str]:
    rows = model.everything.filter(user=user, pk__in=pks).order_by("pk")
    return list(rows.values_list("public_id", flat=True))


def delete_layer(*, user: User, layer: str, through: int | None = None) -> tuple[Operation, int]:
    """Hide all summaries (or all episodes) of a person now, and enqueue their erasure.

    If `through` is given, only rows with primary keys up to `through` are hidden. Return the
    operation and the number of rows. The messages are kept. If summaries are on, long conversations
    are summarized again; episodes of earlier turns aren't created again. Raise `Invalid` if `layer`
    is unknown.
    """
    if layer not in _LAYERS:
        raise Invalid.field("layer", "Must be summary or episode.")
    forget_steps.register_forget(user)
    rows = layer_rows(user, layer=layer, through=through)
    through = rows.aggregate(newest=Max("pk"))["newest"] or 0
    payload = {"layer": layer, "through": through}
    before = forget_steps.find_unfinished(Kind.FORGET_LAYER, user=user, payload=payload)
    if before is not None:
        return before, rows.count()
    count = rows.filter(hidden_at__isnull=True).update(hidden_at=timezone.now())
    memory_writes.drop_cached_counts(user.pk)
    operation = forget_steps.enqueue_forget(
        Kind.FORGET_LAYER,
        user=user,
        payload=payload,
        about=Q(kind=Kind.SUMMARIZE) if layer == "summary" else Q(pk__in=[]),
        target={"layer": layer},
    )
    return operation, count


def layer_rows(user: User, *, layer: str, through: int | None = None) -> Any:
    rows = _LAYERS[layer].everything.filter(user=user)
    return rows if through is None else rows.filter(pk__lte=through)


def erase_layer(user: User, *, layer: str, through: int) -> Any:
    """Erase all summaries or episodes up to the key `through`, with their vectors.

    The rows are also erased from recorded recall results. Return the numbers of erased rows by
    table. Safe to repeat.
    """
    rows = layer_rows(user, layer=layer, through=through)
    ids = dict(rows.values_list("pk", "public_id"))
    erased = memory_erasure.erase_index(user=user, kind=_LAYER_KINDS[layer], target_ids=list(ids))
    erased += memory_erasure.erase_hits(user=user, public_ids=list(ids.values()))
    return erased + cascades.delete(rows)
