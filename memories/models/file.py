"""The models of memory files, daily notes, and the projects of coding agents."""

from datetime import date
from typing import ClassVar, Self

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from foundation import ids
from foundation.database.schema import Hideable, PresentManager


class MemoryFile(Hideable):
    """A file that users and agents read and edit.

    `content` is the text of the newest version. `written_version` is the last version known to be
    in the file's copy on disk, or 0 if there is none. While a user's own note is in the recycle bin
    (`deleted_at` is set), another file may have the same path.
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
    deleted_at = models.DateTimeField(null=True, blank=True)
    hidden_at = models.DateTimeField(null=True, blank=True)

    objects: ClassVar[PresentManager[Self]] = PresentManager()

    class Meta(Hideable.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["user", "path"], condition=Q(deleted_at__isnull=True), name="file_path"
            )
        ]


class FileVersion(Hideable):
    """A version of a memory file.

    After a user edits a curated file, `content` is rendered from the memories, and `typed` is the
    keyed hash of the user's text, truncated to 128 bits. If the copy on disk couldn't be rewritten
    and still contains this text, `typed` shows that the copy contains no new edit.
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

    class Meta(Hideable.Meta):
        constraints = [models.UniqueConstraint(fields=["file", "number"], name="file_version")]
        indexes = [models.Index(fields=["user"], name="file_version_user")]

    def __str__(self) -> str:
        return f"version {self.number} of file {self.file_id}"


class DailyNote(Hideable):
    """A line of a daily note, or a line of free text in a memory file.

    Lines of a daily note are only appended, and `day` is in the user's time zone. `learned_at` is
    set when memories are learned from an old line. Free text in a memory file has rows too, so that
    search finds the text as a note. Such a row has a `file` and no day, `number` is its position in
    the file, and the row is updated when the file changes.
    """

    personal_data = True
    words = ("text", "source")
    codes = ("public_id",)

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    public_id = models.CharField(max_length=40, unique=True, default=ids.note_id)
    day = models.DateField(null=True, blank=True)
    file = models.ForeignKey(
        MemoryFile, on_delete=models.CASCADE, null=True, blank=True, related_name="lines"
    )
    number = models.PositiveIntegerField()
    text = models.TextField()
    source = models.CharField(max_length=200, blank=True)
    learned_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField()
    hidden_at = models.DateTimeField(null=True, blank=True)

    class Meta(Hideable.Meta):
        constraints = [
            models.UniqueConstraint(fields=["user", "day", "number"], name="note_line_number"),
            models.CheckConstraint(
                condition=Q(day__isnull=False, file__isnull=True)
                | Q(day__isnull=True, file__isnull=False),
                name="note_of_day_or_file",
            ),
        ]

    @property
    def on(self) -> date:
        """Return the day of a daily note's line.

        Raise `ValueError` if the line belongs to a file.
        """
        if self.day is None:
            raise ValueError("a line of a file has no day")
        return self.day


class Project(Hideable):
    """A project that a user works on; `user` and `key` identify the project."""

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

    class Meta(Hideable.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["user", "key"], condition=Q(hidden_at__isnull=True), name="project_key"
            )
        ]

    def __str__(self) -> str:
        return self.key
