"""Receipts of forgets: ids and counts only, chained into the audit log."""

from django.db import models

from memcenter.lib import ids
from ops.models.operation import Operation


class Receipt(models.Model):
    """What one finished forget erased: counts per store, never content.

    `hash` covers every other column and `previous_hash`, the hash of the audit event before it.
    `chosen` is "person" if the person chose from a list, "only_match" if a single match needed no
    question, and empty if the request named the rows exactly.
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
