"""Create, change, test and remove webhooks, and deliver events to them.

Each delivery is one operation. Deliveries are sent only to public addresses, unless
`WEBHOOKS_MAY_BE_PRIVATE` is set; the address is checked before each request.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import secrets
import socket
import ssl
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any
from urllib.parse import SplitResult, urlsplit

import orjson
from django.conf import settings
from django.db.models import F, QuerySet, Window
from django.db.models.functions import RowNumber
from django.utils import timezone
from django.utils.translation import gettext_noop

from foundation import telemetry
from foundation.errors import Conflict, Invalid, NotFound, ProviderError
from ops import audit_log, ledger
from ops.access import as_system
from ops.accounts import users
from ops.models import ApiKey, Delivery, Kind, User, Webhook
from ops.queue import webhook_events
from ops.queue.run import Run
from ops.queue.webhook_events import TEST, Event
from ops.registry import handles

MAX_URL, MAX_SECRET = 500, 200
MOST = 20
SIGNATURE = "X-Memcenter-Signature"
# Seconds for which deliveries to a slow address pause.
REST_SECONDS = 60.0
_paused_until: dict[int, float] = {}
# A delivery occupies a worker, which must not wait for long.
LOOKUP_SECONDS, CONNECT_SECONDS, ANSWER_SECONDS = 3.0, 3.0, 5.0
# The limit for a whole request; a server that sends byte by byte never reaches the limits above.
_PATIENCE_SECONDS = 8.0
_READ_BYTES = 65_536
_looking_up = threading.BoundedSemaphore(8)
# IPv6 addresses in these networks embed an IPv4 address, which may be private.
_EMBEDDING_NETWORKS = [
    ipaddress.ip_network(one) for one in ("64:ff9b::/96", "2002::/16", "2001::/32")
]
_Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_TOOK_TOO_LONG = gettext_noop("The address took too long to answer.")
_PRIVATE = gettext_noop("This leads to a private address. Webhooks are only sent to public ones.")


def list_webhooks(user: User | None) -> QuerySet[Webhook]:
    """Return the person's webhooks, or those of the whole installation if `user` is None."""
    return Webhook.objects.filter(user=user).select_related("user")


def find(public_id: str, *, user: User | None) -> Webhook:
    """Return the webhook with this public id.

    Raise `NotFound` if there is no such webhook or it doesn't belong to `user`.
    """
    found = list_webhooks(user).filter(public_id=public_id).first()
    if found is None:
        raise NotFound("This webhook doesn’t exist.")
    return found


def check_address(url: str) -> None:
    """Check the address of a webhook. Looking up its host name may take up to 6 seconds.

    Call it before the transaction that stores the address. Raise `Invalid` for the field `url` if
    the address is malformed or leads to a private network.
    """
    if problem := problem_with_address(url, looks_up=True):
        raise Invalid.field("url", problem)


def create(
    *,
    user: User | None,
    url: str,
    events: Sequence[str],
    secret: str = "",
    key: ApiKey | None = None,
) -> Webhook:
    """Create a webhook, with a random secret if none is given.

    Call `check_address` first. Raise `Invalid` with the names of all invalid fields. Raise
    `Conflict` if there are too many webhooks or the person is being forgotten.
    """
    if user is not None:
        users.check_not_being_forgotten(user)
    _check(url=url, events=events, secret=secret)
    if list_webhooks(user).count() >= MOST:
        raise Conflict("There are 20 webhooks already; remove one first.")
    made = Webhook.objects.create(
        user=user,
        api_key=key,
        url=url,
        events=sorted(set(events)),
        secret=secret or f"whsec_{secrets.token_urlsafe(24)}",
    )
    _record("webhook.made", made, {"events": made.events})
    return made


def change(webhook: Webhook, *, changes: dict[str, Any]) -> Webhook:
    """Change `url`, `events`, `secret` or `is_active` of a webhook.

    Raise `Invalid` with the names of the fields if any value is invalid.
    """
    _check(
        url=changes.get("url", webhook.url),
        events=changes.get("events", webhook.events),
        secret=changes.get("secret", webhook.secret),
    )
    for name, value in changes.items():
        setattr(webhook, name, sorted(set(value)) if name == "events" else value)
    webhook.version += 1
    webhook.save(update_fields=[*changes, "version"])
    ledger.record_decision("webhook", webhook.public_id, removed=False, version=webhook.version)
    _record("webhook.changed", webhook, {"fields": sorted(changes)})
    return webhook


def remove(webhook: Webhook) -> None:
    """Delete a webhook with its deliveries, even those that aren't sent yet."""
    _record("webhook.removed", webhook)
    ledger.record_decision("webhook", webhook.public_id, removed=True)
    webhook.deliveries.all().delete()
    webhook.delete()


