"""Exports and imports."""

from __future__ import annotations

from typing import Any

from django.http import FileResponse, HttpResponseNotModified
from rest_framework.response import Response

from conversations.api import serializers_transfer as serializers
from conversations.api.conversation_names import kept
from conversations.importing import file_import
from memcenter.rest.base import MemcenterView
from memcenter.rest.endpoint import CREATE, Call, endpoint
from memcenter.rest.etags import not_modified
from memcenter.rest.requests.parsers import OrjsonParser
from memcenter.rest.requests.uploads import TakesUploads, UploadParser
from ops.audit import audit_log
from ops.models import Scope
from ops.transfer import export_requests
from ops.transfer.downloads import as_attachment


class ExportView(MemcenterView):
    @endpoint(
        summary="Export one conversation, or everything of a user",
        takes=serializers.ExportInput,
        answers={202: serializers.Started},
        scope=Scope.EXPORT,
    )
    def post(self, call: Call) -> Response:
        reference = call.data.get("conversation_id")
        conversation = kept(call, reference) if reference else None
        export = export_requests.request(
            user=call.user,
            format=call.data["format"],
            actor=f"key {call.key_id}",
            surface="api",
            conversation=(conversation.pk, conversation.public_id) if conversation else None,
            requested_by_key=call.key_id,
        )
        answer = {"status": "accepted", "op_id": export.operation.public_id}
        return Response(answer, status=202)


class ExportDownloadView(MemcenterView):
    @endpoint(
        summary="The file of a finished export; its ETag is the SHA-256 of the content",
        takes=serializers.Personal,
        answers=serializers.FILE,
        scope=Scope.EXPORT,
        etag=True,
    )
    def get(self, call: Call, op_id: str) -> FileResponse | HttpResponseNotModified:
        export = export_requests.ready(user=call.user, op_id=op_id)
        if known := not_modified(call.asked.request, f'"{export.sha256}"'):
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
        summary="Import a file; what it is is found out unless it is said",
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
        return Response({"status": "accepted", "op_id": row.operation.public_id}, status=202)
