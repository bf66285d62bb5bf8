"""What was forgotten: ids and counts only, chained into the audit log by hashes."""

from django.db import models

from memcenter.lib import ids
from ops.models.operation import Operation


class Receipt(models.Model):
    """What one finished forget erased: counts per store, never content.

    `hash` covers every other column and `previous_hash`, the hash of the audit event before it.
    `chosen` is who chose what goes: "person" was asked, "only_match" asked nobody; empty where
    exactly this was named in the request.
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
    chosen = models.CharField(max_length=12, blank=True, default="", db_default="")
    previous_hash = models.CharField(max_length=64, blank=True)
    hash = models.CharField(max_length=64, blank=True)

    class Meta:
        indexes = [models.Index(fields=["subject", "-id"], name="receipt_subject")]

    def __str__(self) -> str:
        return self.public_id
