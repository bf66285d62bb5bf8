"""Create, change, test and remove webhooks."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any

from django.db.models import F, QuerySet, Window
from django.db.models.functions import RowNumber

from memcenter.lib.errors import Conflict, Invalid, NotFound
from ops.accounts import access_ledger, users
from ops.audit import audit_log
from ops.models import ApiKey, Delivery, User, Webhook
from ops.webhooks import public_addresses, webhook_events
from ops.webhooks.webhook_events import Event

MAX_URL, MAX_SECRET = 500, 200
MOST = 20


def list_webhooks(user: User | None) -> QuerySet[Webhook]:
    """Return the person's webhooks; without a person, the product's."""
    return Webhook.objects.filter(user=user).select_related("user")


def find(public_id: str, *, user: User | None) -> Webhook:
    """Raises `NotFound`."""
    found = list_webhooks(user).filter(public_id=public_id).first()
    if found is None:
        raise NotFound("There is no such webhook.")
    return found


def look_at(url: str) -> None:
    """Resolve an address within 6 s, before the transaction that stores it.

    Raises `Invalid` naming `url` if it leads to a private address.
    """
    if problem := public_addresses.problem_with(url, longest=MAX_URL):
        raise Invalid.field("url", problem)


def create(
    *, user: User | None, url: str, told: Sequence[str], secret: str = "", key: ApiKey | None = None
) -> Webhook:
    """Create a webhook, with a random secret if none is given.

    Call `look_at` first. Raises `Invalid` naming the field, and `Conflict` if there are too many
    already or the person is being forgotten.
    """
    if user is not None:
        users.check_not_being_forgotten(user)
    _check(url=url, told=told, secret=secret)
    if list_webhooks(user).count() >= MOST:
        raise Conflict(f"There are {MOST} webhooks already; take one away first.")
    made = Webhook.objects.create(
        user=user,
        api_key=key,
        url=url,
        events=sorted(set(told)),
        secret=secret or f"whsec_{secrets.token_urlsafe(24)}",
    )
    _record("webhook.made", made, {"events": made.events})
    return made


def change(webhook: Webhook, *, changes: dict[str, Any]) -> Webhook:
    """Change `url`, `events`, `secret` or `is_active`. Raises `Invalid` naming the field."""
    _check(
        url=changes.get("url", webhook.url),
        told=changes.get("events", webhook.events),
        secret=changes.get("secret", webhook.secret),
    )
    for name, value in changes.items():
        setattr(webhook, name, sorted(set(value)) if name == "events" else value)
    webhook.version += 1
    webhook.save(update_fields=[*changes, "version"])
    access_ledger.record("webhook", webhook.public_id, removed=False, version=webhook.version)
    _record("webhook.changed", webhook, {"fields": sorted(changes)})
    return webhook


def remove(webhook: Webhook) -> None:
    """Remove a webhook with its log; pending deliveries are dropped."""
    _record("webhook.removed", webhook)
    access_ledger.record("webhook", webhook.public_id, removed=True)
    webhook.deliveries.all().delete()
    webhook.delete()


def try_out(webhook: Webhook) -> Delivery:
    """Send a test event now, even if the webhook is off."""
    _record("webhook.tried", webhook)
    subject = webhook.user.subject if webhook.user else None
    return webhook_events.test(webhook.pk, subject=subject)


def log_of(webhook: Webhook) -> QuerySet[Delivery]:
    return Delivery.objects.filter(webhook=webhook)


def last_of(rows: Sequence[Webhook], *, count: int) -> list[Delivery]:
    """Return the last few deliveries of each, newest first."""
    if not rows:
        return []
    place = Window(RowNumber(), partition_by=F("webhook"), order_by=F("pk").desc())
    told = Delivery.objects.filter(webhook__in=rows).annotate(place=place)
    return list(told.filter(place__lte=count).order_by("-pk"))


def _check(*, url: str, told: Sequence[str], secret: str) -> None:
    problems: dict[str, list[str]] = {}
    if problem := public_addresses.problem_by_itself(url, longest=MAX_URL):
        problems["url"] = [problem]
    if not told or set(told) - set(Event.values):
        problems["events"] = [f"Choose among {', '.join(Event.values)}."]
    if len(secret) > MAX_SECRET or not secret.isprintable():
        problems["secret"] = [f"At most {MAX_SECRET} printable characters."]
    if problems:
        raise Invalid("The webhook is not valid.", fields=problems)


def _record(action: str, webhook: Webhook, details: dict[str, Any] | None = None) -> None:
    subject = webhook.user.subject if webhook.user else None
    audit_log.record(action, subject=subject, target=webhook.public_id, details=details)