def try_out(webhook: Webhook) -> Delivery:
    """Enqueue a test event for the webhook, even if the webhook is switched off."""
    _record("webhook.tried", webhook)
    subject = webhook.user.subject if webhook.user else None
    return webhook_events.test(webhook.pk, subject=subject)


def log_of(webhook: Webhook) -> QuerySet[Delivery]:
    return Delivery.objects.filter(webhook=webhook)


def last_of(rows: Sequence[Webhook], *, count: int) -> list[Delivery]:
    """Return the last `count` deliveries of each webhook, newest first."""
    if not rows:
        return []
    place = Window(RowNumber(), partition_by=F("webhook"), order_by=F("pk").desc())
    ranked = Delivery.objects.filter(webhook__in=rows).annotate(place=place)
    return list(ranked.filter(place__lte=count).order_by("-pk"))


def _check(*, url: str, events: Sequence[str], secret: str) -> None:
    problems: dict[str, list[str]] = {}
    if problem := problem_with_address(url, looks_up=False):
        problems["url"] = [problem]
    if not events or set(events) - set(Event.values):
        problems["events"] = [f"Choose among {', '.join(Event.values)}."]
    if len(secret) > MAX_SECRET or not secret.isprintable():
        problems["secret"] = [f"At most {MAX_SECRET} printable characters."]
    if problems:
        raise Invalid("The webhook is not valid.", fields=problems)


def _record(action: str, webhook: Webhook, details: dict[str, Any] | None = None) -> None:
    subject = webhook.user.subject if webhook.user else None
    audit_log.record(action, subject=subject, target=webhook.public_id, details=details)


class Undelivered(ProviderError):
    """The address didn't accept the delivery. The operation is retried, unless it is a test."""

    uses_up = True


@handles(Kind.DELIVER_WEBHOOK)
def deliver_webhook(run: Run) -> Mapping[str, Any] | None:
    """Send one delivery, and store its result.

    Safe to run twice: a delivery that was accepted isn't sent again. If the worker dies before the
    result is stored, the delivery is repeated, and receivers recognise it by its id.
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
    if _is_paused(webhook.pk) and delivery.event != TEST:
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
    """Return the body of a delivery as JSON: ids and facts about the event, but no content.

    A receiver with an API key can use the ids to fetch the data.
    """
    person = User.objects.filter(subject=delivery.subject).first() if delivery.subject else None
    body = {
        "id": delivery.public_id,
        "event": delivery.event,
        "created_at": delivery.created_at,
        "user_id": person.external_id if person else None,
        **delivery.body,
    }
    return orjson.dumps(body)


def signature(body: bytes, *, secret: str, at: int) -> str:
    """Return the signature of a request, as `t=…,v1=…`.

    `t` is the time in Unix seconds. `v1` is the HMAC-SHA256 of this time, a dot and the body, in
    hexadecimal.
    """
    mac = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256)
    return f"t={at},v1={mac.hexdigest()}"


def _send(url: str, delivery: Delivery, body: bytes, *, secret: str) -> tuple[int | None, str]:
    """Send a delivery; return the status of the response and a message for the delivery log.

    The status is None if the request wasn't sent or got no response.
    """
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "Memory-Center-Webhook/1",
        "X-Memcenter-Event": delivery.event,
        "X-Memcenter-Delivery": delivery.public_id,
        SIGNATURE: signature(body, secret=secret, at=int(time.time())),
        **telemetry.outgoing_headers(),
    }
    try:
        status = post_to_address(public_address(url), body=body, headers=headers)
    except Unreachable as error:
        if isinstance(error, TooSlow):
            _paused_until[delivery.webhook_id] = time.monotonic() + REST_SECONDS
        return None, str(error)
    return status, f"The address answered {status}."


def _is_paused(webhook: int) -> bool:
    until = _paused_until.get(webhook, 0.0)
    if until <= time.monotonic():
        _paused_until.pop(webhook, None)
        return False
    return True


class Unreachable(Exception):
    """The request wasn't sent or got no response. The message states the reason in a fixed text."""


class TooSlow(Unreachable):
    """The lookup or the request timed out. The receiver may have processed the request."""


@dataclass(frozen=True)
class PublicAddress:
    """A URL with the IP address of its host, which has been checked to be public."""

    url: SplitResult
    address: str
    port: int


def problem_with_address(url: str, *, looks_up: bool) -> str:
    """Return a sentence that explains why a URL isn't allowed, or "" if it is allowed.

    Without `looks_up`, the host name isn't looked up, so the function can be called inside a
    transaction. A name that doesn't resolve now is accepted, since it is checked again before each
    request.
    """
    if len(url) > MAX_URL:
        return f"At most {MAX_URL} characters."
    try:
        parts = _parts(url)
        literal = _literal(parts)
        found = _resolved(parts) if looks_up else [literal] if literal is not None else []
    except Invalid as error:
        return error.message
    except Unreachable:
        return ""
    return "" if all(map(_is_allowed, found)) else _PRIVATE


