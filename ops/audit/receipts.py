"""Receipts: the counts of one forget, collected step by step and sealed at the end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import orjson
from django.utils import timezone

from memcenter.lib.database import statements
from ops.audit import audit_chain, audit_log
from ops.models import Operation, Receipt

Counts = Mapping[str, int]
_NOTE = "UPDATE ops_operation SET steps_done = %s WHERE id = %s"


def note(operation: Operation, *, step: str, counts: Counts) -> None:
    """Store the counts of a step, in the transaction that erased the rows.

    A repeated step adds to its counts. `counts` is by table, or by `store:what` outside the
    database. `operation` is the claimed row: only the attempt that holds the lease writes to it.
    """
    done = operation.steps_done
    same: dict[str, Any] = next((one for one in done if one["step"] == step), {})
    if not same:
        same |= {"step": step, "erased": {}}
        done.append(same)
    for what, count in counts.items():
        if count:
            same["erased"][what] = same["erased"].get(what, 0) + count
    statements.rows(_NOTE, [orjson.dumps(done).decode(), operation.pk])


def erased_by(operation: Operation) -> dict[str, dict[str, int]]:
    """Return the counts of all steps so far, by store."""
    erased: dict[str, dict[str, int]] = {}
    for one in operation.steps_done:
        for name, count in one["erased"].items():
            store, _, what = name.rpartition(":")
            places = erased.setdefault(store or "database", {})
            places[what] = places.get(what, 0) + count
    return erased


def issue(
    operation: Operation,
    *,
    scope: str,
    kept: Iterable[str] = (),
    scan: Mapping[str, Any] | None = None,
    disk: Mapping[str, Any] | None = None,
    chosen: str = "",
) -> Receipt:
    """Issue the operation's receipt, sealed in the audit log; a repeated call returns the same.

    `scan` holds what was scanned and found, `disk` until when other copies of the rows may exist,
    `chosen` who chose what to forget.
    """
    found = Receipt.objects.filter(operation=operation).first()
    if found is not None:
        return found
    newest = audit_chain.hold()
    receipt = Receipt(
        operation=operation,
        subject=operation.subject,
        scope=scope,
        requested_at=operation.created_at,
        finished_at=timezone.now(),
        erased=erased_by(operation),
        kept=list(kept),
        scan=dict(scan or {}),
        disk=dict(disk or {}),
        chosen=chosen,
        previous_hash=newest.hash,
    )
    receipt.hash = audit_chain.hash_of_receipt(receipt)
    receipt.save(force_insert=True)
    event = audit_log.append(
        f"forget.{scope}",
        actor=_actor(operation),
        surface="worker",
        subject=operation.subject,
        target=receipt.public_id,
        details={"operation": operation.public_id, "receipt_hash": receipt.hash},
    )
    audit_chain.add([event], after=newest)
    return receipt


def _actor(operation: Operation) -> str:
    key = operation.requested_by_key
    return "user" if key is None else f"key {key}"
