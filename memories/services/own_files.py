"""Notes of the person's own among the memory files: where they lie, renamed, thrown away."""

from __future__ import annotations

from collections.abc import Sequence

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from memcenter.lib.errors import Conflict, Invalid, NotFound
from memories.files.paths import CURATED, LONGEST
from memories.models import MemoryFile
from memories.screening import finding
from memories.services import file_contents, file_copies, file_lines, remembering
from ops.models import User
from ops.services import audit, decisions, users


def is_own(path: str) -> bool:
    """Whether a note of the person's own may lie at this path."""
    return path not in CURATED and file_contents.day_of(path) is None


def below(user: User, folder: str) -> list[MemoryFile]:
    """The person's own notes in a folder, "" for all, by their paths."""
    rows = MemoryFile.objects.filter(user=user).exclude(path__in=CURATED)
    if folder:
        rows = rows.filter(path__startswith=f"{folder}/")
    return list(rows.order_by("path"))


def check_room(user: User, path: str) -> None:
    """Raises `Invalid` where a new note can't lie at this path, or there are too many."""
    if finding.find(path):
        raise Invalid.field("path", _("This looks like a secret, and secrets are not remembered."))
    parts = path.split("/")
    above = ["/".join(parts[:count]) for count in range(1, len(parts))]
    taken = MemoryFile.objects.filter(user=user, path__in=above).exists()
    if taken or not set(above).isdisjoint(CURATED):
        raise Invalid.field("path", _("A part of the path is a file."))
    if below(user, path):
        raise Conflict(_("There is a folder of this name."))
    rows = MemoryFile.objects.filter(user=user).exclude(path__in=CURATED)
    if rows.count() >= settings.MAX_FILES:
        most = f"{settings.MAX_FILES:,}"
        raise Conflict(_("There may be at most %(most)s notes.") % {"most": most})


def recycle(files: Sequence[MemoryFile], *, user: User) -> None:
    """To the recycle bin; after `RECYCLE_DAYS` they are erased. Nobody finds them from now on."""
    _hold(user)
    for file in files:
        file.deleted_at = timezone.now()
        file.save(update_fields=["deleted_at", "updated_at"])
        file_lines.drop_all(file, user=user)
    for file in files:
        decisions.record("file", file.pk, subject=str(user.subject), recycled=True)
    _told(user, "file.recycled", files)


def take_back(user: User, *, file_id: int) -> MemoryFile:
    """Out of the recycle bin. Raises `NotFound`, and `Conflict` where another has its path."""
    _hold(user)
    rows = MemoryFile.everything.filter(user=user, hidden_at__isnull=True)
    file = rows.filter(pk=file_id, deleted_at__isnull=False).first()
    if file is None:
        raise NotFound(_("There is no such file."))
    if file_contents.row_of(user, file.path) is not None:
        raise Conflict(_("There is another file of this name."))
    check_room(user, file.path)
    file.deleted_at = None
    file.save(update_fields=["deleted_at", "updated_at"])
    file_lines.follow(file, user=user)
    decisions.record("file", file.pk, subject=str(user.subject), recycled=False)
    _told(user, "file.restored", [file])
    return file


def rename(files: Sequence[MemoryFile], *, user: User, old: str, new: str) -> None:
    """Let what begins with the old path begin with the new one. Raises `Invalid`, `Conflict`."""
    _hold(user)
    remembering.check_on(user)
    for file in files:
        file.path = new + file.path.removeprefix(old)
        if len(file.path) > LONGEST:
            raise Invalid.field("new_path", _("The path is too long."))
        file.written_version = 0
        file.save(update_fields=["path", "written_version", "updated_at"])
    _told(user, "file.renamed", files)


def binned(user: User) -> QuerySet[MemoryFile]:
    """What lies in the recycle bin, the last first."""
    rows = MemoryFile.everything.filter(user=user, hidden_at__isnull=True)
    return rows.filter(deleted_at__isnull=False).order_by("-deleted_at")


def _hold(user: User) -> None:
    users.check_not_being_forgotten(User.objects.get(pk=user.pk))
    file_copies.hold(user.pk)


def _told(user: User, action: str, files: Sequence[MemoryFile]) -> None:
    for file in files:
        audit.record(action, subject=user.subject, target=str(file.pk))
