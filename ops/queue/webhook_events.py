"""Webhook events: written in the transaction of a change, and sent later by an operation.

This module inserts its operations without `ops.queue.outbox`, because the outbox itself calls it
when operations end. After a restore, deliveries are held back until an owner releases them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import models, transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from foundation.database import statements
from ops import audit_log
from ops.access import CombinedStatement
from ops.models import ApiKey, Delivery, Instance, Kind, Operation, Priority
from ops.queue import broker

TEST = "test"
# All deliveries share this serial key and run one at a time, so slow addresses occupy one worker.
LANE = "webhooks"
# A webhook without a user receives events about everybody whom an unbound key can access. After a
# person is erased, it receives only the ends of operations that an unbound key requested.
_LISTENING = """
SELECT w.id, u.subject
  FROM ops_webhook w LEFT JOIN ops_user u ON u.{whose} = %s
 WHERE w.is_active AND %s = ANY(w.events)
   AND (w.user_id = u.id
        OR (w.user_id IS NULL AND u.external_id IS NOT NULL)
        OR (w.user_id IS NULL AND u.id IS NULL AND %s))
 ORDER BY w.id
"""
# Kinds of operations that send emails or webhooks, which are held back after a restore.
HELD_KINDS = (Kind.CONFIRM_MAIL, Kind.DELIVER_WEBHOOK, Kind.WEEKLY_MAIL)


class Event(models.TextChoices):
    MEMORY_CREATED = "memory.created", _("something is remembered")
    MEMORY_UPDATED = "memory.updated", _("a memory changes")
    MEMORY_DELETED = "memory.deleted", _("a memory is deleted or forgotten")
    OPERATION_FINISHED = "operation.finished", _("an operation ends")


def memories(event: Event, *, user_id: int, ids: Sequence[str]) -> None:
    """Write an event for each of these memories, which are given by their public ids."""
    if ids:
        _MemoryEvents(event, user_id, ids=[*ids])()


def write_at_commit(event: Event, *, user_id: int, memory_id: str) -> None:
    """Write an event about a memory at the end of the transaction.

    All events of the same kind about one user are written together. Nothing is written if the user
    no longer exists at that time.
    """
    _MemoryEvents(event, user_id).add(memory_id)


@dataclass
class _MemoryEvents(CombinedStatement):
    event: Event
    user_id: int

    def statement(self) -> tuple[str, Sequence[Any]]:
        return _LISTENING.format(whose="id"), [self.user_id, self.event.value, False]

    def answered(self, rows: Sequence[tuple[Any, ...]]) -> None:
        bodies = [{"memory_id": memory_id} for memory_id in self.ids]
        for webhook, subject in rows:
            _enqueue_deliveries(self.event, webhook=webhook, subject=subject, bodies=bodies)


def operation_ended(operation: Operation, *, status: str) -> None:
    """Write an event that an operation has ended.

    No event is written for webhook deliveries, or for operations without a user.
    """
    if operation.kind == Kind.DELIVER_WEBHOOK or operation.subject is None:
        return
    asked_by = operation.requested_by_key
    asked_by_product = (
        asked_by is not None and ApiKey.objects.filter(pk=asked_by, user__isnull=True).exists()
    )
    values = [operation.subject, Event.OPERATION_FINISHED.value, asked_by_product]
    body = {"op_id": operation.public_id, "kind": operation.kind, "status": status}
    for webhook, _subject in statements.rows(_LISTENING.format(whose="subject"), values):
        _enqueue_deliveries(
            Event.OPERATION_FINISHED, webhook=webhook, subject=operation.subject, bodies=[body]
        )


def test(webhook: int, *, subject: UUID | None) -> Delivery:
    return _enqueue_deliveries(TEST, webhook=webhook, subject=subject, bodies=[{}])[0]


def _enqueue_deliveries(
    event: str, *, webhook: int, subject: UUID | None, bodies: Sequence[Mapping[str, str]]
) -> list[Delivery]:
    now = timezone.now()
    made = Delivery.objects.bulk_create(
        [
            Delivery(webhook_id=webhook, event=str(event), subject=subject, body=dict(body))
            for body in bodies
        ]
    )
    Operation.objects.bulk_create(
        [
            Operation(
                kind=Kind.DELIVER_WEBHOOK,
                payload={"delivery": delivery.pk},
                serial_key=LANE,
                priority=Priority.BULK,
                run_after=now,
                max_attempts=settings.OPERATION_ATTEMPTS,
            )
            for delivery in made
        ]
    )
    transaction.on_commit(broker.wake, robust=True)
    return made


def hold_deliveries() -> None:
    """Hold back all deliveries from now on. Call it inside `as_system`.

    Safe to repeat.
    """
    Instance.objects.get_or_create(pk=1)
    held = Instance.objects.filter(pk=1, deliveries_held_at__isnull=True)
    if held.update(deliveries_held_at=timezone.now()):
        audit_log.record("deliveries.held", subject=None)


def resume_deliveries() -> bool:
    """Stop holding back deliveries; return False if they weren't held back."""
    held = Instance.objects.filter(pk=1, deliveries_held_at__isnull=False)
    resumed = bool(held.update(deliveries_held_at=None))
    if resumed:
        audit_log.record("deliveries.resumed", subject=None)
    return resumed


def deliveries_held_since() -> datetime | None:
    """Return the time since which deliveries are held back, or None if they aren't."""
    return Instance.objects.filter(pk=1).values_list("deliveries_held_at", flat=True).first()
