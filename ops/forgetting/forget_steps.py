"""The common parts of every forget operation.

These functions hide exports, blank stored responses, count the rows that each step erases, and
issue the receipt.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from foundation.errors import Conflict
from ops import audit_chain, audit_log, ledger
from ops.access import as_system, lock_person
from ops.audit_chain import Counts
from ops.disk import cluster, disk_erasure, disk_traces
from ops.models import (
    IdempotencyRecord,
    Import,
    Kind,
    Operation,
    Priority,
    Receipt,
    Status,
    User,
)
from ops.queue import outbox
from ops.queue.run import Run
from ops.residue import erased_hashes, residue_scan, stores
from ops.residue.residue_scan import ScannedPerson
from ops.residue.stores import ExternalStore
from ops.transfer import exports, stored_files

FORGET_KINDS = (
    Kind.FORGET_MEMORY,
    Kind.FORGET_MESSAGE,
    Kind.FORGET_CHOICE,
    Kind.FORGET_CONVERSATION,
    Kind.CLEAR_CONVERSATION,
    Kind.FORGET_PROJECT,
    Kind.FORGET_LAYER,
    Kind.FORGET_USER,
)
STILL_SAID = "still_said"  # payload key: how many kept messages state the forgotten content
STILL_SAYING = "still_saying"  # payload key: the keys of these messages
STILL_IN = "still_in"  # payload key: how many kept rows repeat the content, by kind
LEDGER = "ledger"  # payload key: the target for the ledger
_UNFINISHED = (Status.PENDING, Status.RUNNING, Status.FAILED)


def enqueue_forget(
    kind: Kind,
    *,
    user: User,
    payload: Mapping[str, Any],
    about: Q | None = None,
    requested_by_key: int | None = None,
    target: Mapping[str, Any] | None = None,
) -> Operation:
    """Enqueue a forget operation, in the transaction that registered the request and hid the rows.

    Hides the affected exports, blanks the person's stored responses, and cancels queued operations
    that match `about`. `payload` and `target` must not contain any text of the person. `target` is
    written to the ledger, so its ids must still be valid after an older backup is restored.
    """
    exports.hide_exports(user=user, conversations=affected_conversations(kind, payload))
    _blank_responses(user)
    if about is not None:
        # Forget operations stay queued, since they only erase data.
        queued = Operation.objects.filter(about, subject=user.subject, status=Status.PENDING)
        for waiting in queued.exclude(kind__in=FORGET_KINDS):
            with suppress(Conflict):  # a worker was faster; its handler checks before it writes
                outbox.cancel(waiting)
    operation = outbox.enqueue(
        kind,
        subject=user.subject,
        payload={**payload, LEDGER: dict(target or {})},
        priority=Priority.FORGET,
        serial_key=str(user.subject),
        requested_by_key=requested_by_key,
    )
    # The ledger's line is written before the response; if this fails, the handler writes it.
    transaction.on_commit(partial(ledger.write, operation, operation.payload[LEDGER]), robust=True)
    audit_log.record("forget.requested", subject=user.subject, target=operation.public_id)
    return operation


def register_forget(user: User) -> None:
    """Lock the person, and count the request. Call this before reading any row to forget.

    The lock waits for transactions that have read data and are still writing, so that the rows they
    write are forgotten too. Transactions that check the counter later wait for this transaction,
    and discard the data that they read before.
    """
    lock_person(user)
    User.objects.filter(pk=user.pk).update(forgets=F("forgets") + 1)
    user.forgets += 1


def _blank_responses(user: User, *, until: datetime | None = None) -> None:
    kept = IdempotencyRecord.objects.filter(user=user, body__isnull=False)
    kept = kept if until is None else kept.filter(created_at__lte=until)
    kept.update(body=None, body_erased=True)


def find_unfinished(kind: Kind, *, user: User, payload: Mapping[str, Any]) -> Operation | None:
    """Return an unfinished forget operation whose payload contains `payload`, or None.

    If the operation has failed, retry it.
    """
    found = (
        Operation.objects.filter(subject=user.subject, kind=kind, status__in=_UNFINISHED)
        .filter(payload__contains=dict(payload))
        .order_by("pk")
        .first()
    )
    if found is not None and found.status == Status.FAILED:
        outbox.retry(found)
        found.refresh_from_db()
    return found


def step(run: Run, *, user: User, name: str, erase: Callable[[], Counts]) -> Counts:
    """Call `erase` and store the counts that it returns, in one transaction; return the counts."""
    run.step(name)
    with run.applying(user):
        counts = erase()
        audit_chain.note_step(run.operation, step=name, counts=counts)
    return counts


def affected_conversations(kind: str, payload: Mapping[str, Any]) -> list[int] | None:
    """Return the primary keys of the conversations that a forget affects, or None for all."""
    if kind == Kind.FORGET_USER:
        return None
    if "conversations" in payload:
        return list(payload["conversations"])
    return [payload["conversation"]] if "conversation" in payload else []


def erase_transfers(user: User, conversations: Collection[int] | None = None) -> Counts:
    """Erase the person's exports and the files of finished imports.

    `conversations` selects exports as in `drop_exports`. A running export starts again without the
    forgotten rows.
    """
    imports = Import.objects.filter(user=user, finished_at__isnull=False).exclude(path="")
    files = stored_files.delete(stored_files.IMPORTS, imports.values_list("path", flat=True))
    imports.update(path="")
    dropped = exports.drop_exports(user=user, conversations=conversations)
    return {"ops_export": dropped, "files:transfer": files + dropped}


def prepare_erasure(
    run: Run,
    *,
    user: User,
    texts: Callable[[], Iterable[str]],
    rows: Callable[[], Iterable[QuerySet[Any]]],
    staying: Callable[[], Iterable[str]] = tuple,
) -> None:
    """Prepare the erasure: write the ledger, and store hashes and ids for the later scans.

    This is the first step of a forget operation. It also blanks stored responses to calls that were
    in progress at the time of the request. `staying` are texts that remain; the scans don't search
    for pieces of text that occur in them.
    """
    ledger.write(run.operation, run.payload.get(LEDGER, {}))
    is_account_erased = run.operation.kind == Kind.FORGET_USER

    def keep() -> Counts:
        _blank_responses(user, until=None if is_account_erased else run.operation.created_at)
        hashed = erased_hashes.store_hashes(
            run.operation, texts=texts(), rows=rows(), staying=staying()
        )
        disk_traces.store_hashes(run.operation, hashed)
        if not is_account_erased:
            erased_hashes.delete_shared_hashes(run.operation, stores.remaining_texts(user.pk))
        return {}

    step(run, user=user, name="remember", erase=keep)


def finish(
    run: Run,
    *,
    user: User | None,
    scope: str,
    kept: Iterable[str] = (),
    then: Callable[[], object] | None = None,
) -> Mapping[str, Any]:
    """Finish a forget operation: scan for residue, vacuum the tables, and write the receipt.

    First, the rows are erased from external stores. At the end, one transaction calls `then` (for
    follow-up operations; not called if `user` is None), writes the receipt with its audit event,
    and deletes the hashes and ids of the scan. Raise `ResidueFound` if the scan finds residue, and
    `NotVacuumed` if a table can't be vacuumed.
    """
    with as_system():
        issued = Receipt.objects.filter(operation=run.operation).first()
        external = stores.stores_in_use()
    if issued is not None:
        return _result(issued)
    gone: int | None = run.payload.get("user") if user is None else user.pk
    if gone is not None:
        for store in external:
            _erase_in(store, run=run, user_id=gone)
    ledger.write(run.operation, run.payload.get(LEDGER, {}))
    run.step("scan")
    with as_system():
        erased = erased_hashes.erased_hashes_of(run.operation)
        person = ScannedPerson(gone, run.operation.subject, since=run.operation.created_at)
        found = residue_scan.scan(person, erased)
    residue_scan.check(found)
    run.step("vacuum")
    tables = cluster.vacuum(run.operation)
    applying = run.applying_as_system() if user is None else run.applying(user)
    with applying:
        if user is not None and then is not None:
            then()
        erased_hashes.drop(Operation.objects.filter(pk=run.operation.pk))
        copies = cluster.describe_copies(run.operation, now=timezone.now(), tables=tables)
        receipt = audit_chain.issue_receipt(
            run.operation,
            scope=scope,
            kept=kept,
            scan=found.summary(),
            disk=copies,
            chosen=run.payload.get("chosen", ""),
        )
        if copies[cluster.UNTIL] is not None:
            disk_erasure.request(at=cluster.next_quiet_hour(receipt.finished_at))
    return _result(receipt)


def _erase_in(store: ExternalStore, *, run: Run, user_id: int) -> None:
    run.step(store.name)

    def note(count: int) -> None:
        counts = {f"{store.name}:vector": count}
        audit_chain.note_step(run.operation, step=store.name, counts=counts)

    store.erase_deleted_rows(user_id, then=note)


def _result(receipt: Receipt) -> Mapping[str, Any]:
    return {"receipt_id": receipt.public_id}
