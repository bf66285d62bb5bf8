"""Memory files and daily notes."""

from django.conf import settings
from django.db import models

from memcenter.lib import ids
from memcenter.lib.rows import VisibleManager


class MemoryFile(models.Model):
    """A file that people and agents read and edit; `content` is its newest version.

    `written_version` is the version that the copy on the disk was last seen to have, 0 for none.
    """

    personal_data = True
    words = ("content",)
    codes = ("path",)

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    path = models.CharField(max_length=200)
    content = models.TextField(blank=True)
    version = models.PositiveIntegerField(default=1)
    written_version = models.PositiveIntegerField(default=0)
    synced_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)
    hidden_at = models.DateTimeField(null=True, blank=True)

    objects = VisibleManager["MemoryFile"]()
    everything: models.Manager["MemoryFile"] = models.Manager()

    class Meta:
        base_manager_name = "everything"
        constraints = [models.UniqueConstraint(fields=["user", "path"], name="file_path")]

    def __str__(self) -> str:
        return f"file {self.pk}"


class FileVersion(models.Model):
    """One state of a memory file.

    `typed` is half a keyed hash of the text as it came in, before the file was rendered from it: so
    a copy that was read and could not be written back any more is told from a further edit.
    """

    personal_data = True
    words = ("content",)
    codes = ("actor",)

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    file = models.ForeignKey(MemoryFile, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    content = models.TextField(blank=True)
    actor = models.CharField(max_length=12)
    typed = models.UUIDField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    hidden_at = models.DateTimeField(null=True, blank=True)

    objects = VisibleManager["FileVersion"]()
    everything: models.Manager["FileVersion"] = models.Manager()

    class Meta:
        base_manager_name = "everything"
        constraints = [models.UniqueConstraint(fields=["file", "number"], name="file_version")]
        indexes = [models.Index(fields=["user"], name="file_version_user")]

    def __str__(self) -> str:
        return f"version {self.number} of file {self.file_id}"


class DailyNote(models.Model):
    """One line of a day's note, append-only; `day` is in the person's time zone."""

    personal_data = True
    words = ("text", "source")
    codes = ("public_id",)

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    public_id = models.CharField(max_length=40, unique=True, default=ids.note_id)
    day = models.DateField()
    number = models.PositiveIntegerField()
    text = models.TextField()
    source = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField()
    hidden_at = models.DateTimeField(null=True, blank=True)

    objects = VisibleManager["DailyNote"]()
    everything: models.Manager["DailyNote"] = models.Manager()

    class Meta:
        base_manager_name = "everything"
        constraints = [
            models.UniqueConstraint(fields=["user", "day", "number"], name="note_line_number")
        ]

    def __str__(self) -> str:
        return self.public_id
