"""The pages of data management: export and import, stored data, operations and receipts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_POST, require_safe

from memcenter.lib.errors import Conflict, NotFound
from ops import selectors
from ops.models import Export, Import, Operation, Receipt, Status, User
from ops.pages import operation_rows, stored_amounts
from ops.pages.base import own_transaction, person, personal_page, target
from ops.pages.operation_rows import IMPORT_FORMATS, said
from ops.queue import outbox
from ops.transfer import exports

_RECEIPTS = 10  # shown at once
_ALL_RECEIPTS = 1_000
_TRANSFERS_SHOWN = 5
_LISTED = 50
_MOVING = (Status.PENDING, Status.RUNNING)
_STEPS = {
    "export": gettext_lazy("Writing"),
    "read": gettext_lazy("Reading the file"),
    "apply": gettext_lazy("Importing"),
    "index": gettext_lazy("Indexing"),
}
_LINE = re.compile(r"line (\d+)")
_ROW = re.compile(r"([a-z]{1,40}) (\d+)")


@require_safe
@personal_page
def data_management(request: HttpRequest) -> HttpResponse:
    with own_transaction(request):
        user = person(request)
        if target(request) == "activity":
            return render(request, "ops/data_management.html#activity", _activity(request, user))
        if target(request) == "transfers":
            context = {"is_part": True, **transfers_context(user)}
            return render(request, "ops/data_management.html#transfers", context)
        return render(request, "ops/data_management.html", _data_context(request, user))


def _data_context(request: HttpRequest, user: User) -> dict[str, Any]:
    counts = stored_amounts.counts_of(user)
    return {
        "section": "memory",
        "amounts": stored_amounts.amounts_of(counts),
        "goes": stored_amounts.sentences_of(counts),
        **transfers_context(user),
        **_activity(request, user),
    }


def _activity(request: HttpRequest, user: User) -> dict[str, Any]:
    most = _ALL_RECEIPTS if "receipts" in request.GET else _RECEIPTS
    lines, upkeep = operation_rows.operation_lines(user)
    newest = Receipt.objects.filter(subject=user.subject).select_related("operation")
    receipts = list(newest.order_by("-pk")[: most + 1])
    return {
        "happenings": lines,
        "upkeep": upkeep,
        "is_moving": operation_rows.is_moving(lines),
        "receipts": receipts[:most],
        "has_more_receipts": len(receipts) > most,
        "shows_all_receipts": most == _ALL_RECEIPTS,
    }


@require_POST
@personal_page
def operation_retry(request: HttpRequest, op_id: str) -> HttpResponse:
    with own_transaction(request):
        operation = _own_operation(person(request), op_id)
        try:
            outbox.retry(operation)
        except Conflict as error:
            messages.error(request, _(error.message))
        else:
            messages.success(request, _("Trying again."))
    return redirect(reverse("data_management") + "#activity")


@require_POST
@personal_page
def operation_cancel(request: HttpRequest, op_id: str) -> HttpResponse:
    with own_transaction(request):
        operation = _own_operation(person(request), op_id)
        try:
            _cancel(operation)
        except Conflict as error:
            messages.error(request, _(error.message))
        else:
            messages.success(request, _("Cancelled. Nothing was changed."))
    return redirect(reverse("data_management") + "#activity")


def _cancel(operation: Operation) -> None:
    if not selectors.can_be_cancelled(operation):
        raise Conflict("Only a waiting operation can be cancelled, and never a forget.")
    outbox.cancel(operation)


def _own_operation(user: User, op_id: str) -> Operation:
    found = selectors.operations_of(user).filter(public_id=op_id).first()
    if found is None:
        raise NotFound("There is no such operation.")
    return found


@dataclass(frozen=True)
class TransferLine:
    """An export or import for the page: its state, and its progress while it runs.

    A `total` of 0 means that the total is unknown.
    """

    op_id: str
    title: str
    status: str
    created_at: datetime
    is_moving: bool
    step: str
    done: int
    total: int
    progress: str
    error: str
    can_retry: bool
    can_cancel: bool


@dataclass(frozen=True)
class ExportLine(TransferLine):
    conversation_id: str
    bytes: int
    sha256: str
    expires_at: datetime | None
    is_ready: bool


@dataclass(frozen=True)
class Skipped:
    where: str
    why: str


@dataclass(frozen=True)
class ImportLine(TransferLine):
    is_done: bool
    brought: str
    notes: Sequence[str]
    skipped: Sequence[Skipped]
    skipped_more: int
    skipped_words: str


def transfers_context(user: User) -> dict[str, Any]:
    export_lines = [_export_line(item) for item in exports.list_exports(user)[:_TRANSFERS_SHOWN]]
    rows = Import.objects.filter(user=user, hidden_at__isnull=True).select_related("operation")
    import_lines = [
        _import_line(item)
        for item in rows.exclude(operation__status=Status.CANCELLED).order_by("-pk")[
            :_TRANSFERS_SHOWN
        ]
    ]
    moving = any(item.is_moving for item in (*export_lines, *import_lines))
    return {
        "exports": export_lines,
        "imports": import_lines,
        "transfers_move": moving,
        "import_megabytes": settings.MAX_IMPORT_BYTES // (1 << 20),
    }


def _transfer_line(operation: Operation, title: str) -> dict[str, Any]:
    is_moving = operation.status in _MOVING
    done, total = operation.progress_done, operation.progress_total
    numbers = {"done": stored_amounts.shown(done)["n"], "total": stored_amounts.shown(total)["n"]}
    return {
        "op_id": operation.public_id,
        "title": title,
        "status": operation.status,
        "created_at": operation.created_at,
        "is_moving": is_moving,
        "step": str(_STEPS.get(operation.progress_step, _("Queued"))),
        "done": done,
        "total": total,
        "progress": _("%(done)s of %(total)s") % numbers if total else "",
        "error": said(operation.last_error) if operation.last_error else "",
        "can_retry": operation.status == Status.FAILED,
        "can_cancel": selectors.can_be_cancelled(operation),
    }


def _export_line(row: Export) -> ExportLine:
    title = _("One conversation") if row.conversation_public_id else _("Everything")
    return ExportLine(
        **_transfer_line(row.operation, f"{title} · {row.format.upper()}"),
        conversation_id=row.conversation_public_id,
        bytes=row.bytes,
        sha256=row.sha256,
        expires_at=row.expires_at,
        is_ready=exports.is_ready(row) and row.hidden_at is None,
    )


def _import_line(row: Import) -> ImportLine:
    report = row.result
    format = str(IMPORT_FORMATS.get(report.get("format", row.format), ""))
    title = " · ".join(filter(None, (row.file_name, format))) or _("A file")
    line = _transfer_line(row.operation, title)
    if row.operation.status == Status.FAILED and not row.path:
        line["can_retry"] = False  # the file was deleted and must be uploaded again
    skipped = report.get("skipped", [])
    count = report.get("skipped_count", 0)
    return ImportLine(
        **line,
        is_done=row.finished_at is not None,
        brought=_brought(report) if report else "",
        notes=_notes(report, skipped=count) if report else (),
        skipped=[Skipped(_where(entry["where"]), _(entry["why"])) for entry in skipped[:_LISTED]],
        skipped_more=max(0, count - _LISTED),
        skipped_words=ngettext("%(n)s entry skipped", "%(n)s entries skipped", count)
        % stored_amounts.shown(count),
    )


def _brought(report: dict[str, Any]) -> str:
    """Return what an import has added, in words: “3 conversations, 120 messages, 4 memories”."""
    counted = [
        ngettext("%(n)s conversation", "%(n)s conversations", report["conversations"])
        % stored_amounts.shown(report["conversations"]),
        ngettext("%(n)s message", "%(n)s messages", report["messages"])
        % stored_amounts.shown(report["messages"]),
        ngettext("%(n)s memory", "%(n)s memories", report["memories"])
        % stored_amounts.shown(report["memories"]),
    ]
    counts = (report["conversations"], report["messages"], report["memories"])
    kept = [words for words, count in zip(counted, counts, strict=True) if count]
    return _(", ").join(kept) if kept else _("Nothing new")


def _notes(report: dict[str, Any], *, skipped: int) -> list[str]:
    notes = []
    brought = any(report[name] for name in ("conversations", "messages", "memories"))
    if report["already_there"] and not brought and not skipped:
        notes.append(_("Everything in it is already here."))
    elif report["already_there"]:
        notes.append(_("What was already here wasn’t changed."))
    if report["people"] > 1:
        notes.append(
            _(
                "The file is about %(n)s people. Nothing is learned from it, "
                "because it doesn’t say who made which statement."
            )
            % stored_amounts.shown(report["people"])
        )
    elif report["turns_to_learn_from"]:
        notes.append(_("Memories are learned from it in the background."))
    return notes


def _where(where: str) -> str:
    if found := _LINE.fullmatch(where):
        return _("line %(n)s") % {"n": number_format(int(found[1]), force_grouping=True)}
    if found := _ROW.fullmatch(where):
        return f"{stored_amounts.label_of(found[1])} {found[2]}"
    return where if where.startswith("[") else stored_amounts.label_of(where)
