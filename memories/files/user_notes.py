"""Users' own notes among the memory files: check paths, rename, recycle, restore.

The persona layers are own notes with fixed names.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from memcenter.lib.errors import Conflict, Invalid, NotFound
from memories.files import file_contents, file_copies, line_index
from memories.files.text.paths import CURATED, LAYERS, LONGEST
from memories.models import MemoryFile
from memories.screening import secret_search
from memories.writing import direct_writes
from ops.accounts import access_ledger, users
from ops.audit import audit_log
from ops.models import User


def is_own(path: str) -> bool:
    """Whether a user's own note may have this path."""
    return path not in CURATED and file_contents.day_of(path) is None


def below(user: User, folder: str) -> list[MemoryFile]:
    """Return the user's own notes in a folder ("" for all), ordered by path."""
    rows = MemoryFile.objects.filter(user=user).exclude(path__in=CURATED)
    if folder:
        rows = rows.filter(path__startswith=f"{folder}/")
    return list(rows.order_by("path"))


def check_room(user: User, path: str) -> None:
    """Raise `Invalid` or `Conflict` if a new note can't have this path or there are too many."""
    if secret_search.find(path):
        raise Invalid.field("path", _("This looks like a secret, and secrets are not remembered."))
    parts = path.split("/")
    above = ["/".join(parts[:count]) for count in range(1, len(parts))]
    taken = MemoryFile.objects.filter(user=user, path__in=above).exists()
    if taken or not set(above).isdisjoint((*CURATED, *LAYERS)):
        raise Invalid.field("path", _("A part of the path is a file."))
    if below(user, path):
        raise Conflict(_("There is a folder of this name."))
    rows = MemoryFile.objects.filter(user=user).exclude(path__in=(*CURATED, *LAYERS))
    if path not in LAYERS and rows.count() >= settings.MAX_FILES:
        most = f"{settings.MAX_FILES:,}"
        raise Conflict(_("There may be at most %(most)s notes.") % {"most": most})


def recycle(files: Sequence[MemoryFile], *, user: User) -> None:
    """Move notes to the bin, to be erased after `RECYCLE_DAYS`; search drops them at once."""
    _hold(user)
    for file in files:
        file.deleted_at = timezone.now()
        file.save(update_fields=["deleted_at", "updated_at"])
        line_index.drop_all(file, user=user)
    for file in files:
        access_ledger.record("file", file.pk, subject=str(user.subject), recycled=True)
    _told(user, "file.recycled", files)


def take_back(user: User, *, file_id: int) -> MemoryFile:
    """Restore a note from the bin. Raises `NotFound`, and `Conflict` if its path is taken."""
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
    line_index.follow(file, user=user)
    access_ledger.record("file", file.pk, subject=str(user.subject), recycled=False)
    _told(user, "file.restored", [file])
    return file


def rename(files: Sequence[MemoryFile], *, user: User, old: str, new: str) -> None:
    """Replace the old path prefix with the new one. Raises `Invalid` and `Conflict`."""
    _hold(user)
    direct_writes.check_on(user)
    for file in files:
        file.path = new + file.path.removeprefix(old)
        if len(file.path) > LONGEST:
            raise Invalid.field("new_path", _("The path is too long."))
        file.written_version = 0
        file.save(update_fields=["path", "written_version", "updated_at"])
    _told(user, "file.renamed", files)


def binned(user: User) -> QuerySet[MemoryFile]:
    """Return the notes in the recycle bin, last deleted first."""
    rows = MemoryFile.everything.filter(user=user, hidden_at__isnull=True)
    return rows.filter(deleted_at__isnull=False).order_by("-deleted_at")


def _hold(user: User) -> None:
    users.check_still_here(user)
    file_copies.hold(user.pk)


def _told(user: User, action: str, files: Sequence[MemoryFile]) -> None:
    for file in files:
        audit_log.record(action, subject=user.subject, target=str(file.pk))
