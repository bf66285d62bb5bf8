"""The Memory Center's third tab: the switches, what is stored, what is happening to it."""

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
from ops.forms import PreferencesForm
from ops.models import Operation, Receipt, User
from ops.pages import own_settings, own_transaction, person, personal_page, target
from ops.services import outbox
from ops.views import happening, stored, switches, transfers

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
        return render(request, "ops/data_management.html", page_context(request))


def page_context(
    request: HttpRequest, *, preferences: PreferencesForm | None = None
) -> dict[str, Any]:
    """`preferences` is the form that was filled in wrongly, if one was."""
    user, own = person(request), own_settings(request)
    counts = stored.counts_of(user)
    initial = {"language": own.language, "timezone": own.timezone, "theme": own.theme}
    return {
        "section": "memory",
        "switches": switches.of(own, counts),
        "preferences": preferences or PreferencesForm(initial=initial),
        "amounts": stored.amounts_of(counts),
        "goes": stored.sentences_of(counts),
        **transfers.context(user),
        **_activity(user),
    }


def _activity(user: User) -> dict[str, Any]:
    lines = happening.of(user)
    newest = Receipt.objects.filter(subject=user.subject).select_related("operation")
    return {
        "happenings": lines,
        "is_moving": happening.is_moving(lines),
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
            messages.success(request, _("It is tried again."))
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
            messages.success(request, _("Cancelled. Nothing of it was done."))
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
