"""Deliver webhooks: one operation for each event and address."""

from __future__ import annotations

import hashlib
import hmac
import time
from collections.abc import Mapping
from typing import Any

import orjson
from django.utils import timezone

from memcenter import logs
from memcenter.lib.errors import ProviderError
from ops.access import as_system
from ops.models import Delivery, Kind, User
from ops.queue.run import Run
from ops.registry import handles
from ops.webhooks import public_addresses
from ops.webhooks.public_addresses import TooSlow, Unreachable
from ops.webhooks.webhook_events import TEST

SIGNATURE = "X-Memcenter-Signature"
# Deliveries to a slow address pause for this long.
REST_SECONDS = 60.0
_resting: dict[int, float] = {}


class Undelivered(ProviderError):
    """The address did not accept the delivery, which is retried like any operation."""

    uses_up = True


@handles(Kind.DELIVER_WEBHOOK)
def deliver_webhook(run: Run) -> Mapping[str, Any] | None:
    """Send one delivery and log the result.

    Safe to run twice: an accepted delivery is not sent again. If a worker dies between the response
    and the log, it is sent again; receivers recognise a delivery by its id.
    """
    with as_system():
        found = Delivery.objects.select_related("webhook").filter(pk=run.payload["delivery"])
        delivery = found.first()
        if delivery is None or delivery.delivered_at is not None:
            return None
        body = body_of(delivery)
    webhook = delivery.webhook
    if not webhook.is_active and delivery.event != TEST:
        return None
    if _rests(webhook.pk) and delivery.event != TEST:
        raise ProviderError("The address was slow a moment ago; it is told later.", retryable=True)
    status, error = _send(webhook.url, delivery, body, secret=webhook.secret)
    taken = status is not None and 200 <= status < 300
    with run.applying_as_system():
        Delivery.objects.filter(pk=delivery.pk).update(
            status_code=status,
            error="" if taken else error,
            delivered_at=timezone.now() if taken else None,
            attempts=run.operation.attempt,
        )
    if not taken:
        raise Undelivered(error, retryable=delivery.event != TEST)
    return {"status": status}


def body_of(delivery: Delivery) -> bytes:
    """Return the body, which contains ids only. A receiver reads the rows with an API key."""
    person = User.objects.filter(subject=delivery.subject).first() if delivery.subject else None
    told = {
        "id": delivery.public_id,
        "event": delivery.event,
        "created_at": delivery.created_at,
        "user_id": person.external_id if person else None,
        **delivery.body,
    }
    return orjson.dumps(told)


def signature(body: bytes, *, secret: str, at: int) -> str:
    """`t=…,v1=…`: HMAC-SHA256, in hex, of the Unix seconds, a dot and the body."""
    mac = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256)
    return f"t={at},v1={mac.hexdigest()}"


def _send(url: str, delivery: Delivery, body: bytes, *, secret: str) -> tuple[int | None, str]:
    """Return the status of the response, and the error in our own words."""
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "Memory-Center-Webhook/1",
        "X-Memcenter-Event": delivery.event,
        "X-Memcenter-Delivery": delivery.public_id,
        SIGNATURE: signature(body, secret=secret, at=int(time.time())),
        **logs.passed_on(),
    }
    try:
        status = public_addresses.post(public_addresses.place_of(url), body=body, headers=headers)
    except Unreachable as error:
        if isinstance(error, TooSlow):
            _resting[delivery.webhook_id] = time.monotonic() + REST_SECONDS
        return None, str(error)
    return status, f"The address answered {status}."


def _rests(webhook: int) -> bool:
    """Tell whether deliveries to this address pause, since it answered too slowly."""
    until = _resting.get(webhook, 0.0)
    if until <= time.monotonic():
        _resting.pop(webhook, None)
        return False
    return True
