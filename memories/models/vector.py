"""The models of the search index (vectors and segmented words) and of recorded recalls (traces)."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _
from pgvector.django import HalfVectorField

from conversations.models import Conversation, Message
from foundation import ids
from foundation.database.schema import Record, one_of


class TargetKind(models.TextChoices):
    MEMORY = "memory", _("memory")
    FRAGMENT = "fragment", _("fragment")
    MESSAGE = "message", _("message")
    EPISODE = "episode", _("earlier moment")
    SUMMARY = "summary", _("summary")
    NOTE = "note", _("note")


# The tables that `target_id` refers to.
TABLES = {
    TargetKind.MEMORY: "memories_memory",
    TargetKind.FRAGMENT: "memories_fragment",
    TargetKind.MESSAGE: "conversations_message",
    TargetKind.EPISODE: "conversations_episode",
    TargetKind.SUMMARY: "conversations_summary",
    TargetKind.NOTE: "memories_dailynote",
}


class SearchedIn(models.TextChoices):
    """The store in which the vectors of an embedding space are searched.

        move to Milvus    PGVECTOR -> FILLING -> MILVUS
        move back         any state -> PGVECTOR

    PostgreSQL always stores all vectors.
    """

    PGVECTOR = "pgvector"
    FILLING = "filling"  # vectors are being copied to Milvus; PostgreSQL still searches
    MILVUS = "milvus"


class EmbeddingSpace(models.Model):
    """All vectors made by one version of an embedder; only the active space is searched."""

    personal_data = False

    embedder = models.CharField(max_length=60)
    model = models.CharField(max_length=100)
    dimensions = models.PositiveIntegerField()
    version = models.PositiveIntegerField(default=1)
    active = models.BooleanField(default=False)
    searched_in = models.CharField(
        max_length=10, choices=SearchedIn, default=SearchedIn.PGVECTOR, db_default="pgvector"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            one_of("searched_in", SearchedIn, name="space_searched_in_known"),
            models.UniqueConstraint(
                fields=["embedder", "model", "dimensions", "version"], name="space_once"
            ),
            models.UniqueConstraint(
                fields=["active"], condition=Q(active=True), name="space_one_active"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.embedder} {self.model} {self.dimensions}"


class Vector(Record):
    """The unit vector of one indexed row in an embedding space.

    The column `embedding` has no fixed dimension, because embedders have different dimensions.
    """

    personal_data = True
    words = ()
    codes = ("target_kind",)
    refers_to = ("target_kind", "target_id", TABLES)

    space = models.ForeignKey(EmbeddingSpace, on_delete=models.PROTECT)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, db_index=False)
    target_kind = models.CharField(max_length=10, choices=TargetKind)
    target_id = models.BigIntegerField()
    conversation = models.ForeignKey(
        Conversation, null=True, on_delete=models.CASCADE, db_index=False
    )
    embedding = HalfVectorField()

    class Meta:
        constraints = [
            one_of("target_kind", TargetKind, name="vector_target_known"),
            models.UniqueConstraint(
                fields=["user", "space", "target_kind", "target_id"], name="vector_once"
            ),
        ]
        indexes = [
            models.Index(
                fields=["conversation", "target_kind"],
                condition=Q(conversation__isnull=False),
                name="vector_conversation",
            ),
            models.Index(fields=["target_id"], name="vector_target"),
        ]


class VectorChange(Record):
    """A pending update of Milvus: a vector was inserted, changed or deleted in PostgreSQL.

    A database trigger writes the rows. A row has no foreign keys, so that it remains until Milvus
    is updated, even after the user's account is deleted. There are no rows if Milvus isn't used.
    """

    personal_data = False
    keeps_ids = True

    user_id = models.BigIntegerField()
    space_id = models.BigIntegerField()
    target_kind = models.CharField(max_length=10)
    target_id = models.BigIntegerField()

    class Meta:
        indexes = [
            models.Index(
                fields=["user_id", "space_id", "target_kind", "target_id"], name="change_target"
            )
        ]


class LexicalEntry(Record):
    """The segmented words of one indexed row, with repetitions, for keyword ranking."""

    personal_data = True
    words = ()
    codes = ("terms", "target_kind")
    refers_to = ("target_kind", "target_id", TABLES)

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, db_index=False)
    target_kind = models.CharField(max_length=10, choices=TargetKind)
    target_id = models.BigIntegerField()
    conversation = models.ForeignKey(
        Conversation, null=True, on_delete=models.CASCADE, db_index=False
    )
    terms = ArrayField(models.TextField())
    length = models.PositiveIntegerField()

    class Meta:
        verbose_name_plural = "lexical entries"
        constraints = [
            one_of("target_kind", TargetKind, name="lexical_target_known"),
            models.UniqueConstraint(
                fields=["user", "target_kind", "target_id"], name="lexical_once"
            ),
        ]
        indexes = [
            GinIndex(fields=["user", "terms"], name="lexical_terms"),
            models.Index(
                fields=["conversation", "target_kind"],
                condition=Q(conversation__isnull=False),
                name="lexical_conversation",
            ),
            models.Index(fields=["target_id"], name="lexical_target"),
        ]


class TraceKind(models.TextChoices):
    RECALL = "recall", _("recall")
    SEARCH = "search", _("search")


class RecallTrace(models.Model):
    """A record of one recall or search, identified by `request_id`.

    `answer` is the reply whose prompt contained the results.
    """

    personal_data = True
    words = ("query",)
    codes = ("request_id", "kind", "stages")

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    request_id = models.CharField(max_length=40, unique=True, default=ids.request_id)
    kind = models.CharField(max_length=8, choices=TraceKind, default=TraceKind.RECALL)
    query = models.TextField()
    conversation = models.ForeignKey(Conversation, null=True, blank=True, on_delete=models.CASCADE)
    answer = models.ForeignKey(
        Message, null=True, blank=True, on_delete=models.CASCADE, related_name="recalls"
    )
    stages = models.JSONField(default=list)
    took_ms = models.FloatField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [
            models.Index(fields=["user", "-id"], name="trace_user"),
            models.Index(fields=["created_at"], name="trace_age"),
        ]

    def __str__(self) -> str:
        return self.request_id


class RecallHit(Record):
    """One result of a recorded recall or search: its rank, and the components of its score.

    `in_block` is True if the result was put into the prompt.
    """

    personal_data = True
    words = ()
    codes = ("type", "target_public_id", "components")

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    trace = models.ForeignKey(RecallTrace, on_delete=models.CASCADE, related_name="hits")
    type = models.CharField(max_length=10)
    target_public_id = models.CharField(max_length=40)
    rank = models.PositiveIntegerField()
    score = models.FloatField()
    components = models.JSONField(default=dict)
    in_block = models.BooleanField(default=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["trace", "rank"], name="hit_rank")]
        indexes = [models.Index(fields=["target_public_id"], name="hit_named")]
