from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from memcenter.lib.database.rows import VisibleManager


class Project(models.Model):
    """A project that a user works on, named by agents: `user` + `key`."""

    personal_data = True
    words = ("key", "name", "machines", "path")
    codes = ()

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    key = models.CharField(max_length=100)
    name = models.CharField(max_length=200, blank=True)
    machines = ArrayField(models.CharField(max_length=100), default=list, blank=True)
    path = models.CharField(max_length=500, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)
    hidden_at = models.DateTimeField(null=True, blank=True)

    objects = VisibleManager["Project"]()
    everything: models.Manager["Project"] = models.Manager()

    class Meta:
        base_manager_name = "everything"
        constraints = [
            models.UniqueConstraint(
                fields=["user", "key"], condition=Q(hidden_at__isnull=True), name="project_key"
            )
        ]

    def __str__(self) -> str:
        return self.key
