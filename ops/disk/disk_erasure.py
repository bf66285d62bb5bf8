"""Erase forgotten texts from the disk, and record the result for each receipt."""

from __future__ import annotations

import logging
import shutil
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings

from foundation.errors import ProviderError
from ops import audit_chain, audit_log
from ops.disk import cluster, disk_traces, raw_scan
from ops.disk.cluster import UNTIL
from ops.disk.disk_traces import SearchedTexts
from ops.disk.raw_scan import ScanResult
from ops.models import AuditEvent, AuditSeal, DiskTrace, Kind, Operation, Priority, Receipt
from ops.queue import outbox
from ops.queue.run import Run
from ops.registry import handles
from ops.residue import residue_columns

logger = logging.getLogger(__name__)
GONE, TOO_LARGE = "disk.gone", "disk.too_large"
_ROUNDS = 3
_MOST_LISTED = 20
_PROGRESS_SECONDS = 2
_KEPT_IN = (
    "ops_disktrace",
    "ops_diskkey",
    "ops_erasedtext",
    "ops_erasedrows",
    "ops_erasurekey",
)
_REWRITTEN = "rewritten:"
_BEGUN = "begun"


class DiskNotClean(ProviderError):
    """A forgotten text is still on the disk, or a table is locked; the operation is retried."""

    def __init__(self, message: str) -> None:
        super().__init__(message, retryable=True)


@dataclass(frozen=True)
class DiskResult:
    """The result of the erasure from the disk, which is shown with a receipt.

    `status` is `waiting`, `gone`, `too_large`, `elsewhere` (PostgreSQL's files aren't in the data
    folder, so nothing is known about them) or `unknown` (a receipt of an earlier version). `scan`
    maps `files`, `bytes` and `found` to numbers, or to None if the files weren't scanned.
    `event_hash` is the hash of the event in the audit log that records the result, or "" if that
    event isn't sealed yet.
    """

    status: str
    until: datetime | None = None
    gone_at: datetime | None = None
    scan: Mapping[str, int | None] | None = None
    event_hash: str = ""


def request(*, at: datetime | None = None) -> Operation:
    """Enqueue the erasure from the disk in the caller's transaction, unless it is already queued.

    Without `at`, the erasure is due at once, even if it was queued for later.
    """
    operation = outbox.enqueue(
        Kind.ERASE_DISK,
        subject=None,
        payload={},
        priority=Priority.BULK,
        dedupe_key=Kind.ERASE_DISK.value,
        serial_key=Kind.ERASE_DISK.value,
        run_after=at,
    )
    if at is None:
        outbox.bring_forward(operation)
    return operation


def result_of(receipt: Receipt) -> DiskResult:
    if UNTIL not in receipt.disk:
        return DiskResult("unknown")
    if receipt.disk[UNTIL] is None:
        return DiskResult("elsewhere")
    events = AuditEvent.objects.filter(target=receipt.public_id, action__in=(GONE, TOO_LARGE))
    event = events.order_by("pk").first()
    if event is None:
        return DiskResult("waiting", until=datetime.fromisoformat(receipt.disk[UNTIL]))
    seal = AuditSeal.objects.filter(event=event.pk).first()
    is_gone = event.action == GONE
    return DiskResult(
        "gone" if is_gone else "too_large",
        gone_at=event.at if is_gone else None,
        scan={name: event.details.get(name) for name in ("files", "bytes", "found")},
        event_hash=bytes(seal.hash).hex() if seal else "",
    )


@handles(Kind.ERASE_DISK, is_long=True)
def erase_disk(run: Run) -> dict[str, Any]:
    """Erase forgotten texts from the disk, and record the result for each receipt.

    Rewrites the tables from which rows were forgotten, removes old segments of the write-ahead log,
    and scans the files. If the files exceed `DISK_ERASURE_MAX_MB`, this is only recorded. Does
    nothing if the database's files aren't in the data folder. Safe to run twice: rewritten tables
    are recorded, and the hashes that the scan needs are deleted in the transaction that records the
    result. Raise `DiskNotClean` if the scan finds a text or a table is locked.
    """
    if not cluster.is_cluster_local():
        return {"receipts": 0}
    waiting = _begin(run)
    result: ScanResult | None = None
    if waiting:
        # A copy of the database made before an upgrade may contain rows that were forgotten since.
        shutil.rmtree(settings.UPGRADE_BACKUP_DIR, ignore_errors=True)
        size = raw_scan.size_of(raw_scan.files())
        if size > settings.DISK_ERASURE_MAX_MB * 1_000_000:
            _conclude(run, waiting, TOO_LARGE, {"bytes": size})
        else:
            result = _erase(run, waiting)
            _conclude(run, waiting, GONE, result.summary())
    # Remove the deleted keys and hashes from the files as well.
    run.step("clear")
    _rewrite_tables(_KEPT_IN, then=lambda _: None)
    cluster.renew_log()
    return {"receipts": len(waiting), **(result.summary() if result else {})}


