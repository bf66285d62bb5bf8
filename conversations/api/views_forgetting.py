"""Forget by target, and clear a conversation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rest_framework.response import Response

from conversations.api import forget_or_clear, rendering, serializers
from conversations.api.conversation_names import message_of
from conversations.forgetting import forget_choices, message_forgets
from memcenter.rest.base import MemcenterView
from memcenter.rest.description.schema import Accepted
from memcenter.rest.endpoint import PRETEND, Call, endpoint
from memcenter.rest.requests.idempotency import UnstoredResponse
from memories import projects
from memories import selectors as memory_selectors
from memories.forgetting import memory_forgets, spoken_requests
from memories.forgetting.spoken_requests import Asked
from ops.accounts import users
from ops.forgetting import person_forgets
from ops.models import Scope


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
    return spoken_requests.asked_about(data["about"]) if "about" in data else []


def _forget_memory(call: Call) -> Response:
    if "about" in call.data:
        return _forget_about(call)
    if "memory_id" not in call.data:
        return _forget_chosen(call)
    memory = memory_selectors.memory_of(call.user, call.data["memory_id"])
    operation = memory_forgets.forget_memory(
        user=call.user, memory=memory, requested_by_key=call.key_id
    )
    return Response(rendering.accepted(operation.public_id), status=202)


def _forget_about(call: Call) -> Response:
    """Forget at once if exactly one memory is plainly meant; else return a question with ids."""
    found = spoken_requests.find(call.ready, user=call.user)
    outcome = spoken_requests.answer(found, user=call.user, requested_by_key=call.key_id)
    ids = {"memory_ids": outcome.memory_ids, "message_ids": outcome.message_ids}
    if outcome.status == spoken_requests.FORGOTTEN:
        return Response(rendering.accepted(outcome.op_id) | ids, status=202)
    return Response({"status": outcome.status, **ids})


def _forget_chosen(call: Call) -> Response:
    operation = forget_choices.forget(
        user=call.user,
        memory_ids=call.data.get("memory_ids", ()),
        message_ids=call.data.get("message_ids", ()),
        requested_by_key=call.key_id,
    )
    return Response(rendering.accepted(operation.public_id), status=202)


def _forget_message(call: Call) -> Response:
    operation = message_forgets.forget_message(
        user=call.user,
        message=message_of(call, call.data["message_id"]),
        cascade=call.data.get("cascade", False),
        requested_by_key=call.key_id,
    )
    return Response(rendering.accepted(operation.public_id), status=202)


def _forget_conversation(call: Call) -> Response:
    return forget_or_clear.forget(call, call.data["conversation_id"])


def _forget_project(call: Call) -> Response:
    project = projects.find(user=call.user, key=call.data["project_key"])
    operation = memory_forgets.forget_project(
        user=call.user, project=project, requested_by_key=call.key_id
    )
    return Response(rendering.accepted(operation.public_id), status=202)


def _forget_user(call: Call) -> Response:
    operation, token = person_forgets.forget_user(user=call.user, requested_by_key=call.key_id)
    return UnstoredResponse(
        rendering.accepted(operation.public_id, receipt_token=token), status=202
    )


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
        return forget_or_clear.clear(call, call.data["conversation_id"])
