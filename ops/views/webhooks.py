"""A person's own webhooks: the card on the data management page."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from memcenter.lib.errors import Conflict, Invalid
from memcenter.lib.pages import own_transaction, person, personal_page
from ops.services import webhooks


def _back() -> HttpResponse:
    return redirect(reverse("data_management") + "#webhooks")


@require_POST
@personal_page
def webhook_add(request: HttpRequest) -> HttpResponse:
    try:
        with own_transaction(request):
            webhooks.create(
                user=person(request),
                url=request.POST.get("url", "").strip(),
                told=request.POST.getlist("events"),
            )
    except Invalid as error:
        told = [text for texts in error.fields.values() for text in texts] or [error.message]
        messages.error(request, " ".join(_(text) for text in told))
    except Conflict as error:
        messages.error(request, _(error.message))
    else:
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
