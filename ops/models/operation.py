"""Operations with their attempts and model calls, stored responses, exports and imports."""

from typing import Any

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from foundation import ids, telemetry
from foundation.database.schema import Record, one_of
from ops.models.user import ApiKey, User


class Kind(models.TextChoices):
    EXTRACT_TURN = "extract_turn", _("Learn from an exchange")
    EXTRACT_CONVERSATION = "extract_conversation", _("Look at a conversation as a whole")
    SUMMARIZE = "summarize", _("Summarize")
    INDEX_EPISODE = "index_episode", _("Index an earlier moment")
    INDEX_MEMORY = "index_memory", _("Index a memory")
    REVISE_MEMORY = "revise_memory", _("Compare a new memory with the others")
    WORD_PORTRAIT = "word_portrait", _("Write “About you”")
    CONSOLIDATE = "consolidate", _("Consolidate")
    FORGET_MEMORY = "forget_memory", _("Forget a memory")
    FORGET_MESSAGE = "forget_message", _("Forget a message")
    FORGET_CONVERSATION = "forget_conversation", _("Forget a conversation")
    CLEAR_CONVERSATION = "clear_conversation", _("Clear a conversation")
    FORGET_CHOICE = "forget_choice", _("Forget what was chosen")
    FORGET_PROJECT = "forget_project", _("Forget a project")
    FORGET_LAYER = "forget_layer", _("Delete summaries or earlier moments")
    FORGET_USER = "forget_user", _("Forget everything")
    EXPORT_CONVERSATION = "export_conversation", _("Export a conversation")
    EXPORT_USER = "export_user", _("Export everything")
    IMPORT = "import", _("Import")
    REINDEX = "reindex", _("Reindex")
    SYNC_FILES = "sync_files", _("Sync the memory files")
    DELIVER_WEBHOOK = "deliver_webhook", _("Deliver a webhook")
    CONFIRM_MAIL = "confirm_mail", _("Ask to confirm an email address")
    WEEKLY_MAIL = "weekly_mail", _("Send the weekly email")
    BUILD_INDEX = "build_index", _("Build an index")
    MOVE_VECTORS = "move_vectors", _("Move the vectors")
    SYNC_VECTORS = "sync_vectors", _("Sync the vectors")
    CLEANUP = "cleanup", _("Clean up")
    ERASE_DISK = "erase_disk", _("Erase from the disk")


class Status(models.TextChoices):
    """The states of an operation, and the functions that change them.

    Except for `enqueue`, each function is an UPDATE that requires the old status; if it changes no
    row, another process has changed the operation first. UPDATEs of a running operation also
    require the number of the attempt.

    enqueue -> PENDING            claim_next PENDING -> RUNNING
    succeed RUNNING -> SUCCEEDED  fail       RUNNING -> PENDING (later) | FAILED
    cancel  PENDING -> CANCELLED  expire     RUNNING -> PENDING | FAILED
    retry   FAILED  -> PENDING    release    RUNNING -> PENDING (later)

    `run.succeed_queued` changes PENDING to SUCCEEDED. If a running operation can't return to
    PENDING because another operation with the same dedupe key is queued, it becomes CANCELLED.
    """

    PENDING = "pending", _("Waiting")
    RUNNING = "running", _("Running")
    SUCCEEDED = "succeeded", _("Done")
    FAILED = "failed", _("Failed")
    CANCELLED = "cancelled", _("Cancelled")


class Priority(models.IntegerChoices):
    FORGET = 0, _("forgetting")
    TURN = 10, _("turns")
    INDEX = 20, _("indexing")
    BULK = 30, _("bulk")


