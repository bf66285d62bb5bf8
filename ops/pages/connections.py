"""Pages for webhooks and API keys. A new key is shown only once; any key can be revoked."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from typing import Any

from django.contrib import messages
from django.db.models import F, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST

from foundation.errors import Conflict, Invalid, NotFound
from ops import webhooks
from ops.access import as_system
from ops.accounts import keys, users
from ops.models import ApiKey, Delivery, Role, User
from ops.pages.base import form_data, own_transaction, person, personal_page, render_page
from ops.pages.forms import KeyForm, scope_words
from ops.queue import webhook_events
from ops.queue.webhook_events import TEST, Event

_LAST_DELIVERIES = 3
_KEYS_SHOWN = 100
_SENT = "sent_key_forms"  # session key: ids of submitted forms; each form creates only one key
_SENT_KEPT = 20  # ids
_LONGEST_ONCE = 20  # characters of an id


@require_http_methods(["GET", "HEAD", "POST"])
@personal_page
def webhook_list(request: HttpRequest) -> HttpResponse:
    if request.method != "POST":
        return _show_webhooks(request)
    address = request.POST.get("url", "").strip()
    events = request.POST.getlist("events")
    try:
        webhooks.check_address(address)
        with own_transaction(request):
            webhooks.create(user=person(request), url=address, events=events)
    except (Invalid, Conflict) as error:
        why = [text for texts in error.fields.values() for text in texts] or [error.message]
        problem = " ".join(_(text) for text in why)
        return _show_webhooks(request, typed=address, ticked=events, problem=problem)
    messages.success(request, _("The address is now notified."))
    return redirect("webhook_list")


def _show_webhooks(
    request: HttpRequest, *, typed: str = "", ticked: Sequence[str] | None = None, problem: str = ""
) -> HttpResponse:
    with own_transaction(request):
        rows = list(webhooks.list_webhooks(person(request)).order_by("pk"))
        log: dict[int, list[tuple[str, Delivery]]] = {row.pk: [] for row in rows}
        for delivery in webhooks.last_of(rows, count=_LAST_DELIVERIES):
            log[delivery.webhook_id].append((_event_in_words(delivery.event), delivery))
        context = {
            "hooks": [
                {
                    "webhook": row,
                    "told_when": [_event_in_words(event) for event in row.events],
                    "last": log[row.pk],
                }
                for row in rows
            ],
            "events": list(Event),
            "typed": typed,
            "ticked": Event.values if ticked is None else ticked,
            "problem": problem,
            "held": webhook_events.deliveries_held_since() is not None,
            "section": "settings",
        }
        status = 422 if problem else 200
        return render(request, "ops/webhook_list.html", context, status=status)


def _event_in_words(name: str) -> str:
    if name == TEST:
        return _("a test")
    return str(Event(name).label) if name in Event.values else name


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
    """Switch a webhook off or on.

    Address and secret are kept. Events that happen while the webhook is off aren't sent later.
    """
    on = request.POST.get("active") == "on"
    with own_transaction(request):
        webhook = webhooks.find(webhook_id, user=person(request))
        webhooks.change(webhook, changes={"is_active": on})
    words = _("The address is now notified.") if on else _("Turned off: nothing is sent to it.")
    messages.success(request, words)
    return redirect("webhook_list")


@require_http_methods(["GET", "HEAD", "POST"])
@personal_page
def webhook_remove(request: HttpRequest, webhook_id: str) -> HttpResponse:
    with own_transaction(request):
        webhook = webhooks.find(webhook_id, user=person(request))
        if request.method != "POST":
            count = webhooks.log_of(webhook).count()
            log = ngettext("the record of %(n)d message", "the record of %(n)d messages", count)
            goes = [
                _("the address %(url)s") % {"url": webhook.url},
                _("the secret that signs its messages"),
                *([log % {"n": count}] if count else []),
            ]
            context = {
                "action": reverse("webhook_remove", args=[webhook.public_id]),
                "title": _("Stop notifying this address?"),
                "text": _(
                    "Nothing will be sent to it any more. If you add it again, it gets a new"
                    " secret."
                ),
                "goes": goes,
                "stays": [_("your memories, and everything already sent to the address")],
                "confirm": _("Remove"),
                "cancel_href": reverse("webhook_list"),
            }
            return render_page(request, "ops/confirm.html", context)
        webhooks.remove(webhook)
    messages.success(request, _("The address is no longer notified."))
    return redirect("webhook_list")


@require_http_methods(["GET", "HEAD", "POST"])
@personal_page
def api_keys(request: HttpRequest) -> HttpResponse:
    once = request.POST.get("once", "")
    if once and once in request.session.get(_SENT, []):
        return redirect("api_keys")  # the form was sent again, for example by a reload
    form = KeyForm(form_data(request))
    if not form.is_valid():
        return _show_keys(request, form)
    with form.refusing(), own_transaction(request):
        _key, text = keys.create(
            user=person(request),
            name=form.cleaned_data["name"],
            scopes=form.cleaned_data["scopes"],
            expires_at=form.expires_at(),
        )
    if form.errors:
        return _show_keys(request, form)
    request.session[_SENT] = [*request.session.get(_SENT, []), once[:_LONGEST_ONCE]][-_SENT_KEPT:]
    # Show the key in this response only; storing it for another page would leak it.
    return _show_keys(request, KeyForm(), made=text)


@require_http_methods(["GET", "HEAD", "POST"])
@personal_page
def api_key_revoke(request: HttpRequest, pk: int) -> HttpResponse:
    """Revoke one of the person's keys; owners may also revoke keys of the whole installation."""
    whose, is_owner = Q(user=person(request)), _is_owner(request)
    whose |= Q(user=None) if is_owner else Q()
    with as_system() if is_owner else own_transaction(request):
        key = ApiKey.objects.filter(whose, pk=pk, revoked_at__isnull=True).first()
        if key is None:
            raise NotFound("This key doesn’t exist.")
        if request.method != "POST":
            return render_page(
                request,
                "ops/confirm.html",
                key_confirmation(key, reverse("api_keys"), request.path),
            )
        keys.revoke(key)
    messages.success(
        request, _("Revoked: the key “%(name)s” no longer works.") % {"name": key_name(key)}
    )
    return redirect("api_keys")


