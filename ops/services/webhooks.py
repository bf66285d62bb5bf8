"""Addresses that are told: made, changed, tried, taken away."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any

from django.db.models import F, QuerySet, Window
from django.db.models.functions import RowNumber

from memcenter.lib.errors import Conflict, Invalid, NotFound
from ops.models import ApiKey, Delivery, User, Webhook
from ops.services import addresses, audit, decisions, events, users
from ops.services.events import Event

MAX_URL, MAX_SECRET = 500, 200
MOST = 20


def of(user: User | None) -> QuerySet[Webhook]:
    """The person's; of nobody's, those of the whole product."""
    return Webhook.objects.filter(user=user).select_related("user")


def find(public_id: str, *, user: User | None) -> Webhook:
    """Raises `NotFound`."""
    found = of(user).filter(public_id=public_id).first()
    if found is None:
        raise NotFound("There is no such webhook.")
    return found


def look_at(url: str) -> None:
    """Look up where an address leads, for at most 6 s: before the transaction that takes it.

    Raises `Invalid` naming `url` where that is a private place.
    """
    if problem := addresses.problem_with(url, longest=MAX_URL):
        raise Invalid.field("url", problem)


def create(
    *, user: User | None, url: str, told: Sequence[str], secret: str = "", key: ApiKey | None = None
) -> Webhook:
    """A new address. Without a secret it gets one of its own.

    `look_at` its address first. Raises `Invalid` naming the field, and `Conflict` when there are
    too many already or everything of the person is being forgotten.
    """
    if user is not None:
        users.check_not_being_forgotten(user)
    _check(url=url, told=told, secret=secret)
    if of(user).count() >= MOST:
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
    """`url`, `events`, `secret`, `is_active`. Raises `Invalid` naming the field."""
    _check(
        url=changes.get("url", webhook.url),
        told=changes.get("events", webhook.events),
        secret=changes.get("secret", webhook.secret),
    )
    for name, value in changes.items():
        setattr(webhook, name, sorted(set(value)) if name == "events" else value)
    webhook.version += 1
    webhook.save(update_fields=[*changes, "version"])
    decisions.record("webhook", webhook.public_id, removed=False, version=webhook.version)
    _record("webhook.changed", webhook, {"fields": sorted(changes)})
    return webhook


def remove(webhook: Webhook) -> None:
    """With its log; what was still to be sent to it is not."""
    _record("webhook.removed", webhook)
    decisions.record("webhook", webhook.public_id, removed=True)
    webhook.deliveries.all().delete()
    webhook.delete()


def try_out(webhook: Webhook) -> Delivery:
    """Send it something now, also while it is switched off."""
    _record("webhook.tried", webhook)
    subject = webhook.user.subject if webhook.user else None
    return events.test(webhook.pk, subject=subject)


def log_of(webhook: Webhook) -> QuerySet[Delivery]:
    return Delivery.objects.filter(webhook=webhook)


def last_of(rows: Sequence[Webhook], *, count: int) -> list[Delivery]:
    """The last few of each, newest first."""
    if not rows:
        return []
    place = Window(RowNumber(), partition_by=F("webhook"), order_by=F("pk").desc())
    told = Delivery.objects.filter(webhook__in=rows).annotate(place=place)
    return list(told.filter(place__lte=count).order_by("-pk"))


def _check(*, url: str, told: Sequence[str], secret: str) -> None:
    problems: dict[str, list[str]] = {}
    if problem := addresses.problem_by_itself(url, longest=MAX_URL):
        problems["url"] = [problem]
    if not told or set(told) - set(Event.values):
        problems["events"] = [f"Choose among {', '.join(Event.values)}."]
    if len(secret) > MAX_SECRET or not secret.isprintable():
        problems["secret"] = [f"At most {MAX_SECRET} printable characters."]
    if problems:
        raise Invalid("The webhook is not valid.", fields=problems)


def _record(action: str, webhook: Webhook, details: dict[str, Any] | None = None) -> None:
    subject = webhook.user.subject if webhook.user else None
    audit.record(action, subject=subject, target=webhook.public_id, details=details)
