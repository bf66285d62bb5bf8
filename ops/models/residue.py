"""What a forget keeps of what it erases until it succeeds: hashes and ids, to find what is left."""

from django.contrib.postgres.fields import ArrayField
from django.db import models

from ops.models.operation import Operation


class ErasureKey(models.Model):
    """The random key of one forget. Without it its hashes mean nothing; it goes with them."""

    personal_data = False

    operation = models.OneToOneField(
        Operation, on_delete=models.CASCADE, primary_key=True, related_name="erasure_key"
    )
    key = models.BinaryField(max_length=32)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"key of operation {self.operation_id}"


class ErasedText(models.Model):
    """One text that is being erased: keyed hashes of its shingles (`size` characters each).

    `digest` is the keyed hash of the whole text, so that a text is kept once.
    """

    personal_data = False

    operation = models.ForeignKey(
        Operation, on_delete=models.CASCADE, related_name="erased_texts", db_index=False
    )
    digest = models.BigIntegerField()
    size = models.PositiveSmallIntegerField()
    hashes = ArrayField(models.BigIntegerField())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["operation", "digest"], name="erased_text_once")
        ]

    def __str__(self) -> str:
        return f"text {self.pk} of operation {self.operation_id}"


class ErasedRows(models.Model):
    """Rows of one table that are being erased: their keys, and the ids that others know them by."""

    personal_data = False
    keeps_ids = True

    operation = models.ForeignKey(Operation, on_delete=models.CASCADE, related_name="erased_rows")
    place = models.CharField(max_length=63)
    row_ids = ArrayField(models.BigIntegerField(), default=list)
    public_ids = ArrayField(models.CharField(max_length=64), default=list)

    def __str__(self) -> str:
        return f"{len(self.row_ids)} of {self.place}"


class AuditHead(models.Model):
    """The newest link of the audit log's chain, in the one row there is: what is cut off shows."""

    personal_data = False

    number = models.BigIntegerField(default=0)
    hash = models.CharField(max_length=64, blank=True)

    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(pk=1), name="audit_head_is_one")]

    def __str__(self) -> str:
        return f"event {self.number}"
