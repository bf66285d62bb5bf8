"""The data management tab: export and import, stored data, operations and receipts."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from memcenter.lib.errors import Conflict, NotFound
from ops import selectors
from ops.models import Operation, Receipt, User
from ops.pages import operation_rows, stored_amounts, transfers
from ops.pages.base import own_transaction, person, personal_page, target
from ops.queue import outbox

_RECEIPTS = 10


@require_safe
@personal_page
def data_management(request: HttpRequest) -> HttpResponse:
    with own_transaction(request):
        user = person(request)
        if target(request) == "activity":
            return render(request, "ops/data_management.html#activity", _activity(user))
        if target(request) == "transfers":
            return render(request, "ops/data_management.html#transfers", transfers.context(user))
        return render(request, "ops/data_management.html", _context(user))


def _context(user: User) -> dict[str, Any]:
    counts = stored_amounts.counts_of(user)
    return {
        "section": "memory",
        "amounts": stored_amounts.amounts_of(counts),
        "goes": stored_amounts.sentences_of(counts),
        **transfers.context(user),
        **_activity(user),
    }


def _activity(user: User) -> dict[str, Any]:
    lines, upkeep = operation_rows.of(user)
    newest = Receipt.objects.filter(subject=user.subject).select_related("operation")
    return {
        "happenings": lines,
        "upkeep": upkeep,
        "is_moving": operation_rows.is_moving(lines),
        "receipts": newest.order_by("-pk")[:_RECEIPTS],
    }


@require_POST
@personal_page
def operation_retry(request: HttpRequest, op_id: str) -> HttpResponse:
    with own_transaction(request):
        operation = _own(person(request), op_id)
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
        operation = _own(person(request), op_id)
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


def _own(user: User, op_id: str) -> Operation:
    found = selectors.operations_of(user).filter(public_id=op_id).first()
    if found is None:
        raise NotFound("There is no such operation.")
    return found