def key_name(key: ApiKey) -> str:
    """Return the displayed name of a key. The key made at the first start has a translated name."""
    is_first = key.user_id is None and key.name == keys.OF_FIRST_START
    return _("Key from the first start") if is_first else key.name


def key_confirmation(key: ApiKey, back: str, action: str) -> dict[str, Any]:
    return {
        "action": action,
        "title": _("Revoke this key?"),
        "text": _("Programs that use it are refused immediately. This can’t be undone."),
        "goes": [
            _("all access with the key “%(name)s” (%(prefix)s…)")
            % {"name": key_name(key), "prefix": key.prefix}
        ],
        "stays": [_("everything it has written"), _("the name of the key, marked as revoked")],
        "confirm": _("Revoke"),
        "cancel_href": back,
    }


def _show_keys(request: HttpRequest, form: KeyForm, *, made: str = "") -> HttpResponse:
    of_installation = []
    if _is_owner(request):
        with as_system():
            of_installation = key_rows(None, _revoke_address)
    with own_transaction(request):
        context = {
            "form": form,
            "keys": key_rows(person(request), _revoke_address),
            "installation_keys": of_installation,
            "made": made,
            "once": secrets.token_urlsafe(9),
            "section": "settings",
        }
        return render(request, "ops/key_list.html", context, status=form.status)


def _revoke_address(key: ApiKey) -> str:
    return reverse("api_key_revoke", args=[key.pk])


def _is_owner(request: HttpRequest) -> bool:
    return users.role_of(person(request)) is Role.OWNER


def key_rows(user: User | None, revoke: Callable[[ApiKey], str]) -> list[dict[str, Any]]:
    """Return the API keys of a person, or the keys that belong to no person if `user` is None.

    At most 100 keys are returned, as dicts for the template. Revoked keys come last. `revoke`
    returns the address of the form that revokes a key.
    """
    newest = (F("revoked_at").asc(nulls_first=True), "-created_at", "-pk")
    now = timezone.now()
    return [
        {
            "key": key,
            "name": key_name(key),
            "scopes": scope_words(key.scopes),
            "is_alive": not key.revoked_at and (key.expires_at is None or key.expires_at > now),
            "revoke": revoke(key) if key.revoked_at is None else "",
        }
        for key in keys.keys_of(user).order_by(*newest)[:_KEYS_SHOWN]
    ]
