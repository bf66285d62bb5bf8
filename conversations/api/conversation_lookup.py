"""Find, rename, forget or clear the conversation that a request names.

The conversation may be stored in the database or temporary (in Redis only).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rest_framework.response import Response

from conversations import selectors
from conversations.forgetting import message_forgets
from conversations.models import Conversation, Message
from conversations.recording import conversation_names, temporary
from conversations.recording.temporary import TemporaryConversation
from foundation import ids
from foundation.errors import Conflict, Invalid, NotFound
from memcenter.rest.endpoint import CREATE, PRETEND, Call, ParsedRequest
from memcenter.rest.idempotency import UnstoredResponse
from memcenter.rest.responses import accepted_response
from ops.models import User

Thread = Conversation | TemporaryConversation


def thread_of(call: Call, reference: str) -> Thread:
    """Return the stored or temporary conversation with this id.

    Raise `NotFound` if there is no such conversation.
    """
    if call.user.pk is not None:
        try:
            return conversation_names.resolve(user=call.user, reference=reference)
        except NotFound:
            pass
    found = temporary.find(user=call.user, reference=reference)
    if found is None:
        raise NotFound("This conversation doesn’t exist.")
    return found


def message_of(call: Call, reference: str) -> Message:
    """Return the message with this id, which may be our id or the client's id.

    If the request has a `conversation_id`, search only that conversation. Raise `NotFound` if there
    is no such message, and `Invalid` if messages of several conversations have this id and the
    request has no `conversation_id`.
    """
    found = selectors.message_of(call.user, reference, conversation=named_conversation(call))
    if found.conversation.hidden_at is not None:
        raise NotFound("This message doesn’t exist.")
    return found


def named_conversation(call: Call) -> Conversation | None:
    """Return the conversation that the request's field `conversation_id` names.

    Return None if the request has no such field. Raise `NotFound` if there is no such conversation.
    """
    named = call.data.get("conversation_id")
    return conversation_names.resolve(user=call.user, reference=named) if named else None


def stored_conversation(call: Call, reference: str) -> Conversation:
    found = thread_of(call, reference)
    if isinstance(found, TemporaryConversation):
        raise NotFound("A temporary conversation keeps nothing of this kind.")
    return found


def thread_for_writing(call: Call, reference: str, *, kind: str | None, brief: bool) -> Thread:
    """Return the conversation with this id, or create it if the id is an unknown client id.

    `brief` requests a temporary conversation. Raise `Conflict` if `brief` is set but a stored
    conversation has this id, or if the existing conversation's kind isn't `kind`. No conversation
    is created for an unknown id that looks like one of ours: raise `NotFound` if it begins with
    `conv_`, otherwise `Invalid`.
    """
    try:
        found = thread_of(call, reference)
    except NotFound:
        if ids.resembles_public_id(reference):
            if reference.startswith("conv_"):
                raise
            raise Invalid.field("conversation_id", "Ids with this prefix are reserved.") from None
        make = temporary.create if brief else conversation_names.create
        return make(user=call.user, external_id=reference, kind=kind)
    if brief and isinstance(found, Conversation):
        raise Conflict("This conversation is kept; a temporary one needs an id of its own.")
    if kind is not None and found.kind != kind:
        raise Conflict(
            "The conversation is of another kind.", fields={"conversation_kind": [found.kind]}
        )
    return found


def unknown_user_policy(parsed: ParsedRequest) -> str:
    """Return `PRETEND` if the request is about a temporary conversation, otherwise `CREATE`.

    So an unknown user is created only if the conversation is stored in the database.
    """
    if parsed.data.get("temporary"):
        return PRETEND
    reference = parsed.ids.get("conversation_id") or parsed.data.get("conversation_id")
    nobody = User(external_id=parsed.user_id)
    if reference is not None and temporary.find(user=nobody, reference=reference):
        return PRETEND
    return CREATE


def rename(call: Call, thread: Thread, *, title: str) -> Thread:
    if isinstance(thread, TemporaryConversation):
        return temporary.rename(thread, title=title)
    return conversation_names.rename(user=call.user, conversation=thread, title=title)


def forget_message(call: Call, reference: str) -> Response:
    operation = message_forgets.forget_message(
        user=call.user,
        message=message_of(call, reference),
        cascade=call.data.get("cascade", False),
        requested_by_key=call.key_id,
    )
    return accepted_response(operation)


def forget(call: Call, reference: str, *, clears: bool = False) -> Response:
    """Forget a conversation; with `clears`, forget all its messages but keep the conversation.

    A temporary conversation is erased at once; its response contains no operation id.
    """
    thread = thread_of(call, reference)
    if isinstance(thread, TemporaryConversation):
        temporary.erase(thread, messages_only=clears)
        return UnstoredResponse({"status": "accepted", "op_id": None}, status=202)
    enqueue = message_forgets.clear_conversation if clears else message_forgets.forget_conversation
    operation = enqueue(
        user=call.user,
        conversation=thread,
        forget_memories=call.data.get("forget_memories", True),
        requested_by_key=call.key_id,
    )
    return accepted_response(operation)


def write_response(thread: Thread, answer: Mapping[str, Any], *, status: int = 200) -> Response:
    """Return the response to a request that has written to the conversation `thread`.

    If the conversation is temporary, the response isn't stored for retries with the same
    idempotency key.
    """
    kind = UnstoredResponse if isinstance(thread, TemporaryConversation) else Response
    return kind(answer, status=status)
