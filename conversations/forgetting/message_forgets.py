"""Forget messages and conversations: hide them now and erase them by an operation."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from django.db.models import Q
from django.utils import timezone

from conversations.forgetting import message_erasure
from conversations.forgetting.message_erasure import Target
from conversations.models import Conversation, Message, Turn
from memcenter.lib.errors import NotFound
from memcenter.lib.text import shingles
from memories.extraction.secret_masking import masked
from memories.forgetting import memory_erasure, rederivation
from memories.writing import facet_cache
from ops.audit import receipts
from ops.forgetting import erasure
from ops.models import Kind, Operation, User


def forget_message(
    *, user: User, message: Message, cascade: bool = False, requested_by_key: int | None = None
) -> Operation:
    """Hide a message now, and erase it with its turn and everything derived from it.

    `cascade` also forgets the other message of the turn. A repeated call returns the same
    operation while it runs. Raises `NotFound` if the person has no such message.
    """
    conversation = lock(user, message.conversation_id)
    if not Message.everything.filter(user=user, pk=message.pk).exists():
        raise NotFound("There is no such message.")
    before = erasure.take_up(Kind.FORGET_MESSAGE, user=user, payload={"messages": [message.pk]})
    other = _other_of(user, message) if cascade else None
    if before is not None and (other is None or other in before.payload["messages"]):
        return before
    pks = sorted({message.pk, *([other] if other else [])})
    target = message_erasure.target_of(user, Q(pk__in=pks), conversation=conversation.pk)
    payload = {"conversation": conversation.pk, "messages": pks}
    hide(user, conversation, target)
    rederivation.hide(user=user, resting=target.resting)
    return _begin(Kind.FORGET_MESSAGE, user, target, payload, requested_by_key)


def forget_conversation(
    *,
    user: User,
    conversation: Conversation,
    forget_memories: bool = True,
    requested_by_key: int | None = None,
) -> Operation:
    """Hide a conversation now, and erase it with everything derived from it.

    Without `forget_memories`, memories learned from it stay and count as written by the person.
    Raises `NotFound` if the person has no such conversation.
    """
    return _forget_all(
        Kind.FORGET_CONVERSATION, user, conversation, forget_memories, requested_by_key
    )


def clear_conversation(
    *,
    user: User,
    conversation: Conversation,
    forget_memories: bool = True,
    requested_by_key: int | None = None,
) -> Operation:
    """Forget everything said in a conversation so far, and keep the empty conversation."""
    return _forget_all(
        Kind.CLEAR_CONVERSATION, user, conversation, forget_memories, requested_by_key
    )


def clear_again(
    *, user: User, conversation: Conversation, at: datetime, forget_memories: bool
) -> Operation | None:
    """Clear what was recorded up to a moment; return None if nothing of it exists."""
    before = Message.everything.filter(user=user, conversation=conversation, recorded_at__lte=at)
    newest = before.order_by("-number").first()
    if newest is None:
        return None
    return _forget_all(
        Kind.CLEAR_CONVERSATION,
        user,
        conversation,
        forget_memories,
        None,
        through=newest.number,
    )


def whole(user: User, *, conversation: int, through: int) -> Target:
    """Return all messages of a conversation up to and including this number."""
    upto = Q(number__lte=through)
    return message_erasure.target_of(user, upto, conversation=conversation, is_whole=True)


def hide_memories(user: User, target: Target, *, forget: bool) -> None:
    """Hide derived memories until they are erased or derived again, unless they are to stay."""
    if forget:
        rederivation.hide(user=user, resting=target.resting)
    else:
        rederivation.keep(user=user, resting=target.resting)


def _forget_all(
    kind: Kind,
    user: User,
    conversation: Conversation,
    forget_memories: bool,
    requested_by_key: int | None,
    *,
    through: int | None = None,
) -> Operation:
    locked = lock(user, conversation.pk)
    last = locked.last_number if through is None else through
    payload = {"conversation": locked.pk, "through": last}
    before = erasure.take_up(kind, user=user, payload=payload)
    if before is not None:
        return before
    if kind == Kind.CLEAR_CONVERSATION and locked.hidden_at is not None:
        raise NotFound("There is no such conversation.")
    target = whole(user, conversation=locked.pk, through=last)
    hide(user, locked, target)
    if kind == Kind.FORGET_CONVERSATION:
        Conversation.objects.filter(pk=locked.pk).update(hidden_at=timezone.now())
    hide_memories(user, target, forget=forget_memories)
    payload |= {"forget_memories": forget_memories}
    return _begin(kind, user, target, payload, requested_by_key)


def lock(user: User, pk: int) -> Conversation:
    """Lock a conversation for a forget. Recording takes the same lock, so it waits.

    Raises `NotFound`.
    """
    erasure.start(user)
    found = Conversation.everything.select_for_update().filter(user=user, pk=pk).first()
    if found is None:
        raise NotFound("There is no such conversation.")
    return found


def _other_of(user: User, message: Message) -> int | None:
    turn = Turn.everything.filter(
        Q(user_message=message) | Q(assistant_message=message), user=user
    ).first()
    if turn is None:
        return None
    pair = {turn.user_message_id, turn.assistant_message_id}
    return next(iter(pair - {message.pk}))


def hide(user: User, conversation: Conversation, target: Target) -> None:
    """Hide the target of a locked conversation and update the conversation's counters and title."""
    message_erasure.hide(user, target)
    texts = message_erasure.texts_of(user, target)
    conversation.title = shingles.title_without(conversation.title, [*texts, *map(masked, texts)])
    message_erasure.leave_conversation(conversation)


def _begin(
    kind: Kind,
    user: User,
    target: Target,
    payload: Mapping[str, object],
    requested_by_key: int | None,
) -> Operation:
    """Enqueue the erase; erase traces at once, since they have no hidden state."""
    traces = memory_erasure.erase_traces(
        user=user,
        answers=target.messages,
        conversation=target.conversation if target.is_whole else None,
        until=timezone.now(),
    )
    facet_cache.drop(user.pk)
    operation = erasure.begin(
        kind,
        user=user,
        payload=payload,
        about=target.waiting,
        requested_by_key=requested_by_key,
        target=_named(target, payload),
    )
    receipts.note(operation, step="traces", counts=traces)
    return operation


def _named(target: Target, payload: Mapping[str, object]) -> dict[str, object]:
    """Return public ids, which are the same in every copy of the database."""
    messages = Message.everything.filter(pk__in=target.messages).order_by("pk")
    if "messages" in payload:
        asked = messages.filter(pk__in=payload["messages"])  # type: ignore[misc]
        return {"messages": list(asked.values_list("public_id", flat=True))}
    found = Conversation.everything.get(pk=target.conversation)
    return {
        "conversation": found.public_id,
        "through": payload["through"],
        "forget_memories": payload["forget_memories"],
    }
