"""A person's own webhooks: the card on the data management page."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from memcenter.lib.errors import Conflict, Invalid
from memcenter.lib.pages import own_transaction, person, personal_page
from ops.services import webhooks
from ops.views.data import page_context


def _back() -> HttpResponse:
    return redirect(reverse("data_management") + "#webhooks")


def _refused(request: HttpRequest, *, address: str, why: str) -> HttpResponse:
    """The page with what was typed in its field."""
    with own_transaction(request):
        context = page_context(request) | {"webhook_address": address, "webhook_error": why}
        return render(request, "ops/data_management.html", context, status=422)


@require_POST
@personal_page
def webhook_add(request: HttpRequest) -> HttpResponse:
    address = request.POST.get("url", "").strip()
    try:
        with own_transaction(request):
            webhooks.create(
                user=person(request),
                url=address,
                told=request.POST.getlist("events"),
            )
    except Invalid as error:
        told = [text for texts in error.fields.values() for text in texts] or [error.message]
        return _refused(request, address=address, why=" ".join(_(text) for text in told))
    except Conflict as error:
        return _refused(request, address=address, why=_(error.message))
    messages.success(request, _("The address is told from now on."))
    return _back()


@require_POST
@personal_page
def webhook_try(request: HttpRequest, webhook_id: str) -> HttpResponse:
    with own_transaction(request):
        webhooks.try_out(webhooks.find(webhook_id, user=person(request)))
    messages.success(request, _("A test message is on its way. Look here again in a moment."))
    return _back()


@require_POST
@personal_page
def webhook_remove(request: HttpRequest, webhook_id: str) -> HttpResponse:
    with own_transaction(request):
        webhooks.remove(webhooks.find(webhook_id, user=person(request)))
    messages.success(request, _("The address is told nothing any more."))
    return _back()
