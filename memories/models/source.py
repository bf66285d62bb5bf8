"""The models of sources, refused secrets, verdicts on statements, and tombstones."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from conversations.models import Message, Turn
from foundation.database.schema import Hideable, Record, one_of
from memories.models.memory import Memory, MemoryVersion, Origin


class Source(Hideable):
    """The source of a memory's version: a turn, an API call, a note, a file line or an import.

    `quote` is the part of the message or note that states the memory. When a turn is forgotten, its
    sources determine which memory texts must be erased. Several `joint` sources support the text
    only together: the text was composed from all of them. `reference` is an id or path, never text.
    """

    personal_data = True
    words = ("quote", "comment")
    codes = ("origin", "reference")

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    memory = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="sources")
    version = models.ForeignKey(MemoryVersion, on_delete=models.CASCADE, related_name="sources")
    origin = models.CharField(max_length=12, choices=Origin)
    turn = models.ForeignKey(
        Turn, null=True, blank=True, on_delete=models.CASCADE, related_name="sources"
    )
    message = models.ForeignKey(
        Message, null=True, blank=True, on_delete=models.CASCADE, related_name="sources"
    )
    quote = models.TextField(blank=True)
    quote_start = models.PositiveIntegerField(default=0)
    joint = models.BooleanField(default=False)
    reference = models.CharField(max_length=300, blank=True)
    comment = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField()
    hidden_at = models.DateTimeField(null=True, blank=True)

    class Meta(Hideable.Meta):
        constraints = [one_of("origin", Origin, name="source_origin_known")]
        indexes = [
            models.Index(fields=["user", "memory"], name="source_memory"),
            models.Index(fields=["user", "turn"], name="source_turn"),
        ]


class SecretCategory(models.TextChoices):
    PASSWORD = "password", _("password")
    API_KEY = "api_key", _("key or token")
    CARD = "card", _("card number")
    BANK_ACCOUNT = "bank_account", _("bank account")
    IDENTITY_NUMBER = "identity_number", _("identity number")
    ADDRESS = "address", _("precise address")


class Refusal(Record):
    """A record that a secret was refused or masked. It never contains the secret itself."""

    personal_data = True
    words = ()
    codes = ("category",)

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    turn = models.ForeignKey(Turn, null=True, blank=True, on_delete=models.CASCADE)
    category = models.CharField(max_length=20, choices=SecretCategory)
    redacted = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [one_of("category", SecretCategory, name="refusal_category_known")]
        indexes = [models.Index(fields=["user", "-id"], name="refusal_user")]


class Arbitration(Record):
    """A verdict on a statement that was compared with the known memories.

    `target` is the memory that the statement was compared with, and `memory` the resulting memory.
    The row also records who decided and why. The texts are erased when either memory or the turn is
    forgotten.
    """

    personal_data = True
    words = ("candidate_text", "target_text")
    codes = ("verdict", "decided_by", "reasons")

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    turn = models.ForeignKey(Turn, null=True, blank=True, on_delete=models.CASCADE)
    memory = models.ForeignKey(
        Memory, null=True, blank=True, on_delete=models.CASCADE, related_name="arbitrations"
    )
    target = models.ForeignKey(
        Memory, null=True, blank=True, on_delete=models.CASCADE, related_name="met_in"
    )
    verdict = models.CharField(max_length=12)
    candidate_text = models.TextField()
    target_text = models.TextField(blank=True)
    similarity = models.FloatField(null=True, blank=True)
    decided_by = models.CharField(max_length=60)
    reasons = ArrayField(models.CharField(max_length=60), default=list, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [models.Index(fields=["user", "-id"], name="arbitration_user")]


class Tombstone(Record):
    """A record that a text was forgotten, which prevents it from being learned again.

    The record contains neither the text nor a vector. It blocks only messages older than the
    request to forget, the source messages themselves, and later messages that only ask a question.
    It is deleted with the user.

    There is a row for each text of a forgotten memory: the content and the extracted statement of
    each version, and each quotation of its sources. A forgotten message leaves a row as well,
    without a `memory_public_id`. The row contains keyed hashes, whose keys derive from the
    instance's secret: `text_hash` of the normalised text, `about_hash` of all its content words
    together, `word_hashes` of single words, and `pieces` of overlapping pieces of `piece_size`
    characters. `message_ids` holds the public ids of the source messages and notes.
    """

    personal_data = True
    keeps_ids = True
    words = ()
    codes = (
        *("memory_public_id", "text_hash", "about_hash", "word_hashes", "pieces"),
        "message_ids",
    )

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    memory_public_id = models.CharField(max_length=40, blank=True)
    text_hash = models.CharField(max_length=64)
    about_hash = models.CharField(max_length=64, blank=True)
    word_hashes = ArrayField(
        models.CharField(max_length=16), default=list, db_default=[], blank=True
    )
    pieces = ArrayField(models.CharField(max_length=16), default=list, db_default=[], blank=True)
    piece_size = models.PositiveSmallIntegerField(default=0, db_default=0)
    message_ids = ArrayField(models.CharField(max_length=40), default=list, blank=True)
    forgotten_at = models.DateTimeField(default=timezone.now, db_default=Now())
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [models.Index(fields=["user", "text_hash"], name="tombstone_text")]