class Operation(models.Model):
    """A background task, inserted in the transaction that makes it necessary.

    It refers to the person only by `subject`, and its payload contains ids and options but no
    content, so it may outlive the account. `request_id` is the id of the request that caused the
    operation, even if another operation enqueued it. Forget operations never hide operations, so
    people can always see their own operations.
    """

    personal_data = False
    keeps_ids = True

    public_id = models.CharField(max_length=40, unique=True, default=ids.operation_id)
    kind = models.CharField(max_length=32, choices=Kind)
    subject = models.UUIDField(null=True, blank=True)
    status = models.CharField(max_length=16, choices=Status, default=Status.PENDING)
    priority = models.SmallIntegerField(choices=Priority, default=Priority.TURN)
    attempt = models.PositiveSmallIntegerField(default=0)
    max_attempts = models.PositiveSmallIntegerField(default=8)
    lease_until = models.DateTimeField(null=True, blank=True)
    run_after = models.DateTimeField()
    dedupe_key = models.CharField(max_length=100, null=True, blank=True)
    serial_key = models.CharField(max_length=64, null=True, blank=True)
    payload = models.JSONField(default=dict)
    result = models.JSONField(default=dict)
    steps_done = models.JSONField(default=list)
    progress_done = models.PositiveIntegerField(default=0)
    progress_total = models.PositiveIntegerField(default=0)
    progress_step = models.CharField(max_length=50, blank=True)
    last_error = models.CharField(max_length=500, blank=True)
    requested_by_key = models.BigIntegerField(null=True, blank=True)
    request_id = models.CharField(
        max_length=64, blank=True, default=telemetry.request_id, db_default=""
    )
    token_digest = models.CharField(max_length=64, null=True, blank=True, unique=True)
    token_expires_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            one_of("kind", Kind, name="operation_kind_known"),
            one_of("status", Status, name="operation_status_known"),
            models.CheckConstraint(
                condition=Q(status="running", lease_until__isnull=False)
                | (~Q(status="running") & Q(lease_until__isnull=True)),
                name="operation_running_has_lease",
            ),
            models.CheckConstraint(
                condition=Q(attempt__lte=F("max_attempts")), name="operation_attempts_bounded"
            ),
            models.UniqueConstraint(
                fields=["dedupe_key"], condition=Q(status="pending"), name="operation_dedupe"
            ),
            models.UniqueConstraint(
                fields=["serial_key"], condition=Q(status="running"), name="operation_serial"
            ),
        ]
        indexes = [
            models.Index(
                fields=["priority", "run_after"],
                condition=Q(status="pending"),
                name="operation_due",
            ),
            models.Index(
                fields=["lease_until"], condition=Q(status="running"), name="operation_leases"
            ),
            models.Index(
                fields=["kind", "-id"], condition=Q(status="failed"), name="operation_failed"
            ),
            models.Index(fields=["subject", "-id"], name="operation_subject"),
            models.Index(
                fields=["subject", "priority", "run_after"],
                condition=Q(status="pending"),
                name="operation_waiting",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.public_id} {self.kind} {self.status}"

    @property
    def forget_outcome(self) -> dict[str, Any]:
        """Return the outcome of a request to forget that a turn contained: its status, and ids.

        Return an empty dict if the turn contained no such request.
        """
        found: dict[str, Any] = self.payload.get("forget") or self.result.get("forget") or {}
        return found


class AttemptOutcome(models.TextChoices):
    SUCCEEDED = "succeeded", _("succeeded")
    RETRIED = "retried", _("will be retried")
    FAILED = "failed", _("failed")
    EXPIRED = "expired", _("the worker stopped responding")


class Attempt(models.Model):
    """One attempt at an operation, with its outcome (null while it runs)."""

    personal_data = False

    operation = models.ForeignKey(Operation, on_delete=models.CASCADE, related_name="attempts")
    number = models.PositiveSmallIntegerField()
    started_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    outcome = models.CharField(max_length=16, choices=AttemptOutcome, null=True, blank=True)
    error = models.CharField(max_length=500, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["operation", "number"], name="attempt_number")
        ]

    def __str__(self) -> str:
        return f"attempt {self.number} of operation {self.operation_id}"


class IdempotencyRecord(Record):
    """The stored response to a call with an `Idempotency-Key`, kept for a day.

    Any request to forget data of the person sets `body` to null and `body_erased` to True; a
    repeated call then gets a 409 rather than forgotten content.
    """

    personal_data = True
    words = ("body",)
    codes = ("key", "fingerprint")

    user = models.ForeignKey(User, null=True, on_delete=models.CASCADE)
    api_key = models.ForeignKey(ApiKey, on_delete=models.CASCADE)
    key = models.CharField(max_length=200)
    fingerprint = models.CharField(max_length=64)
    status_code = models.PositiveSmallIntegerField(null=True, blank=True)
    body = models.JSONField(null=True, blank=True)
    body_erased = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["api_key", "key"], name="idempotency_key_once")
        ]
        indexes = [
            models.Index(fields=["user"], name="idempotency_user"),
            models.Index(fields=["expires_at"], name="idempotency_expiry"),
        ]


class ModelCall(models.Model):
    """One call of a chat model: tokens, time and cost, but no text.

    `dropped` is the number of items in the answer that couldn't be used.
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


class Export(Record):
    """A file with one person's data.

    It is erased when it expires, and by every forget operation that concerns its content.
    """

    personal_data = True
    words = ()
    codes = ("conversation_public_id", "format", "path", "sha256")

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="exports")
    operation = models.OneToOneField(Operation, on_delete=models.CASCADE)
    conversation_public_id = models.CharField(max_length=40, blank=True)
    format = models.CharField(max_length=8)
    path = models.CharField(max_length=300, blank=True)
    sha256 = models.CharField(max_length=64, blank=True)
    bytes = models.BigIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    hidden_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [models.Index(fields=["user", "-id"], name="export_user")]


class Import(Record):
    """A file that one person imported, with a report of the added and the skipped rows.

    The report also holds the file's name, if it is known. The file itself is erased after the
    import.
    """

    personal_data = True
    words = ("report",)
    codes = ("format", "path")

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="imports")
    operation = models.OneToOneField(Operation, on_delete=models.CASCADE)
    format = models.CharField(max_length=20)
    path = models.CharField(max_length=300, blank=True)
    position = models.BigIntegerField(default=0)
    report = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    hidden_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [models.Index(fields=["user", "-id"], name="import_user")]

    @property
    def file_name(self) -> str:
        return str(self.report.get("file_name", ""))

    @property
    def result(self) -> dict[str, Any]:
        """Return an import's report without the file's name; empty until the import is done."""
        return {name: value for name, value in self.report.items() if name != "file_name"}
