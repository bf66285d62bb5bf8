"""What was forgotten and who did what: ids and counts only, chained by hashes."""

from django.db import models

from memcenter.lib import ids
from ops.models.operation import Operation


class Receipt(models.Model):
    """What one finished forget erased: counts per store, never content.

    `hash` covers every other column and `previous_hash`, the hash of the audit event before it.
    """

    personal_data = False
    keeps_ids = True

    public_id = models.CharField(max_length=40, unique=True, default=ids.receipt_id)
    operation = models.OneToOneField(Operation, on_delete=models.PROTECT, related_name="receipt")
    subject = models.UUIDField(null=True)
    scope = models.CharField(max_length=20)
    requested_at = models.DateTimeField()
    finished_at = models.DateTimeField()
    erased = models.JSONField(default=dict)
    kept = models.JSONField(default=list)
    scan = models.JSONField(default=dict)
    disk = models.JSONField(default=dict)
    previous_hash = models.CharField(max_length=64, blank=True)
    hash = models.CharField(max_length=64, blank=True)

    class Meta:
        indexes = [models.Index(fields=["subject", "-id"], name="receipt_subject")]

    def __str__(self) -> str:
        return self.public_id


class AuditEvent(models.Model):
    """One act: who (actor, surface), what (action, target id), when. Append-only.

    `number` counts without gaps, in the order of the chain.
    """

    personal_data = False
    keeps_ids = True

    number = models.BigIntegerField(null=True)
    at = models.DateTimeField()
    actor = models.CharField(max_length=60)
    surface = models.CharField(max_length=20)
    action = models.CharField(max_length=60)
    subject = models.UUIDField(null=True)
    target = models.CharField(max_length=60, blank=True)
    details = models.JSONField(default=dict)
    previous_hash = models.CharField(max_length=64, blank=True)
    hash = models.CharField(max_length=64, unique=True)

    class Meta:
        indexes = [
            models.Index(fields=["subject", "-id"], name="audit_subject"),
            models.Index(fields=["action", "-id"], name="audit_action"),
            models.Index(fields=["actor", "-id"], name="audit_actor"),
            models.Index(fields=["target"], name="audit_target"),
        ]
        constraints = [models.UniqueConstraint(fields=["number"], name="audit_number")]

    def __str__(self) -> str:
        return f"{self.action} by {self.actor}"
