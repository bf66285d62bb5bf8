"""Asking for what was said to be forgotten: hidden now, erased by an operation."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from django.db.models import Q
from django.utils import timezone

from conversations.models import Conversation, Message, Turn
from conversations.services import erasing as said
from conversations.services.erasing import Target
from memcenter.lib import shingles
from memcenter.lib.errors import NotFound
from memories.extraction.sensitive import masked
from memories.services import deriving, hot_cache
from memories.services import erasing as known
from ops.models import Kind, Operation, User
from ops.services import erasing, receipts


def forget_message(
    *, user: User, message: Message, cascade: bool = False, requested_by_key: int | None = None
) -> Operation:
    """Hide a message now and erase it with its turn and all that rests on it.

    With `cascade` the other message of the turn goes too. Asked again meanwhile, it gives the
    same operation. Raises `NotFound` when it is gone or another's.
    """
    conversation = lock(user, message.conversation_id)
    if not Message.everything.filter(user=user, pk=message.pk).exists():
        raise NotFound("There is no such message.")
    before = erasing.take_up(Kind.FORGET_MESSAGE, user=user, payload={"messages": [message.pk]})
    other = _other_of(user, message) if cascade else None
    if before is not None and (other is None or other in before.payload["messages"]):
        return before
    pks = sorted({message.pk, *([other] if other else [])})
    target = said.target_of(user, Q(pk__in=pks), conversation=conversation.pk)
    payload = {"conversation": conversation.pk, "messages": pks}
    hide(user, conversation, target)
    deriving.hide(user=user, resting=target.resting)
    return _begin(Kind.FORGET_MESSAGE, user, target, payload, requested_by_key)


def forget_conversation(
    *,
    user: User,
    conversation: Conversation,
    forget_memories: bool = True,
    requested_by_key: int | None = None,
) -> Operation:
    """Hide a conversation now and erase it with all that was made from it.

    Without `forget_memories`, memories that rest on it stay and count as the person's own words.
    Raises `NotFound` when it is gone or another's.
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
    """The same, but the empty conversation stays; what is said from now on is not touched."""
    return _forget_all(
        Kind.CLEAR_CONVERSATION, user, conversation, forget_memories, requested_by_key
    )


def clear_again(
    *, user: User, conversation: Conversation, at: datetime, forget_memories: bool
) -> Operation | None:
    """Clear what was recorded up to a moment; None where nothing of it is there."""
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
    """All of a conversation up to and with the message of this number."""
    upto = Q(number__lte=through)
    return said.target_of(user, upto, conversation=conversation, is_whole=True)


def hide_memories(user: User, target: Target, *, forget: bool) -> None:
    """Hide what rests on it until it is erased or derived again, or let it stay as it is."""
    if forget:
        deriving.hide(user=user, resting=target.resting)
    else:
        deriving.keep(user=user, resting=target.resting)


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
    before = erasing.take_up(kind, user=user, payload=payload)
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
    """Begin to forget, and hold a conversation: nobody records into it meanwhile, for recording
    holds its row too.

    Raises `NotFound`.
    """
    erasing.start(user)
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
    """Hide what goes of a locked conversation, which then tells nothing of it any more."""
    said.hide(user, target)
    texts = said.texts_of(user, target)
    conversation.title = shingles.title_without(conversation.title, [*texts, *map(masked, texts)])
    said.leave_conversation(conversation)


def _begin(
    kind: Kind,
    user: User,
    target: Target,
    payload: Mapping[str, object],
    requested_by_key: int | None,
) -> Operation:
    """Traces have nothing to hide them by, so those that show what goes are erased at once."""
    traces = known.erase_traces(
        user=user,
        answers=target.messages,
        conversation=target.conversation if target.is_whole else None,
        until=timezone.now(),
    )
    hot_cache.drop(user.pk)
    operation = erasing.begin(
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
    """By ids that mean the same in every copy of the database."""
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
