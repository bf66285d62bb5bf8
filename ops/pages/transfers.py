"""Exports and imports as shown to people: progress, result and skipped parts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from ops import selectors
from ops.models import Export, Import, Operation, Status, User
from ops.pages import stored_amounts
from ops.pages.error_texts import FORMATS, said
from ops.transfer import export_requests

SHOWN = 5
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


@dataclass(frozen=True)
class Line:
    """One export or import: its state, and a bar while it runs (`total` 0 means unknown)."""

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
class ExportLine(Line):
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
class ImportLine(Line):
    is_done: bool
    brought: str
    notes: Sequence[str]
    skipped: Sequence[Skipped]
    skipped_more: int
    skipped_words: str


def context(user: User) -> dict[str, Any]:
    exports = [_export(one) for one in export_requests.list_exports(user)[:SHOWN]]
    rows = Import.objects.filter(user=user, hidden_at__isnull=True).select_related("operation")
    imports = [
        _import(one)
        for one in rows.exclude(operation__status=Status.CANCELLED).order_by("-pk")[:SHOWN]
    ]
    moving = any(one.is_moving for one in (*exports, *imports))
    return {
        "exports": exports,
        "imports": imports,
        "transfers_move": moving,
        "import_megabytes": settings.MAX_IMPORT_BYTES // (1 << 20),
    }


def _line(operation: Operation, title: str) -> dict[str, Any]:
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


def _export(row: Export) -> ExportLine:
    title = _("One conversation") if row.conversation_public_id else _("Everything")
    return ExportLine(
        **_line(row.operation, f"{title} · {row.format.upper()}"),
        conversation_id=row.conversation_public_id,
        bytes=row.bytes,
        sha256=row.sha256,
        expires_at=row.expires_at,
        is_ready=export_requests.is_ready(row) and row.hidden_at is None,
    )


def _import(row: Import) -> ImportLine:
    report = row.report
    format = FORMATS.get(report.get("format", row.format), _("A file"))
    line = _line(row.operation, str(format))
    if row.operation.status == Status.FAILED and not row.path:
        line["can_retry"] = False  # the file is gone: it has to be chosen again
    skipped = report.get("skipped", [])
    count = report.get("skipped_count", 0)
    return ImportLine(
        **line,
        is_done=row.finished_at is not None,
        brought=_brought(report) if report else "",
        notes=_notes(report) if report else (),
        skipped=[Skipped(_where(one["where"]), _(one["why"])) for one in skipped[:_LISTED]],
        skipped_more=max(0, count - _LISTED),
        skipped_words=ngettext("%(n)s entry skipped", "%(n)s entries skipped", count)
        % stored_amounts.shown(count),
    )


def _brought(report: dict[str, Any]) -> str:
    """“3 conversations, 120 messages, 4 memories.”"""
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


def _notes(report: dict[str, Any]) -> list[str]:
    notes = []
    if report["already_there"]:
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
