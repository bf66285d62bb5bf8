"""The audit log: append-only, each event chained to the one before it by its hash.

This is the one place that computes hashes, of events and of receipts alike.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any
from uuid import UUID

import orjson
from django.db import connection
from django.utils import timezone

from ops.access import before_commit
from ops.models import AuditEvent, AuditHead, Receipt
from ops.services import acting

_LOCK = 0x4D435F4C4F47  # ours alone; any number would do
_LATER = ("number", "disk")


def record(
    action: str,
    *,
    subject: UUID | None,
    target: str = "",
    details: Mapping[str, Any] | None = None,
) -> None:
    """Write down what is being done, by whoever acts now, with the transaction that does it.

    The event joins the chain as the transaction's last act, so that nobody waits for more than
    its commit; if the transaction fails there is none. Turns and memories that are told or learned
    are not written down here: they say themselves who made them, and come too often. `details`
    holds ids, names of ours and counts only.
    """
    now = acting.who()
    before_commit(
        partial(
            append,
            action,
            actor=now.actor,
            surface=now.surface,
            subject=subject,
            target=target,
            details=details,
        )
    )


def append(
    action: str,
    *,
    actor: str,
    surface: str,
    subject: UUID | None,
    target: str = "",
    details: Mapping[str, Any] | None = None,
) -> AuditEvent:
    """Add one event in the caller's transaction; `details` holds ids and counts only."""
    hold_chain()
    head = _head()
    event = AuditEvent(
        number=head.number + 1,
        at=timezone.now(),
        actor=actor,
        surface=surface,
        action=action,
        subject=subject,
        target=target,
        details=dict(details or {}),
        previous_hash=head.hash,
    )
    event.hash = hash_of(event)
    event.save(force_insert=True)
    AuditHead.objects.filter(pk=head.pk).update(number=event.number, hash=event.hash)
    return event


def hold_chain() -> None:
    """Let nobody else append until this transaction ends, so that the chain has no forks.

    Take it last: everybody who appends waits for it.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])


def last_hash() -> str:
    """The newest link; hold the chain before."""
    return _head().hash


def hash_of(row: AuditEvent | Receipt) -> str:
    """SHA-256 of every column but the key and the hash itself, as JSON with sorted names.

    Columns that came later count only where they say something.
    """
    values = {
        column.attname: _plain(getattr(row, column.attname))
        for column in row._meta.concrete_fields
        if column.attname not in ("id", "hash")
    }
    values = {name: value for name, value in values.items() if name not in _LATER or value}
    return hashlib.sha256(orjson.dumps(values, option=orjson.OPT_SORT_KEYS)).hexdigest()


def first_break() -> str | None:
    """Where the chain does not hold: an event's or a receipt's id; None when all of it does.

    Finds what was changed, put in another order, taken out of the middle or cut off the end.
    """
    previous, number = "", 0
    receipts = {one.hash: one for one in Receipt.objects.iterator()}
    for event in AuditEvent.objects.order_by("pk").iterator():
        gap = event.number is not None and event.number != number + 1 and number
        if gap or event.previous_hash != previous or event.hash != hash_of(event):
            return f"event {event.pk}"
        previous, number = event.hash, event.number or 0
        if "receipt_hash" in event.details:
            receipt = receipts.pop(event.details["receipt_hash"], None)
            if receipt is None or receipt.hash != hash_of(receipt):
                return event.target
    if receipts:
        return next(iter(receipts.values())).public_id
    head = AuditHead.objects.first()
    if head is not None and (head.hash, head.number) != (previous, number):
        return f"after event {number}" if number else "the end"
    return None


def _head() -> AuditHead:
    """Made on first use, from what a log without one ends with."""
    found = AuditHead.objects.first()
    if found is not None:
        return found
    newest = AuditEvent.objects.order_by("-pk").first()
    return AuditHead.objects.create(
        pk=1, number=newest.pk if newest else 0, hash=newest.hash if newest else ""
    )


def _plain(value: Any) -> Any:
    return value.astimezone(UTC) if isinstance(value, datetime) else value
