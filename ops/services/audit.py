"""The audit log: append-only, each event chained to the one before it by its hash.

This is the one place that computes hashes, of events and of receipts alike.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache, partial
from typing import Any
from uuid import UUID

import orjson
from django.utils import timezone

from memcenter.lib import statements
from ops.access import before_commit, last_acts
from ops.models import AuditEvent, AuditHead, Receipt
from ops.services import acting

_HEAD = "SELECT number, hash FROM ops_audithead WHERE id = 1 FOR UPDATE"
_FIRST = "INSERT INTO ops_audithead (id, number, hash) VALUES (1, %s, %s) ON CONFLICT DO NOTHING"
_LISTED = 100
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
    its commit; if the transaction fails there is none. `details` holds ids, names of ours and
    counts only.
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


def gather(action: str, *, subject: UUID | None, target: str) -> None:
    """As `record`, for what may happen many times in one transaction: that is one event.

    One target stands where it always does; several are listed, the first hundred of them.
    """
    this = _Together(action, acting.who(), subject)
    for one in last_acts():
        if isinstance(one, _Together) and one == this:
            one.targets.append(target)
            return
    this.targets.append(target)
    before_commit(this)


@dataclass
class _Together:
    action: str
    who: acting.Acting
    subject: UUID | None
    targets: list[str] = field(default_factory=list, compare=False)

    def __call__(self) -> None:
        alone = len(self.targets) == 1
        details = {"ids": self.targets[:_LISTED], "count": len(self.targets)}
        append(
            self.action,
            actor=self.who.actor,
            surface=self.who.surface,
            subject=self.subject,
            target=self.targets[0] if alone else "",
            details=None if alone else details,
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
    number, previous = _held()
    event = AuditEvent(
        number=number + 1,
        at=timezone.now(),
        actor=actor,
        surface=surface,
        action=action,
        subject=subject,
        target=target,
        details=dict(details or {}),
        previous_hash=previous,
    )
    event.hash = hash_of(event)
    _write(event)
    return event


def hold_chain() -> str:
    """Let nobody else append until this transaction ends, so that the chain has no forks.

    Take it last: everybody who appends waits for it. Gives the newest link.
    """
    return _held()[1]


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


def _held() -> tuple[int, str]:
    """The newest link's number and hash, its row locked; made on first use.

    That row is what everybody who appends waits for. A log without one is gone on with.
    """
    found = statements.rows(_HEAD)
    if not found:
        newest = AuditEvent.objects.order_by("-pk").first()
        number, end = (newest.pk, newest.hash) if newest else (0, "")
        statements.rows(_FIRST, [number, end])
        found = statements.rows(_HEAD)
    number, end = found[0]
    return number, end


def _write(event: AuditEvent) -> None:
    """The event and the head that moves on with it, in one statement."""
    values = {one.column: getattr(event, one.attname) for one in event._meta.concrete_fields}
    values["details"] = orjson.dumps(event.details).decode()
    text, names = _appending()
    [(event.pk,)] = statements.rows(text, [*(values[one] for one in names), event.hash])
    event._state.adding = False


@cache
def _appending() -> tuple[str, list[str]]:
    names = [str(one.column) for one in AuditEvent._meta.concrete_fields if not one.primary_key]
    return (
        f"WITH told AS (INSERT INTO ops_auditevent ({', '.join(names)})"
        f" VALUES ({', '.join(['%s'] * len(names))}) RETURNING id)"
        " UPDATE ops_audithead SET number = number + 1, hash = %s FROM told"
        " WHERE ops_audithead.id = 1 RETURNING told.id"
    ), names


def _plain(value: Any) -> Any:
    return value.astimezone(UTC) if isinstance(value, datetime) else value
