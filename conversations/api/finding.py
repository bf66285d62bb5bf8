"""The conversation that a call names: kept, or temporary."""

from __future__ import annotations

from conversations.models import Conversation
from conversations.services import temporary, threads
from conversations.services.temporary import TemporaryConversation
from memcenter.lib import ids
from memcenter.lib.errors import Conflict, Invalid, NotFound
from memcenter.rest.endpoint import Call

Thread = Conversation | TemporaryConversation


def thread_of(call: Call, reference: str) -> Thread:
    """Raises `NotFound`."""
    if call.user.pk is not None:
        try:
            return threads.resolve(user=call.user, reference=reference)
        except NotFound:
            pass
    found = temporary.find(user=call.user, reference=reference)
    if found is None:
        raise NotFound("There is no such conversation.")
    return found


def kept(call: Call, reference: str) -> Conversation:
    found = thread_of(call, reference)
    if isinstance(found, TemporaryConversation):
        raise NotFound("A temporary conversation keeps nothing of this kind.")
    return found


def thread_for_writing(call: Call, reference: str, *, kind: str | None, brief: bool) -> Thread:
    """The conversation, made on first write under the client's own id; `brief`: temporary.

    Raises `Conflict` when a kept conversation is asked to be temporary.
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
        make = temporary.create if brief else threads.create
        return make(user=call.user, external_id=reference, kind=kind)
    if brief and isinstance(found, Conversation):
        raise Conflict("This conversation is kept; a temporary one needs an id of its own.")
    if kind is not None and found.kind != kind:
        raise Conflict(
            "The conversation is of another kind.", fields={"conversation_kind": [found.kind]}
        )
    return found
