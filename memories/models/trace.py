"""The queries and results of recalls and searches, kept for 30 days."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from conversations.models import Conversation, Message
from memcenter.lib import ids


class TraceKind(models.TextChoices):
    RECALL = "recall", _("recall")
    SEARCH = "search", _("search")


class RecallTrace(models.Model):
    """A recall or search, by `request_id`. `answer` is the reply that the block was used for."""

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


class RecallHit(models.Model):
    """A result of a recall: its rank and all components that add up to its score."""

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

    def __str__(self) -> str:
        return f"hit {self.rank} of trace {self.trace_id}"
