"""The audit log. Events are added at once, and sealed into a hash chain shortly afterwards."""

from __future__ import annotations

from django.db import models


class AuditEvent(models.Model):
    """One action, with its actor and surface, its target and its time.

    Append-only. A database trigger adds every new event to `UnsealedEvent`.
    """

    personal_data = False
    keeps_ids = True

    at = models.DateTimeField()
    actor = models.CharField(max_length=60)
    surface = models.CharField(max_length=20)
    action = models.CharField(max_length=60)
    subject = models.UUIDField(null=True)
    target = models.CharField(max_length=60, blank=True)
    details = models.JSONField(default=dict)

    class Meta:
        indexes = [
            models.Index(fields=["subject", "-id"], name="audit_subject"),
            models.Index(fields=["action", "-id"], name="audit_action"),
            models.Index(fields=["actor", "-id"], name="audit_actor"),
            models.Index(fields=["target"], name="audit_target"),
        ]

    def __str__(self) -> str:
        return f"{self.action} by {self.actor}"


class AuditSeal(models.Model):
    """The place of one event in the hash chain. Append-only.

    `number` has no gaps and follows the order of the chain, which is the order of sealing. Numbers
    up to 0 belong to events written before events had numbers; their hashes don't include the
    number. `event` needs no foreign key constraint in the database, since verifying the chain
    detects a missing event. The first event has an empty `previous_hash`.
    """

    personal_data = False

    number = models.BigIntegerField(primary_key=True)
    event = models.OneToOneField(
        AuditEvent, on_delete=models.PROTECT, related_name="seal", db_constraint=False
    )
    previous_hash = models.BinaryField(max_length=32)
    hash = models.BinaryField(max_length=32)

    def __str__(self) -> str:
        return f"number {self.number}"


class UnsealedEvent(models.Model):
    """A marker for an event that isn't sealed yet. Sealing the event deletes the marker."""

    personal_data = False

    event = models.OneToOneField(
        AuditEvent,
        on_delete=models.PROTECT,
        primary_key=True,
        related_name="unsealed",
        db_constraint=False,
    )

    def __str__(self) -> str:
        return f"event {self.event_id}"


class AuditHead(models.Model):
    """A single row that repeats the newest seal, to detect that the chain's end was removed."""

    personal_data = False

    number = models.BigIntegerField(default=0)
    hash = models.CharField(max_length=64, blank=True)

    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(pk=1), name="audit_head_is_one")]

    def __str__(self) -> str:
        return f"number {self.number}"
