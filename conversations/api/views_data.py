"""Endpoints to forget, clear, export and import."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.http import FileResponse, HttpResponseNotModified
from rest_framework.response import Response

from conversations.api import conversation_lookup, serializers
from conversations.api.conversation_lookup import stored_conversation
from conversations.forgetting import message_forgets
from conversations.importing import file_import
from memcenter.rest.base import MemcenterView
from memcenter.rest.endpoint import CREATE, PRETEND, Call, endpoint
from memcenter.rest.fields import Personal
from memcenter.rest.idempotency import UnstoredResponse
from memcenter.rest.openapi import Accepted
from memcenter.rest.parsers import OrjsonParser, TakesUploads, UploadParser
from memcenter.rest.responses import accepted_response, not_modified
from memories import projects
from memories import selectors as memory_selectors
from memories.forgetting import memory_forgets, spoken_requests
from ops import audit_log
from ops.accounts import users
from ops.forgetting import person_forgets
from ops.models import Scope
from ops.transfer import exports
from ops.transfer.stored_files import as_attachment


class ForgetView(MemcenterView):
    @endpoint(
        summary="Permanently forget a memory, message, conversation, project or user",
        takes=serializers.ForgetInput,
        answers={200: serializers.ForgetQuestion, 202: serializers.ForgetAnswer},
        scope=Scope.FORGET,
        strict=True,
        prepare=lambda call: (
            spoken_requests.requests_of_api_text(call.data["about"]) if "about" in call.data else []
        ),
        while_forgetting=True,
    )
    def post(self, call: Call) -> Response:
        scope = call.data["scope"]
        if scope != "user":  # a repeated request to forget everything returns the same answer
            users.check_not_being_forgotten(call.user)
        return _FORGET[scope](call)


def _forget_memory(call: Call) -> Response:
    if "about" in call.data:
        return _forget_about(call)
    if "memory_id" in call.data:
        memory = memory_selectors.memory_of(call.user, call.data["memory_id"])
        operation = memory_forgets.forget_memory(
            user=call.user, memory=memory, requested_by_key=call.key_id
        )
    else:
        operation = message_forgets.forget_chosen(
            user=call.user,
            memory_ids=call.data.get("memory_ids", ()),
            message_ids=call.data.get("message_ids", ()),
            conversation=conversation_lookup.named_conversation(call),
            requested_by_key=call.key_id,
        )
    return accepted_response(operation)


def _forget_about(call: Call) -> Response:
    """Forget the memory that the request describes, if it clearly means one memory.

    Otherwise forget nothing, and return the ids of the memories and messages that may be meant.
    """
    found = spoken_requests.find(call.ready, user=call.user)
    outcome = spoken_requests.answer(found, user=call.user, requested_by_key=call.key_id)
    ids = {"memory_ids": outcome.memory_ids, "message_ids": outcome.message_ids}
    if outcome.status == spoken_requests.FORGOTTEN:
        answer = {"status": "accepted", "op_id": outcome.op_id, **ids, "also_ids": outcome.also_ids}
        return Response(answer, status=202)
    return Response({"status": outcome.status, **ids})


def _forget_project(call: Call) -> Response:
    project = projects.find(user=call.user, key=call.data["project_key"])
    operation = memory_forgets.forget_project(
        user=call.user, project=project, requested_by_key=call.key_id
    )
    return accepted_response(operation)


def _forget_user(call: Call) -> Response:
    operation, token = person_forgets.forget_user(user=call.user, requested_by_key=call.key_id)
    answer = {"status": "accepted", "op_id": operation.public_id, "receipt_token": token}
    return UnstoredResponse(answer, status=202)


_FORGET: Mapping[str, Callable[[Call], Response]] = {
    "memory": _forget_memory,
    "message": lambda call: conversation_lookup.forget_message(call, call.data["message_id"]),
    "conversation": lambda call: conversation_lookup.forget(call, call.data["conversation_id"]),
    "project": _forget_project,
    "user": _forget_user,
}


class ClearView(MemcenterView):
    @endpoint(
        summary="Forget all messages of a conversation, but keep the conversation",
        takes=serializers.ClearInput,
        answers={202: Accepted},
        scope=Scope.FORGET,
        strict=True,
        unknown_user=PRETEND,
    )
    def post(self, call: Call) -> Response:
        return conversation_lookup.forget(call, call.data["conversation_id"], clears=True)


class ExportView(MemcenterView):
    @endpoint(
        summary="Export one conversation, or all data of a user",
        takes=serializers.ExportInput,
        answers={202: serializers.Started},
        scope=Scope.EXPORT,
    )
    def post(self, call: Call) -> Response:
        reference = call.data.get("conversation_id")
        conversation = stored_conversation(call, reference) if reference else None
        export = exports.request_export(
            user=call.user,
            format=call.data["format"],
            actor=f"key {call.key_id}",
            surface="api",
            conversation=(conversation.pk, conversation.public_id) if conversation else None,
            requested_by_key=call.key_id,
        )
        return accepted_response(export.operation)


class ExportDownloadView(MemcenterView):
    @endpoint(
        summary="Download the file of a finished export; its ETag is its SHA-256 hash",
        takes=Personal,
        answers=serializers.FILE,
        scope=Scope.EXPORT,
        etag=True,
    )
    def get(self, call: Call, op_id: str) -> FileResponse | HttpResponseNotModified:
        export = exports.ready_export(user=call.user, op_id=op_id)
        if known := not_modified(call.parsed.request, f'"{export.sha256}"'):
            return known
        audit_log.append(
            "export.downloaded",
            actor=f"key {call.key_id}",
            surface="api",
            subject=call.user.subject,
            target=op_id,
        )
        return as_attachment(export)


class ImportView(TakesUploads, MemcenterView):
    parser_classes = (UploadParser, OrjsonParser)

    @endpoint(
        summary="Import a file; its format is detected unless it is given",
        takes=serializers.ImportInput,
        answers={202: serializers.Started},
        unknown_user=CREATE,
        media="multipart/form-data",
    )
    def post(self, call: Call) -> Response:
        file: Any = call.data["file"]
        row = file_import.request(
            user=call.user,
            file=file,
            size=file.size,
            format=call.data.get("format", ""),
            actor=f"key {call.key_id}",
            surface="api",
            requested_by_key=call.key_id,
        )
        return accepted_response(row.operation)
