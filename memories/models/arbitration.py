from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models

from conversations.models import Turn
from memories.models.memory import Memory


class Arbitration(models.Model):
    """A verdict: the candidate, the memory it was compared with (`target`), who decided, and why.

    `memory` is the result. The texts are erased when either memory or the turn is forgotten.
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

    def __str__(self) -> str:
        return f"arbitration {self.pk} {self.verdict}"
