"""State of the whole instance."""

from __future__ import annotations

from django.db import models
from django.db.models import Q


class Instance(models.Model):
    """The single row about this instance.

    While `deliveries_held_at` is set nothing is sent outside: a backup was restored, and the owner
    has not yet confirmed that this instance is live. `registration_open` is null until an owner
    decides; the setting of the same name holds until then.
    """

    personal_data = False

    deliveries_held_at = models.DateTimeField(null=True, blank=True)
    registration_open = models.BooleanField(null=True)

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(pk=1), name="instance_is_one")]

    def __str__(self) -> str:
        return "this instance"
