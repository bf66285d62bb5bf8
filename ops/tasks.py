"""The Celery tasks of the app `ops`. Task messages are empty; the database holds the work."""

import time

from celery import shared_task
from celery.signals import worker_process_init
from django.conf import settings
from django.core.cache import cache
from django.utils import timezone

from foundation import process
from ops import audit_chain, weekly_mail
from ops.access import as_system
from ops.forgetting import expired_rows
from ops.models import Kind, Priority
from ops.queue import broker, outbox, watchdog, worker

HEARTBEAT_KEY = "worker-heartbeat"
_ROUND_SECONDS = 15


@worker_process_init.connect
def limit_processor_time(**_: object) -> None:
    """Start the watchdog, which limits the processor time of operations in this process.

    Celery replaces a process that was ended for exceeding the limit.
    """
    watchdog.own.begin()


@shared_task(ignore_result=True)
def drain_outbox() -> int:
    return _round()


@shared_task(ignore_result=True)
def sweep() -> int:
    """Recover the operations of dead workers, then run due operations."""
    watchdog.recover_operations()
    with as_system():
        outbox.expire(now=timezone.now())
    return _round()


def _round() -> int:
    broker.record_worker_start()
    stop_at = time.monotonic() + _ROUND_SECONDS
    count = worker.drain(seconds=_ROUND_SECONDS)
    if time.monotonic() > stop_at:
        broker.wake()
    if count:
        process.return_free_memory()
    return count


@shared_task(ignore_result=True)
def request_cleanup() -> None:
    """Enqueue the erasure of expired rows, unless it is already queued."""
    with as_system():
        outbox.enqueue(
            Kind.CLEANUP,
            subject=None,
            payload={},
            priority=Priority.BULK,
            dedupe_key="cleanup",
            serial_key="cleanup",
        )


@shared_task(ignore_result=True)
def request_weekly_mails() -> int:
    """Enqueue the weekly email for each person for whom it is due; return their number."""
    with as_system():
        return weekly_mail.request_due(now=timezone.now())


@shared_task(ignore_result=True)
def seal_audit() -> None:
    """Seal the events that were added to the audit log since the last run."""
    audit_chain.seal()


@shared_task(ignore_result=True)
def clear_uploads() -> None:
    expired_rows.erase_abandoned_uploads()


@shared_task(ignore_result=True)
def heartbeat() -> None:
    cache.set(HEARTBEAT_KEY, timezone.now().isoformat(), timeout=max(90, settings.LEASE_SECONDS))
