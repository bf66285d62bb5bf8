"""Receipts: what one forget erased, counted where it was erased and chained when it is done."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import orjson
from django.utils import timezone

from memcenter.lib import statements
from ops.models import Operation, Receipt
from ops.services import audit, audit_chain

Counts = Mapping[str, int]
_NOTE = "UPDATE ops_operation SET steps_done = %s WHERE id = %s"


def note(operation: Operation, *, step: str, counts: Counts) -> None:
    """Write down what a step erased, in the transaction that erased it.

    A step that runs again adds to what it counted before. `counts` are by table, or by
    `store:what` where it isn't the database. `operation` is as its attempt claimed it: while the
    lease holds, nobody else writes there, and an attempt that breaks off is done with it.
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
    """What all steps erased so far, by store."""
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
    """The operation's receipt, sealed in the audit log; once, however often it is asked for.

    `scan` tells what was looked through and found afterwards, `disk` until when other copies of
    the rows may be there, `chosen` who chose what goes.
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
    event = audit.append(
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
