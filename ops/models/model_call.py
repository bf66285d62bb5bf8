"""Accounting of model calls."""

from django.db import models


class ModelCall(models.Model):
    """One call of a chat model or remote embedder: sizes, time and cost; never text.

    `dropped` items of its answer could not be used.
    """

    personal_data = False

    subject = models.UUIDField(null=True)
    operation_public_id = models.CharField(max_length=40, blank=True)
    step = models.CharField(max_length=30)
    provider = models.CharField(max_length=60)
    model = models.CharField(max_length=100)
    prompt_version = models.CharField(max_length=20, blank=True)
    input_tokens = models.PositiveIntegerField(default=0)
    output_tokens = models.PositiveIntegerField(default=0)
    cost = models.DecimalField(max_digits=12, decimal_places=6, default=0)
    took_ms = models.PositiveIntegerField(default=0)
    outcome = models.CharField(max_length=20)
    dropped = models.PositiveIntegerField(default=0, db_default=0)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [models.Index(fields=["created_at"], name="modelcall_day")]

    def __str__(self) -> str:
        return f"{self.step} by {self.model}"
