"""Forgetting, by what it is about; and clearing a conversation."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rest_framework.response import Response

from conversations import owners, selectors
from conversations.api import leaving, serializers, shown
from conversations.services import forgetting
from memcenter.rest.base import MemcenterView
from memcenter.rest.endpoint import PRETEND, Call, endpoint
from memcenter.rest.idempotency import Passing
from memcenter.rest.schema import Accepted
from memories import owners as known_owners
from memories import selectors as known
from memories.services import forgetting as memory_forgetting
from memories.services import projects
from ops.models import Scope
from ops.services import forgetting as user_forgetting
from ops.services import users

_OWNERS = {
    "conversation_id": owners.of_conversation,
    "message_id": owners.of_message,
    "memory_id": known_owners.of_memory,
}


class ForgetView(MemcenterView):
    @endpoint(
        summary="Forget a memory, message, conversation, project or everything, for real",
        takes=serializers.ForgetInput,
        answers={202: Accepted},
        scope=Scope.FORGET,
        strict=True,
        owners=_OWNERS,
        while_forgetting=True,
    )
    def post(self, call: Call) -> Response:
        scope = call.data["scope"]
        if scope != "user":  # asked again, forgetting everything gives the same answer
            users.check_not_being_forgotten(call.user)
        return _FORGET[scope](call)


def _forget_memory(call: Call) -> Response:
    memory = known.memory_of(call.user, call.data["memory_id"])
    operation = memory_forgetting.forget_memory(
        user=call.user, memory=memory, requested_by_key=call.key_id
    )
    return Response(shown.accepted(operation.public_id), status=202)


def _forget_message(call: Call) -> Response:
    operation = forgetting.forget_message(
        user=call.user,
        message=selectors.message_of(call.user, call.data["message_id"]),
        cascade=call.data.get("cascade", False),
        requested_by_key=call.key_id,
    )
    return Response(shown.accepted(operation.public_id), status=202)


def _forget_conversation(call: Call) -> Response:
    return leaving.forget(call, call.data["conversation_id"])


def _forget_project(call: Call) -> Response:
    project = projects.find(user=call.user, key=call.data["project_key"])
    operation = memory_forgetting.forget_project(
        user=call.user, project=project, requested_by_key=call.key_id
    )
    return Response(shown.accepted(operation.public_id), status=202)


def _forget_user(call: Call) -> Response:
    operation, token = user_forgetting.forget_user(user=call.user, requested_by_key=call.key_id)
    return Passing(shown.accepted(operation.public_id, receipt_token=token), status=202)


_FORGET: Mapping[str, Callable[[Call], Response]] = {
    "memory": _forget_memory,
    "message": _forget_message,
    "conversation": _forget_conversation,
    "project": _forget_project,
    "user": _forget_user,
}


class ClearView(MemcenterView):
    @endpoint(
        summary="Forget all that was said in a conversation; the empty conversation stays",
        takes=serializers.ClearInput,
        answers={202: Accepted},
        scope=Scope.FORGET,
        strict=True,
        unknown_user=PRETEND,
        owners=_OWNERS,
    )
    def post(self, call: Call) -> Response:
        return leaving.clear(call, call.data["conversation_id"])