def _begin(run: Run) -> list[Receipt]:
    """Return the receipts that this run covers; later receipts belong to the next run.

    The choice is stored once, so that a retry after a crash continues with the same receipts.
    """
    run.step(_BEGUN)
    with run.applying_as_system():
        kept = Receipt.objects.filter(operation__in=DiskTrace.objects.values("operation"))
        done = _steps(run.operation)
        if _BEGUN not in done:
            disk_traces.close_key()
            newest = kept.order_by("-pk").values_list("pk", flat=True).first() or 0
            audit_chain.note_step(run.operation, step=_BEGUN, counts={"receipt": newest})
            done = _steps(run.operation)
        newest = done[_BEGUN].get("receipt", 0)
        return list(kept.filter(pk__lte=newest).order_by("pk"))


def _steps(operation: Operation) -> dict[str, dict[str, int]]:
    return {entry["step"]: entry["erased"] for entry in operation.steps_done}


def _erase(run: Run, waiting: Sequence[Receipt]) -> ScanResult:
    rewritten = _steps(run.operation)
    touched = {table for receipt in waiting for table in receipt.erased.get("database", ())}
    tables = {
        name for name in residue_columns.tables_among(touched) if _REWRITTEN + name not in rewritten
    }
    run.step("read", total=1)
    operations = [receipt.operation_id for receipt in waiting]
    with run.applying_as_system():
        searched = disk_traces.list_searched(operations)
    for _ in range(_ROUNDS):
        _rewrite(run, tables)
        run.step("log")
        cluster.renew_log()
        result = _scan(run, searched)
        if not result.found:
            return result
        # These tables needn't include the planner's statistics, which are always rewritten.
        tables = residue_columns.tables_among(cluster.tables_of(result.found).values())
    logger.warning("operation %s: left in %s", run.operation.public_id, result.found[:_MOST_LISTED])
    where = ", ".join(result.found[:_MOST_LISTED])
    raise DiskNotClean(f"{len(result.found)} files still hold something: {where}")


def _rewrite(run: Run, tables: set[str]) -> None:
    done = 0

    def note(table: str) -> None:
        nonlocal done
        done += 1
        with run.applying_as_system():
            audit_chain.note_step(run.operation, step=_REWRITTEN + table, counts={})
        run.step("rewrite", done=done, total=len(tables) + 2)

    run.step("rewrite", total=len(tables) + 2)
    _rewrite_tables(tables, then=note)


def _rewrite_tables(tables: Iterable[str], *, then: Callable[[str], object]) -> None:
    try:
        cluster.rewrite_all(tables, then=then)
    except cluster.NotRewritten as error:
        raise DiskNotClean(f"The table {error} is in use.") from error


def _scan(run: Run, searched: Sequence[SearchedTexts]) -> ScanResult:
    reported_at = 0.0

    def progress(done: int, total: int) -> None:
        nonlocal reported_at
        if time.monotonic() - reported_at > _PROGRESS_SECONDS:
            run.step("scan", done=done // 1_000_000, total=total // 1_000_000)
            reported_at = time.monotonic()

    return raw_scan.scan_files(searched, progress=progress)


def _conclude(run: Run, waiting: Sequence[Receipt], action: str, details: dict[str, int]) -> None:
    """Record the result for each receipt, and delete the hashes of the scan, in one transaction.

    Afterwards the audit events are sealed. If the process is killed in between, the next sealing
    includes them.
    """
    with run.applying_as_system():
        for receipt in waiting:
            audit_log.record(
                action,
                subject=receipt.subject,
                target=receipt.public_id,
                details={"operation": run.operation.public_id, **details},
            )
        disk_traces.delete_hashes([receipt.operation_id for receipt in waiting])
    audit_chain.seal()
