"""Find the conversation that a call names, stored or temporary."""

from __future__ import annotations

from conversations import selectors
from conversations.models import Conversation, Message
from conversations.recording import conversation_names, temporary
from conversations.recording.temporary import TemporaryConversation
from memcenter.lib import ids
from memcenter.lib.errors import Conflict, Invalid, NotFound
from memcenter.rest.endpoint import Call

Thread = Conversation | TemporaryConversation


def thread_of(call: Call, reference: str) -> Thread:
    """Return the conversation. Raises `NotFound`."""
    if call.user.pk is not None:
        try:
            return conversation_names.resolve(user=call.user, reference=reference)
        except NotFound:
            pass
    found = temporary.find(user=call.user, reference=reference)
    if found is None:
        raise NotFound("There is no such conversation.")
    return found


def message_of(call: Call, reference: str) -> Message:
    """Return the message with this id, ours or the client's, in `conversation_id` if given.

    Raises `NotFound`, and `Invalid` if the conversation must be named.
    """
    named = call.data.get("conversation_id")
    thread = conversation_names.resolve(user=call.user, reference=named) if named else None
    found = selectors.message_of(call.user, reference, conversation=thread)
    if found.conversation.hidden_at is not None:
        raise NotFound("There is no such message.")
    return found


def kept(call: Call, reference: str) -> Conversation:
    found = thread_of(call, reference)
    if isinstance(found, TemporaryConversation):
        raise NotFound("A temporary conversation keeps nothing of this kind.")
    return found


def thread_for_writing(call: Call, reference: str, *, kind: str | None, brief: bool) -> Thread:
    """Return the conversation, created on first write with the client's id; `brief` means
    temporary.

    Raises `Conflict` if a stored conversation is requested as temporary.
    """
    try:
        found = thread_of(call, reference)
    except NotFound:
        if ids.is_ours(reference):
            if reference.startswith("conv_"):
                raise
            raise Invalid.field(
                "conversation_id", "Ids that begin like ours are given by us only."
            ) from None
        make = temporary.create if brief else conversation_names.create
        return make(user=call.user, external_id=reference, kind=kind)
    if brief and isinstance(found, Conversation):
        raise Conflict("This conversation is kept; a temporary one needs an id of its own.")
    if kind is not None and found.kind != kind:
        raise Conflict(
            "The conversation is of another kind.", fields={"conversation_kind": [found.kind]}
        )
    return found