def public_address(url: str) -> PublicAddress:
    """Resolve the host of a URL, and check that it is public.

    Raise `Unreachable` if the URL is malformed, the host is unknown, or any of its addresses is
    private.
    """
    try:
        parts = _parts(url)
    except Invalid as error:
        raise Unreachable(error.message) from error
    found = _resolved(parts)
    if not all(map(_is_allowed, found)):
        raise Unreachable(_PRIVATE)
    return PublicAddress(parts, str(found[0]), _port(parts))


def post_to_address(place: PublicAddress, *, body: bytes, headers: Mapping[str, str]) -> int:
    """Send a POST request, and return the status of the response.

    The request takes at most 8 seconds. Redirects aren't followed. Raise `Unreachable` if there is
    no response.
    """
    import httpcore2

    from foundation.pinned_network import PinnedBackend

    parts = place.url
    url = httpcore2.URL(
        scheme=parts.scheme,
        host=parts.hostname or "",
        port=place.port,
        target=(parts.path or "/") + (f"?{parts.query}" if parts.query else ""),
    )
    deadline = time.monotonic() + _PATIENCE_SECONDS
    steps = {"connect": CONNECT_SECONDS, "read": ANSWER_SECONDS, "write": ANSWER_SECONDS}
    try:
        with (
            httpcore2.HTTPConnection(
                url.origin,
                ssl_context=ssl.create_default_context() if parts.scheme == "https" else None,
                network_backend=PinnedBackend(place.address, deadline=deadline),
            ) as connection,
            connection.stream(
                "POST",
                url,
                headers=[("Host", parts.netloc), *headers.items()],
                content=body,
                extensions={"timeout": steps},
            ) as answer,
        ):
            received = 0
            for piece in answer.iter_stream():
                received += len(piece)
                if received >= _READ_BYTES:
                    break
            return answer.status
    except httpcore2.TimeoutException as error:
        raise TooSlow(_TOOK_TOO_LONG) from error
    except (httpcore2.NetworkError, httpcore2.ProtocolError, OSError, ValueError) as error:
        if isinstance(error.__cause__, ssl.SSLError):
            raise Unreachable("The certificate of the address is not valid.") from error
        raise Unreachable("The address could not be reached.") from error


def _parts(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        _port(parts)
    except ValueError as error:
        raise Invalid("This is not an address.") from error
    plain = url.isascii() and url.isprintable() and " " not in url and "\\" not in url
    if not plain or parts.scheme not in ("http", "https") or not parts.hostname:
        raise Invalid("Give an address that begins with https:// or http://.")
    if parts.username is not None or parts.password is not None or parts.fragment:
        raise Invalid("The address must not hold a name, a password or a fragment.")
    return parts


def _port(parts: SplitResult) -> int:
    return parts.port or (443 if parts.scheme == "https" else 80)


def _resolved(parts: SplitResult) -> list[_Address]:
    """Return every IP address of the host.

    Raise `Unreachable` if the name is unknown, or `TooSlow` if the lookup takes too long.
    """
    if (literal := _literal(parts)) is not None:
        return [literal]
    try:
        found = _looked_up(parts.hostname or "")
    except TimeoutError as error:
        raise TooSlow("The name of the address took too long to look up.") from error
    except (OSError, UnicodeError) as error:
        raise Unreachable("No server was found at this address. Check the spelling.") from error
    return [ipaddress.ip_address(text.split("%")[0]) for text in found]


def _literal(parts: SplitResult) -> _Address | None:
    try:
        return ipaddress.ip_address((parts.hostname or "").split("%")[0])
    except ValueError:
        return None


def _looked_up(name: str) -> list[str]:
    """Return the IP addresses of a host name.

    `getaddrinfo` has no time-out, so it runs in a thread. Raise `TimeoutError` if it takes more
    than 3 seconds, or if too many threads are still waiting for slow names after 3 seconds.
    """
    if not _looking_up.acquire(timeout=LOOKUP_SECONDS):
        raise TimeoutError
    found: Future[list[str]] = Future()

    def ask() -> None:
        try:
            known = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
            found.set_result([str(entry[4][0]) for entry in known])
        except (OSError, UnicodeError) as error:
            found.set_exception(error)
        finally:
            _looking_up.release()

    threading.Thread(target=ask, daemon=True, name="look-up").start()
    return found.result(timeout=LOOKUP_SECONDS)


def _is_allowed(address: _Address) -> bool:
    if settings.WEBHOOKS_MAY_BE_PRIVATE:
        return True
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return _is_allowed(address.ipv4_mapped)
        if any(address in network for network in _EMBEDDING_NETWORKS):
            return False
    return address.is_global and not address.is_multicast and not address.is_reserved
