"""The pages of data management: export and import, stored data, operations and receipts."""

from __future__ import annotations

import re
from collections.abc import Callable
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

from foundation.errors import Conflict, NotFound
from ops import selectors
from ops.models import Export, Import, Operation, Receipt, Status, User
from ops.pages import operation_rows, stored_amounts
from ops.pages.base import own_transaction, person, personal_page, target
from ops.pages.forgetting import receipt_rows
from ops.pages.operation_rows import IMPORT_FORMATS, error_words
from ops.queue import outbox
from ops.transfer import exports

_RECEIPTS = 10  # shown until the person asks for all
_ALL_RECEIPTS = 1_000
_TRANSFERS_SHOWN = 5
_LISTED = 50  # skipped entries of an import
_STEPS = {
    "export": gettext_lazy("Writing"),
    "read": gettext_lazy("Reading the file"),
    "apply": gettext_lazy("Importing"),
    "index": gettext_lazy("Indexing"),
}
# The kinds of rows that an import adds, and their keys in its report.
_BROUGHT = {"conversation": "conversations", "message": "messages", "memory": "memories"}
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
        counts = stored_amounts.counts_of(user)
        context = {
            "section": "memory",
            "amounts": stored_amounts.amounts_of(counts),
            "goes": stored_amounts.sentences_of(counts),
            **transfers_context(user),
            **_activity(request, user),
        }
        return render(request, "ops/data_management.html", context)


def _activity(request: HttpRequest, user: User) -> dict[str, Any]:
    most = _ALL_RECEIPTS if "receipts" in request.GET else _RECEIPTS
    lines, upkeep = operation_rows.operation_lines(user)
    newest = Receipt.objects.filter(subject=user.subject).select_related("operation")
    receipts = list(newest.order_by("-pk")[: most + 1])
    return {
        "happenings": lines,
        "upkeep": upkeep,
        "is_moving": operation_rows.is_moving(lines),
        "receipts": receipt_rows(receipts[:most]),
        "has_more_receipts": len(receipts) > most,
        "shows_all_receipts": most == _ALL_RECEIPTS,
    }


@require_POST
@personal_page
def operation_retry(request: HttpRequest, op_id: str) -> HttpResponse:
    return _apply(request, op_id, outbox.retry, words=_("Trying again."))


@require_POST
@personal_page
def operation_cancel(request: HttpRequest, op_id: str) -> HttpResponse:
    def cancel(operation: Operation) -> None:
        if not selectors.can_be_cancelled(operation):
            raise Conflict("Only a waiting operation can be cancelled, and never a forget.")
        outbox.cancel(operation)

    return _apply(request, op_id, cancel, words=_("Cancelled. Nothing was changed."))


def _apply(
    request: HttpRequest, op_id: str, change: Callable[[Operation], None], *, words: str
) -> HttpResponse:
    with own_transaction(request):
        found = selectors.operations_of(person(request)).filter(public_id=op_id).first()
        if found is None:
            raise NotFound("This operation doesn’t exist.")
        try:
            change(found)
        except Conflict as error:
            messages.error(request, _(error.message))
        else:
            messages.success(request, words)
    return redirect(reverse("data_management") + "#activity")


def transfers_context(user: User) -> dict[str, Any]:
    rows = Import.objects.filter(user=user, hidden_at__isnull=True).select_related("operation")
    rows = rows.exclude(operation__status=Status.CANCELLED).order_by("-pk")
    export_lines = [_export_line(one) for one in exports.list_exports(user)[:_TRANSFERS_SHOWN]]
    import_lines = [_import_line(one) for one in rows[:_TRANSFERS_SHOWN]]
    moving = any(item["is_moving"] for item in (*export_lines, *import_lines))
    return {
        "exports": export_lines,
        "imports": import_lines,
        "transfers_move": moving,
        "import_megabytes": settings.MAX_IMPORT_BYTES // (1 << 20),
    }


def _transfer_line(operation: Operation, title: str) -> dict[str, Any]:
    """Return the state of an export or import for the page, and its progress while it runs.

    A `total` of 0 means that the total is unknown.
    """
    return {
        "op_id": operation.public_id,
        "title": title,
        "status": operation.status,
        "created_at": operation.created_at,
        "is_moving": operation.status in (Status.PENDING, Status.RUNNING),
        "step": str(_STEPS.get(operation.progress_step, _("Queued"))),
        "done": operation.progress_done,
        "total": operation.progress_total,
        "progress": operation_rows.progress_in_words(operation),
        "error": error_words(operation.last_error),
        "can_retry": operation.status == Status.FAILED,
        "can_cancel": selectors.can_be_cancelled(operation),
    }


def _export_line(row: Export) -> dict[str, Any]:
    title = _("One conversation") if row.conversation_public_id else _("Everything")
    return _transfer_line(row.operation, f"{title} · {row.format.upper()}") | {
        "conversation_id": row.conversation_public_id,
        "bytes": row.bytes,
        "sha256": row.sha256,
        "expires_at": row.expires_at,
        "is_ready": exports.is_ready(row) and row.hidden_at is None,
    }


def _import_line(row: Import) -> dict[str, Any]:
    report = row.result
    format = str(IMPORT_FORMATS.get(report.get("format", row.format), ""))
    title = " · ".join(filter(None, (row.file_name, format))) or _("A file")
    line = _transfer_line(row.operation, title)
    if row.operation.status == Status.FAILED and not row.path:
        line["can_retry"] = False  # the file was deleted and must be uploaded again
    skipped = report.get("skipped", [])
    count = report.get("skipped_count", 0)
    words = ngettext("%(n)s entry skipped", "%(n)s entries skipped", count)
    return line | {
        # Indexing follows the insertion; until it ends, the import is shown as running.
        "is_done": row.finished_at is not None and not line["is_moving"],
        "brought": _brought(report, skipped=count) if report else "",
        "notes": _notes(report, skipped=count) if report else (),
        "skipped": [
            {"where": _where(entry["where"]), "why": _(entry["why"])} for entry in skipped[:_LISTED]
        ],
        "skipped_more": max(0, count - _LISTED),
        "skipped_words": words % stored_amounts.formatted(count),
    }


def _brought(report: dict[str, Any], *, skipped: int) -> str:
    """Return what an import has added, in words: “3 conversations, 120 messages, 4 memories”."""
    counts = {name: report[plural] for name, plural in _BROUGHT.items()}
    nothing = _("Nothing was imported.") if skipped else _("Nothing new")
    return operation_rows.in_words(counts) or nothing


def _notes(report: dict[str, Any], *, skipped: int) -> list[str]:
    notes = []
    brought = any(report[plural] for plural in _BROUGHT.values())
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
            % stored_amounts.formatted(report["people"])
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
