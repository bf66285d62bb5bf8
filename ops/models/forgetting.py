"""Receipts of forget operations, and hashes and ids of erased rows, kept for later scans."""

from django.contrib.postgres.fields import ArrayField
from django.db import models

from foundation import ids
from foundation.database.schema import Record
from ops.models.operation import Operation


class ErasureKey(Record):
    """The random key with which a forget operation hashes texts. It is deleted with the hashes."""

    personal_data = False

    operation = models.OneToOneField(
        Operation, on_delete=models.CASCADE, primary_key=True, related_name="erasure_key"
    )
    key = models.BinaryField(max_length=32)
    created_at = models.DateTimeField(auto_now_add=True)


class ErasedText(Record):
    """The keyed hashes of the shingles (overlapping pieces of `size` characters) of an erased text.

    `digest` is the keyed hash of the whole text, so that each text is stored only once.
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


class ErasedRows(Record):
    """The primary keys and public ids of erased rows of one table."""

    personal_data = False
    keeps_ids = True

    operation = models.ForeignKey(Operation, on_delete=models.CASCADE, related_name="erased_rows")
    place = models.CharField(max_length=63)
    row_ids = ArrayField(models.BigIntegerField(), default=list)
    public_ids = ArrayField(models.CharField(max_length=64), default=list)


class DiskKey(Record):
    """The random key with which texts are hashed for the scan of the raw files.

    New forget operations use the oldest open key, or a new key if none is open. A scan closes all
    keys, so that later operations use another key. A key is deleted together with its last hash.
    """

    personal_data = False

    key = models.BinaryField(max_length=32)
    created_at = models.DateTimeField(auto_now_add=True)
    closed_at = models.DateTimeField(null=True, blank=True)


class DiskTrace(Record):
    """Hashes of the texts that one forget operation has erased.

    They are kept until the raw files contain none of the texts. Each text is cut into windows:
    overlapping pieces of a fixed length. `hashes` contains their 64-bit hashes, grouped by text;
    `counts` contains the number of hashes of each text as 32-bit integers (both little-endian).
    `lengths` are the lengths of texts shorter than a window. `left_out` counts texts so short that
    a match could be a coincidence.
    """

    personal_data = False

    operation = models.ForeignKey(Operation, on_delete=models.CASCADE, related_name="disk_traces")
    key = models.ForeignKey(DiskKey, on_delete=models.PROTECT, related_name="traces")
    hashes = models.BinaryField(default=bytes)
    counts = models.BinaryField(default=bytes)
    lengths = ArrayField(models.PositiveSmallIntegerField(), default=list)
    left_out = models.PositiveIntegerField(default=0)


class Receipt(Record):
    """A record of how many rows one finished forget operation erased, without any content.

    `hash` covers every other column except `id`. `previous_hash` is the hash of the newest sealed
    audit event when the receipt was issued. `chosen` says who chose the rows from a list, or who
    decided to keep the memories: "person" on a page, "program" through an API. It is "only_match"
    if there was only one match, which was forgotten without a question. It is empty if the request
    named the rows exactly, or if it is unknown who chose.
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
