"""Exports and imports."""

from django.db import models

from ops.models.operation import Operation
from ops.models.user import User


class Export(models.Model):
    """A file made for one person; erased when it expires and by any forget that concerns it."""

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

    def __str__(self) -> str:
        return f"export {self.pk}"


class Import(models.Model):
    """A file imported for one person, with a report of skipped parts."""

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

    def __str__(self) -> str:
        return f"import {self.pk}"
