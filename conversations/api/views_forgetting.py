"""Forgetting, by what it is about; and clearing a conversation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rest_framework.response import Response

from conversations import selectors
from conversations.api import leaving, serializers, shown
from conversations.services import forget_choices, forgetting
from memcenter.rest.base import MemcenterView
from memcenter.rest.endpoint import PRETEND, Call, endpoint
from memcenter.rest.idempotency import Passing
from memcenter.rest.schema import Accepted
from memories import selectors as known
from memories.services import forgetting as memory_forgetting
from memories.services import projects, requests
from memories.services.requests import Asked
from ops.models import Scope
from ops.services import forgetting as user_forgetting
from ops.services import users


class ForgetView(MemcenterView):
    @endpoint(
        summary="Forget a memory, message, conversation, project or everything, for real",
        takes=serializers.ForgetInput,
        answers={200: serializers.ForgetQuestion, 202: serializers.ForgetAnswer},
        scope=Scope.FORGET,
        strict=True,
        prepare=lambda call: _asked(call.data),
        while_forgetting=True,
    )
    def post(self, call: Call) -> Response:
        scope = call.data["scope"]
        if scope != "user":  # asked again, forgetting everything gives the same answer
            users.check_not_being_forgotten(call.user)
        return _FORGET[scope](call)


def _asked(data: Mapping[str, Any]) -> list[Asked]:
    return requests.asked_about(data["about"]) if "about" in data else []


def _forget_memory(call: Call) -> Response:
    if "about" in call.data:
        return _forget_about(call)
    if "memory_id" not in call.data:
        return _forget_chosen(call)
    memory = known.memory_of(call.user, call.data["memory_id"])
    operation = memory_forgetting.forget_memory(
        user=call.user, memory=memory, requested_by_key=call.key_id
    )
    return Response(shown.accepted(operation.public_id), status=202)


def _forget_about(call: Call) -> Response:
    """Done at once where one memory is plainly meant; else a question, by ids."""
    found = requests.find(call.ready, user=call.user)
    outcome = requests.answer(found, user=call.user, requested_by_key=call.key_id)
    ids = {"memory_ids": outcome.memory_ids, "message_ids": outcome.message_ids}
    if outcome.status == requests.FORGOTTEN:
        return Response(shown.accepted(outcome.op_id) | ids, status=202)
    return Response({"status": outcome.status, **ids})


def _forget_chosen(call: Call) -> Response:
    operation = forget_choices.forget(
        user=call.user,
        memory_ids=call.data.get("memory_ids", ()),
        message_ids=call.data.get("message_ids", ()),
        requested_by_key=call.key_id,
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
    )
    def post(self, call: Call) -> Response:
        return leaving.clear(call, call.data["conversation_id"])
