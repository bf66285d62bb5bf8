"""The hash chain that protects the audit log and the receipts of forget operations.

An event's seal contains its number, its hash and the hash of the previous event. A receipt belongs
to the chain through an event that contains its hash. Adding an event (`ops.audit_log`) never waits
for other transactions; the event is first listed in `UnsealedEvent`. Sealing then assigns events
their places in the chain, in batches and under a lock on the chain's head. An event becomes visible
to sealing when its transaction commits. No other module computes the hashes of events and receipts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain
from typing import Any

import orjson
from django.db.models import Min
from django.utils import timezone

from foundation.database import statements
from ops import audit_log
from ops.access import as_system
from ops.models import AuditEvent, AuditHead, AuditSeal, Operation, Receipt, UnsealedEvent

_BATCH = 1_000
_HEAD = "SELECT number, hash FROM ops_audithead WHERE id = 1 FOR UPDATE"
_FIRST = "INSERT INTO ops_audithead (id, number, hash) VALUES (1, %s, %s) ON CONFLICT DO NOTHING"
_MOVE = "UPDATE ops_audithead SET number = %s, hash = %s WHERE id = 1"
_OLDEST = """
SELECT e.id FROM ops_unsealedevent u JOIN ops_auditevent e ON e.id = u.event_id
 ORDER BY e.id LIMIT %s
"""
# An event without a seal whose row in the list of unsealed events was removed.
_STRAY_EVENT = """
SELECT e.id FROM ops_auditevent e
 WHERE NOT EXISTS (SELECT FROM ops_auditseal s WHERE s.event_id = e.id)
   AND NOT EXISTS (SELECT FROM ops_unsealedevent u WHERE u.event_id = e.id)
 ORDER BY e.id LIMIT 1
"""
_STRAY_RECEIPT = """
SELECT r.public_id FROM ops_receipt r
 WHERE NOT EXISTS (SELECT FROM ops_auditevent e
                    WHERE e.target = r.public_id AND e.details ->> 'receipt_hash' = r.hash)
 ORDER BY r.id LIMIT 1
"""
_ADDED_LATER = ("disk", "chosen")
Counts = Mapping[str, int]
_NOTE = "UPDATE ops_operation SET steps_done = %s WHERE id = %s"


@dataclass(frozen=True)
class Link:
    number: int
    hash: str


@dataclass(frozen=True)
class Tail:
    """The number of events that aren't sealed yet, and the primary key of the oldest of them."""

    count: int
    first: int | None


def seal() -> int:
    """Seal all unsealed events, each batch in a transaction of its own; return their number."""
    count = 0
    while True:
        with as_system():
            head = lock_head()
            oldest = [pk for (pk,) in statements.rows(_OLDEST, [_BATCH])]
            seal_events(list(AuditEvent.objects.filter(pk__in=oldest).order_by("pk")), after=head)
        count += len(oldest)
        if len(oldest) < _BATCH:
            return count


def lock_head() -> Link:
    """Lock the chain's head until the transaction ends, and return the newest link.

    Take this lock after all others. Only sealing and issuing a receipt need it. The row of the head
    is created on first use.
    """
    found = statements.rows(_HEAD)
    if not found:
        newest = AuditSeal.objects.order_by("-number").first()
        statements.rows(_FIRST, [newest.number, newest.hash.hex()] if newest else [0, ""])
        found = statements.rows(_HEAD)
    return Link(*found[0])


def seal_events(events: Sequence[AuditEvent], *, after: Link) -> None:
    """Seal these events in the given order, after the newest link, which must be locked."""
    if not events:
        return
    seals = []
    for event in events:
        before, number = after, after.number + 1
        after = Link(number, hash_of_event(event, number=number, previous_hash=before.hash))
        hashes = {"previous_hash": bytes.fromhex(before.hash), "hash": bytes.fromhex(after.hash)}
        seals.append(AuditSeal(number=number, event=event, **hashes))
    AuditSeal.objects.bulk_create(seals)
    statements.rows(
        "DELETE FROM ops_unsealedevent WHERE event_id = ANY(%s)",
        [[sealed_event.pk for sealed_event in events]],
    )
    statements.rows(_MOVE, [after.number, after.hash])


def hash_of_event(event: AuditEvent, *, number: int, previous_hash: str) -> str:
    """Return the SHA-256 of an event's columns (except the key) and its place in the chain."""
    place = {"previous_hash": previous_hash, **({"number": number} if number > 0 else {})}
    return _digest({**_columns(event), **place})


def hash_of_receipt(receipt: Receipt) -> str:
    """Return the SHA-256 of a receipt: all columns except the key and the hash itself.

    Columns that were added to the table later are left out if they are empty.
    """
    values = _columns(receipt).items()
    return _digest({name: value for name, value in values if name not in _ADDED_LATER or value})


def _columns(row: AuditEvent | Receipt) -> dict[str, Any]:
    return {
        column.attname: _plain(getattr(row, column.attname))
        for column in row._meta.concrete_fields
        if column.attname not in ("id", "hash")
    }


def _plain(value: Any) -> Any:
    return value.astimezone(UTC) if isinstance(value, datetime) else value


def _digest(values: Mapping[str, Any]) -> str:
    return hashlib.sha256(orjson.dumps(values, option=orjson.OPT_SORT_KEYS)).hexdigest()


def tail() -> Tail:
    waiting = UnsealedEvent.objects
    return Tail(waiting.count(), waiting.aggregate(first=Min("event_id"))["first"])


