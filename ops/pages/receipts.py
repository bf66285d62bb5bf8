"""Receipts as a page, printed and as a file."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from memcenter.lib.errors import NotFound
from ops.disk import disk_erasure
from ops.disk.disk_erasure import SecondLine
from ops.models import Receipt, User
from ops.pages import stored_amounts
from ops.pages.base import own_transaction, person, personal_page

_SCOPES = {
    "memory": _("A memory was forgotten"),
    "message": _("An exchange was forgotten"),
    "choice": _("Your choice was forgotten"),
    "conversation": _("A conversation was forgotten"),
    "clear": _("A conversation was cleared"),
    "project": _("A project was forgotten"),
    "summary_layer": _("All summaries were deleted"),
    "episode_layer": _("All earlier moments were deleted"),
    "user": _("Everything was forgotten"),
}
_KEPT = {
    "messages": _("the messages it came from"),
    "memories": _("what was learned from it"),
}


_CHOSEN = {
    "person": _("you, from a list"),
    "only_match": _("Automatic: the only match"),
}


@dataclass(frozen=True)
class Line:
    label: str
    count: int


@dataclass(frozen=True)
class Shown:
    """A receipt in words. `residue` and `places` are None without a scan."""

    receipt: Receipt
    title: str
    lines: list[Line]
    kept: list[str]
    chosen: str
    residue: int | None
    places: int | None
    wal_until: datetime | None
    backups_until: datetime | None
    on_disk: SecondLine

    @property
    def kept_label(self) -> str:
        """Return the label for kept rows, which depends on whether a person chose to keep them."""
        asked = self.receipt.chosen == "person" or "memories" in self.receipt.kept
        return str(_("Kept, as you chose") if asked else _("Kept"))

    @property
    def total(self) -> int:
        return sum(line.count for line in self.lines)


def shown(receipt: Receipt) -> Shown:
    scan = receipt.scan or {}
    return Shown(
        receipt=receipt,
        title=title_of(receipt),
        lines=_lines(receipt),
        kept=[str(_KEPT.get(word, word)) for word in receipt.kept],
        chosen=str(_CHOSEN.get(receipt.chosen, "")),
        residue=scan.get("residue"),
        places=scan.get("places"),
        wal_until=_moment(receipt.disk.get("wal_until")),
        backups_until=_moment(receipt.disk.get("backups_until")),
        on_disk=disk_erasure.second_line(receipt),
    )


def _moment(told: str | None) -> datetime | None:
    return datetime.fromisoformat(told) if told else None


def title_of(receipt: Receipt) -> str:
    return str(_SCOPES.get(receipt.scope, receipt.scope))


def _lines(receipt: Receipt) -> list[Line]:
    """Return the counts by plain names; several stores may share one."""
    counts: dict[str, int] = {}
    for places in receipt.erased.values():
        for what, count in places.items():
            label = stored_amounts.label_of(what)
            counts[label] = counts.get(label, 0) + count
    known = [str(label) for label in stored_amounts.LABELS.values()]
    order = {label: number for number, label in reversed(list(enumerate(known)))}
    ranked = sorted(counts, key=lambda label: (order.get(label, len(known)), label))
    return [Line(label, counts[label]) for label in ranked]


@require_safe
@personal_page
def receipt_page(request: HttpRequest, receipt_id: str) -> HttpResponse:
    with own_transaction(request):
        receipt = _own(person(request), receipt_id)
        context = {"shown": shown(receipt), "section": "memory"}
        return render(request, "ops/receipt_detail.html", context)


@require_safe
@personal_page
def receipt_download(request: HttpRequest, receipt_id: str) -> HttpResponse:
    with own_transaction(request):
        return as_file(_own(person(request), receipt_id))


def as_file(receipt: Receipt) -> HttpResponse:
    """Return every column that the hash covers, for verification, and the disk line."""
    values: dict[str, Any] = {
        "receipt_id": receipt.public_id,
        "op_id": receipt.operation.public_id,
        "scope": receipt.scope,
        "subject": receipt.subject,
        "requested_at": receipt.requested_at,
        "finished_at": receipt.finished_at,
        "erased": receipt.erased,
        "kept": receipt.kept,
        "scan": receipt.scan,
        "disk": receipt.disk,
        "chosen": receipt.chosen,
        "data_folder": disk_erasure.describe_line(disk_erasure.second_line(receipt)),
        "previous_hash": receipt.previous_hash,
        "hash": receipt.hash,
    }
    response = JsonResponse(values, json_dumps_params={"indent": 2, "ensure_ascii": False})
    response["Content-Disposition"] = f'attachment; filename="{receipt.public_id}.json"'
    return response


def _own(user: User, receipt_id: str) -> Receipt:
    rows = Receipt.objects.filter(subject=user.subject).select_related("operation")
    found = rows.filter(public_id=receipt_id).first()
    if found is None:
        raise NotFound("There is no such receipt.")
    return found
