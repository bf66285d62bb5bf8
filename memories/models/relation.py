from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from memcenter.lib.database.rows import one_of
from memories.models.memory import Memory


class RelationKind(models.TextChoices):
    SUPPORTS = "supports", _("supports")
    CONTRADICTS = "contradicts", _("contradicts")
    REFINES = "refines", _("refines")


class Relation(models.Model):
    """A relation between two memories, with a strength of 0-1."""

    personal_data = True
    words = ()
    codes = ("kind",)

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    memory = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="relations")
    other = models.ForeignKey(Memory, on_delete=models.CASCADE, related_name="related_by")
    kind = models.CharField(max_length=12, choices=RelationKind)
    strength = models.FloatField(default=0.5)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            one_of("kind", RelationKind, name="relation_kind_known"),
            models.UniqueConstraint(fields=["memory", "other", "kind"], name="relation_once"),
            models.CheckConstraint(condition=~Q(memory=F("other")), name="relation_two_memories"),
            models.CheckConstraint(
                condition=Q(strength__range=(0, 1)), name="relation_strength_0_1"
            ),
        ]
        indexes = [models.Index(fields=["user"], name="relation_user")]

    def __str__(self) -> str:
        return f"{self.memory_id} {self.kind} {self.other_id}"