def first_break() -> str | None:
    """Return the first place where the audit log was tampered with, or None.

    The place is for example `event 12`, `after event 12` or the id of a receipt. This detects an
    event or receipt that was changed, moved, removed, or cut off at the end, and an unsealed event
    that isn't in the list of unsealed events. It doesn't detect that an event was removed before it
    was sealed.
    """
    return _broken_link(AuditHead.objects.first()) or _stray()


def _broken_link(head: AuditHead | None) -> str | None:
    """Return the first place where the chain is broken, or None.

    `head` must be read before the links, so that links added meanwhile don't count as a break.
    """
    last, place = Link(0, ""), "the end"
    for sealed in chain.from_iterable(_links()):
        gap = last.number > 0 and sealed.link.number != last.number + 1
        if gap or sealed.previous_hash != last.hash or not sealed.holds():
            return f"event {sealed.event_id}"
        if sealed.event is not None and sealed.receipt_is_wrong():
            return sealed.event.target
        last, place = sealed.link, f"after event {sealed.event_id}"
        if head is not None and head.number == last.number and head.hash != last.hash:
            return place
    cut_off = head is not None and head.number > last.number
    return place if cut_off or (head is None and last.hash) else None


@dataclass(frozen=True)
class _Sealed:
    link: Link
    previous_hash: str
    event_id: int
    event: AuditEvent | None
    receipt: Receipt | None

    def holds(self) -> bool:
        return self.event is not None and self.link.hash == hash_of_event(
            self.event, number=self.link.number, previous_hash=self.previous_hash
        )

    def receipt_is_wrong(self) -> bool:
        recorded = self.event and self.event.details.get("receipt_hash")
        if recorded is None:
            return False
        return self.receipt is None or not recorded == self.receipt.hash == hash_of_receipt(
            self.receipt
        )


def _links() -> Iterator[list[_Sealed]]:
    last: int | None = None
    while True:
        rest = AuditSeal.objects.order_by("number")
        seals = list((rest if last is None else rest.filter(number__gt=last))[:_BATCH])
        if not seals:
            return
        events = AuditEvent.objects.in_bulk([item.event_id for item in seals])
        about = [item.target for item in events.values() if "receipt_hash" in item.details]
        receipts = {item.public_id: item for item in Receipt.objects.filter(public_id__in=about)}
        yield [_sealed_event(item, events.get(item.event_id), receipts) for item in seals]
        last = seals[-1].number


def _sealed_event(
    seal: AuditSeal, event: AuditEvent | None, receipts: Mapping[str, Receipt]
) -> _Sealed:
    link = Link(seal.number, seal.hash.hex())
    receipt = receipts.get(event.target) if event else None
    return _Sealed(link, seal.previous_hash.hex(), seal.event_id, event, receipt)


def _stray() -> str | None:
    for (event,) in statements.rows(_STRAY_EVENT):
        return f"event {event}"
    for (receipt,) in statements.rows(_STRAY_RECEIPT):
        return str(receipt)
    return None


def note_step(operation: Operation, *, step: str, counts: Counts) -> None:
    """Store how many rows a step has erased, in the transaction that erased them.

    If the step runs again, its counts are added to the earlier ones. The keys of `counts` are names
    of tables, or `store:kind` for other stores. `operation` must be the claimed row: only the
    attempt that holds the lease may write to it.
    """
    done = operation.steps_done
    entry: dict[str, Any] = next((entry for entry in done if entry["step"] == step), {})
    if not entry:
        entry |= {"step": step, "erased": {}}
        done.append(entry)
    for name, count in counts.items():
        if count:
            entry["erased"][name] = entry["erased"].get(name, 0) + count
    statements.rows(_NOTE, [orjson.dumps(done).decode(), operation.pk])


def erased_counts(operation: Operation) -> dict[str, dict[str, int]]:
    """Return the counts of all steps so far, by store and then by table."""
    erased: dict[str, dict[str, int]] = {}
    for step in operation.steps_done:
        for name, count in step["erased"].items():
            store, _, table = name.rpartition(":")
            tables = erased.setdefault(store or "database", {})
            tables[table] = tables.get(table, 0) + count
    return erased


def issue_receipt(
    operation: Operation,
    *,
    scope: str,
    kept: Iterable[str] = (),
    scan: Mapping[str, Any] | None = None,
    disk: Mapping[str, Any] | None = None,
    chosen: str = "",
) -> Receipt:
    """Issue the operation's receipt, and seal it in the audit log.

    If the operation already has a receipt, return that receipt. `scan` contains the result of the
    residue scan. `disk` contains the vacuumed tables, and the times until which other copies of the
    rows may exist. `chosen` names who chose the rows to forget (see `Receipt`).
    """
    found = Receipt.objects.filter(operation=operation).first()
    if found is not None:
        return found
    newest = lock_head()
    receipt = Receipt(
        operation=operation,
        subject=operation.subject,
        scope=scope,
        requested_at=operation.created_at,
        finished_at=timezone.now(),
        erased=erased_counts(operation),
        kept=list(kept),
        scan=dict(scan or {}),
        disk=dict(disk or {}),
        chosen=chosen,
        previous_hash=newest.hash,
    )
    receipt.hash = hash_of_receipt(receipt)
    receipt.save(force_insert=True)
    key = operation.requested_by_key
    event = audit_log.append(
        f"forget.{scope}",
        actor="user" if key is None else f"key {key}",
        surface="worker",
        subject=operation.subject,
        target=receipt.public_id,
        details={"operation": operation.public_id, "receipt_hash": receipt.hash},
    )
    seal_events([event], after=newest)
    return receipt
