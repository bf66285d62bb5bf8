"""Endpoints for memory files and daily notes."""

from __future__ import annotations

from django.http import HttpResponseNotModified
from rest_framework.response import Response

from foundation.errors import Stale
from memcenter.rest import people
from memcenter.rest.base import MemcenterView
from memcenter.rest.endpoint import CREATE, EMPTY, Call, endpoint
from memcenter.rest.fields import Personal
from memcenter.rest.openapi import page_of
from memcenter.rest.pagination import Order, single_page
from memcenter.rest.responses import not_modified
from memories.api import rendering, response_shapes, serializers
from memories.files import daily_notes, file_sync, memory_files, memory_tool
from memories.files.memory_files import AppliedEdit, PreparedEdit
from ops.access import as_user


class FilesView(MemcenterView):
    @endpoint(
        summary="List the memory files, with daily notes last",
        takes=Personal,
        answers={200: page_of(response_shapes.FileEntry)},
        unknown_user=EMPTY,
    )
    def get(self, call: Call) -> Response:
        found = memory_files.all_of(call.user) if call.user.pk != people.NOBODY else []
        return Response(single_page([response_shapes.FileEntry.show(one) for one in found]))


def _prepare_put(call: Call) -> PreparedEdit:
    return memory_files.prepare(
        call.data["content"],
        user=call.user,
        path=call.parsed.ids["file_path"],
        surface="api",
        match=_matching(call),
    )


def _matching(call: Call) -> str | None:
    """Return the ETag from the `If-Match` header, or None if the header is missing.

    Raise `Stale` if the header contains several ETags.
    """
    given = call.parsed.request.headers.get("If-Match")
    if given is None:
        return None
    tag = given.strip()
    if "," in tag:
        raise Stale("Name the one state that the text was made of.")
    return tag


class FileView(MemcenterView):
    @endpoint(
        summary="Get the current content of a memory file, with its ETag",
        takes=Personal,
        answers={200: response_shapes.File},
        etag=True,
    )
    def get(self, call: Call, file_path: str) -> Response | HttpResponseNotModified:
        file = memory_files.read(call.user, file_path)
        if known := not_modified(call.parsed.request, file.etag):
            return known
        return Response(response_shapes.File.show(file), headers={"ETag": file.etag})

    @endpoint(
        summary="Replace a memory file; If-Match prevents lost updates (412)",
        takes=serializers.FileText,
        answers={200: response_shapes.EditedFile},
        etag=True,
        unknown_user=CREATE,
        prepare=_prepare_put,
    )
    def put(self, call: Call, file_path: str) -> Response:
        return _edited(file_sync.edit(call.ready, user=call.user))


class FileVersionsView(MemcenterView):
    @endpoint(
        summary="List the versions of a memory file, newest first",
        takes=Personal,
        pages=response_shapes.FileVersion,
    )
    def get(self, call: Call, file_path: str) -> Response:
        rows = memory_files.versions_of(call.user, file_path)
        return Response(call.page.of(rows, order=Order("number"), show=rendering.file_version))


def _prepare_restore(call: Call) -> PreparedEdit:
    path = call.parsed.ids["file_path"]
    with as_user(call.user):
        old = memory_files.version_of(call.user, path, call.data["version"])
    return memory_files.prepare(
        old.content, user=call.user, path=path, surface="api", match=_matching(call) or "*"
    )


class FileRestoreView(MemcenterView):
    @endpoint(
        summary="Restore an old version of a memory file; this creates a new version",
        takes=serializers.FileRestore,
        answers={200: response_shapes.EditedFile},
        etag=True,
        prepare=_prepare_restore,
    )
    def post(self, call: Call, file_path: str) -> Response:
        return _edited(file_sync.edit(call.ready, user=call.user))


class FileToolView(MemcenterView):
    @endpoint(
        summary="Run a command of Anthropic's memory tool (memory_20250818)",
        takes=serializers.ToolCommand,
        answers={200: response_shapes.ToolAnswer},
        unknown_user=CREATE,
        prepare=lambda call: memory_tool.prepare(call.data, user=call.user),
    )
    def post(self, call: Call) -> Response:
        return Response({"content": call.ready()})


def _edited(applied: AppliedEdit) -> Response:
    return Response(response_shapes.EditedFile.show(applied), headers={"ETag": applied.file.etag})


class AppendView(MemcenterView):
    @endpoint(
        summary="Add a line to today's daily note, in the user's time zone",
        takes=serializers.NoteLine,
        answers={201: response_shapes.AppendedLine},
        unknown_user=CREATE,
    )
    def post(self, call: Call) -> Response:
        source = call.data.get("source") or self.surface
        appended = daily_notes.append(call.data["text"], user=call.user, source=source)
        return Response(rendering.line(appended, user=call.user), status=201)
