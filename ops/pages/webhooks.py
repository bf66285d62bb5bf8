"""A person's own webhooks: create, test and remove."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST

from memcenter.lib.errors import Conflict, Invalid
from ops.models import Delivery, User, Webhook
from ops.pages.base import own_transaction, person, personal_page, render_page
from ops.templatetags.webhooks import event_word
from ops.webhooks import held_deliveries, webhooks
from ops.webhooks.webhook_events import Event

_LAST = 3


@dataclass(frozen=True)
class Shown:
    webhook: Webhook
    last: list[Delivery]

    @property
    def told_when(self) -> list[str]:
        return [event_word(one) for one in self.webhook.events]


@require_http_methods(["GET", "HEAD", "POST"])
@personal_page
def webhook_list(request: HttpRequest) -> HttpResponse:
    if request.method != "POST":
        return _show(request)
    address = request.POST.get("url", "").strip()
    told = request.POST.getlist("events")
    try:
        webhooks.look_at(address)
        with own_transaction(request):
            webhooks.create(user=person(request), url=address, told=told)
    except Invalid as error:
        why = [text for texts in error.fields.values() for text in texts] or [error.message]
        problem = " ".join(_(text) for text in why)
        return _show(request, typed=address, ticked=told, problem=problem)
    except Conflict as error:
        return _show(request, typed=address, ticked=told, problem=_(error.message))
    messages.success(request, _("The address is now notified."))
    return redirect("webhook_list")


def _show(
    request: HttpRequest, *, typed: str = "", ticked: Sequence[str] | None = None, problem: str = ""
) -> HttpResponse:
    """Show the page, with the typed values of a refused form."""
    with own_transaction(request):
        context = {
            "hooks": _shown(person(request)),
            "events": list(Event),
            "typed": typed,
            "ticked": Event.values if ticked is None else ticked,
            "problem": problem,
            "held": held_deliveries.held_since() is not None,
            "section": "settings",
        }
        status = 422 if problem else 200
        return render(request, "ops/webhook_list.html", context, status=status)


def _shown(user: User) -> list[Shown]:
    """Return the webhooks with their last deliveries."""
    rows = list(webhooks.list_webhooks(user).order_by("pk"))
    log: dict[int, list[Delivery]] = {row.pk: [] for row in rows}
    for one in webhooks.last_of(rows, count=_LAST):
        log[one.webhook_id].append(one)
    return [Shown(row, log[row.pk]) for row in rows]


@require_POST
@personal_page
def webhook_try(request: HttpRequest, webhook_id: str) -> HttpResponse:
    with own_transaction(request):
        webhooks.try_out(webhooks.find(webhook_id, user=person(request)))
    messages.success(request, _("A test message is on its way. Check back in a moment."))
    return redirect("webhook_list")


@require_POST
@personal_page
def webhook_switch(request: HttpRequest, webhook_id: str) -> HttpResponse:
    """Switch a webhook off or on; address and secret stay, and missed events are not sent."""
    on = request.POST.get("active") == "on"
    with own_transaction(request):
        webhook = webhooks.find(webhook_id, user=person(request))
        webhooks.change(webhook, changes={"is_active": on})
    told = _("The address is now notified.") if on else _("Turned off: nothing is sent to it.")
    messages.success(request, told)
    return redirect("webhook_list")


@require_http_methods(["GET", "HEAD", "POST"])
@personal_page
def webhook_remove(request: HttpRequest, webhook_id: str) -> HttpResponse:
    with own_transaction(request):
        webhook = webhooks.find(webhook_id, user=person(request))
        if request.method != "POST":
            return render_page(request, "ops/confirm.html", _confirmation(webhook))
        webhooks.remove(webhook)
    messages.success(request, _("The address is no longer notified."))
    return redirect("webhook_list")


def _confirmation(webhook: Webhook) -> dict[str, Any]:
    told = webhooks.log_of(webhook).count()
    log = ngettext("the record of %(n)d message", "the record of %(n)d messages", told)
    goes = [
        _("the address %(url)s") % {"url": webhook.url},
        _("the secret that signs its messages"),
        *([log % {"n": told}] if told else []),
    ]
    return {
        "action": reverse("webhook_remove", args=[webhook.public_id]),
        "title": _("Stop notifying this address?"),
        "text": _(
            "Nothing will be sent to it any more. If you add it again, it gets a new secret."
        ),
        "goes": goes,
        "stays": [_("your memories, and everything already sent to the address")],
        "confirm": _("Remove"),
        "cancel_href": reverse("webhook_list"),
    }
