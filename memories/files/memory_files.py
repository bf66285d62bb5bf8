"""Read, write and list memory files, in sync with the memories.

The rows are authoritative: an edit, its effect on memories and the new version of the file are
written in one transaction. `file_sync` updates the copies afterwards.

There are four kinds of files: curated files (MEMORY.md, LEARNINGS.md), which show memories; persona
layers (USER.md, SOUL.md, TOOLS.md); the user's own notes; and daily notes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import Count, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from foundation.errors import ApplicationError, Conflict, Invalid, NotFound, Stale
from memories.files import daily_notes, file_contents, file_copies, file_edits, line_index
from memories.files.file_contents import LEARNED
from memories.files.file_edits import Edit, EditEffect, TypedFile
from memories.files.grammar import CURATED, LAYERS, LEARNINGS, LONGEST, MEMORY, Document, parse
from memories.models import DailyNote, FileVersion, Memory, MemoryFile, MemoryStatus
from memories.screening import secret_search
from memories.writing import direct_writes
from ops import audit_log, ledger
from ops.access import as_user
from ops.accounts import users
from ops.models import User

_SYSTEM = "system"
_PROGRAMS = ("api", "mcp", "tool")


@dataclass(frozen=True)
class FileState:
    """The current state of a file. `version` is 0 for a daily note, which has no versions."""

    path: str
    text: str
    version: int
    updated_at: datetime

    @property
    def bytes(self) -> int:
        return len(self.text.encode())

    @property
    def etag(self) -> str:
        return file_contents.etag_of(self.text)


@dataclass(frozen=True)
class PreparedEdit:
    """A checked edit that is ready to be applied.

    `version` is the version of the file that was edited, 0 for a new file. `surface` names the
    interface that made the edit, such as "api"; it is stored as the actor of the new version.
    """

    path: str
    version: int
    text: str
    surface: str
    edit: Edit | None  # None for a user's own note, which shows no memories


@dataclass(frozen=True)
class AppliedEdit:
    """The effect of an edit on the memories, and the file after the edit."""

    done: EditEffect
    file: FileState


def read(user: User, path: str) -> FileState:
    """Return a file in its current state. A curated file is rendered from the current memories.

    The text of a curated file is stored as a version, so that a later edit can be compared with it.
    Raise `NotFound` if there is no such file.
    """
    if path in CURATED:
        return _shown(refresh_file(user, path))
    day, row = file_contents.day_of(path), None
    if day is None:
        row = file_contents.row_of(user, path)
    elif noted := file_contents.note_of_day(user, day):
        return FileState(path, noted[0], 0, noted[1])
    if row is None:
        raise NotFound(_("This file doesn’t exist."))
    return _shown(row)


def all_of(user: User) -> list[FileState]:
    """Return all files: curated files, persona layers, own notes, daily notes (newest first)."""
    rows = MemoryFile.objects.filter(user=user).exclude(path__in=CURATED).order_by("path")
    own = sorted(rows, key=lambda row: row.path not in LAYERS)
    days = [
        FileState(daily_notes.path_of(day), text, 0, at)
        for day, text, at in file_contents.days_of(user)
    ]
    return [*(read(user, path) for path in CURATED), *map(_shown, own), *days]


def versions_of(user: User, path: str) -> QuerySet[FileVersion]:
    """Return the stored versions of a file, newest first.

    Raise `NotFound` if there is no such file.
    """
    read(user, path)
    return FileVersion.objects.filter(user=user, file__path=path).order_by("-number")


def version_of(user: User, path: str, number: int) -> FileVersion:
    """Return one version of a file. Raise `NotFound` if the file or the version doesn't exist."""
    found = versions_of(user, path).filter(number=number).first()
    if found is None:
        raise NotFound(_("This version doesn’t exist."))
    return found


def prepare(
    text: str,
    *,
    user: User,
    path: str,
    surface: str,
    match: str | None = None,
    new: bool = False,
) -> PreparedEdit:
    """Check an edit of a file and embed its texts. Call it outside a transaction.

    If `match` (the ETag of the edited state) is given, the edit is compared with the current file;
    otherwise, it is compared with the last stored version. With `new`, the edit may create a note;
    call `check_room_for_note` before. An edit may always create a persona layer. Raise `NotFound`
    if there is no such file, `Invalid` if the text or path is invalid or a line is only a secret,
    `Conflict` if a folder has the path of a new persona layer, `Stale` if the file doesn't match
    `match`, and `ApplicationError` (`too_large`) if the text is too long.
    """
    check_text(text)
    with as_user(user, changing=True):
        if file_contents.day_of(path):
            raise Invalid.field("path", "Daily notes are append-only: use /memory/append.")
        row = file_contents.row_of(user, path)
        if row is None and path in LAYERS:
            check_room_for_note(user, path)
        elif row is None and path not in CURATED and not new:
            raise NotFound(_("This file doesn’t exist."))
        if match is not None:
            row = refresh_file(user, path) if path in CURATED else row
            if not _is_state(row, path, match):
                raise Stale(_("The file has changed. Please check again."))
        version = row.version if row else 0
        base = parse(row.content) if row else Document()
        if path not in CURATED:
            return PreparedEdit(
                path, version, file_edits.mask_note_secrets(text, base), surface, None
            )
        other_file = parse(content_of(user, other_curated_path(path)))
        known = file_contents.active_memories(user)
    by_program = surface in _PROGRAMS
    typed = TypedFile(path, text, base, other_file, ids_in(other_file), by_program=by_program)
    return PreparedEdit(path, version, text, surface, file_edits.prepare(typed, known=known))


def apply(ready: PreparedEdit, *, user: User) -> AppliedEdit:
    """Apply a prepared edit in the caller's transaction.

    Raise `Stale` if the file or its memories have changed since `prepare`. Raise `Conflict` if the
    user is being forgotten (`being_forgotten`), or if the edit changes a note or adds text to a
    curated file while memory is off (`memory_off`).
    """
    users.check_not_deleted(user)
    if ready.edit is not None:
        file_edits.lock(ready.edit, user=user)
    file_copies.lock_copies(user.pk)
    row = file_contents.row_of(user, ready.path)
    if (row.version if row else 0) != ready.version:
        raise Stale(_("The file has changed. Please check again."))
    if ready.edit is None:
        direct_writes.check_on(user)
        row, done = _stored(user, row, ready.path, ready.text, actor=ready.surface), EditEffect()
    else:
        done = file_edits.carry_out(ready.edit, user=user)
        text = file_contents.render_file(
            file_contents.active_memories(user),
            user=user,
            path=ready.path,
            keeping=ready.edit.edited,
            became=done.became,
        )
        typed = file_contents.digest_of(ready.text)
        row = _stored(user, row, ready.path, text, actor=ready.surface, typed=typed)
    audit_log.record("file.edited", subject=user.subject, target=str(row.pk), details=done.counts)
    return AppliedEdit(done, _shown(row))


def check_text(text: str) -> None:
    """Check that a text can be stored as a file.

    Raise `Invalid` if the text contains invalid characters, and `ApplicationError` (`too_large`) if
    it is too long.
    """
    if "\x00" in text:
        raise Invalid.field("content", "The text must not contain NUL characters.")
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        raise Invalid.field("content", "The text is not valid UTF-8.") from error
    if size > settings.MAX_FILE_BYTES:
        raise ApplicationError("This file is larger than allowed.", code="too_large")


def refresh_file(user: User, path: str) -> MemoryFile:
    """Return a curated file, rendered from the current memories.

    If the text has changed, the new text is stored as a new version.
    """
    row, text = _render_now(user, path)
    if row is not None and row.content == text:
        return row
    file_copies.lock_copies(user.pk)
    # Render again under the lock: a memory may have been forgotten in the meantime.
    row, text = _render_now(user, path)
    return _stored(user, row, path, text, actor=_SYSTEM)


def _render_now(user: User, path: str) -> tuple[MemoryFile | None, str]:
    row = file_contents.row_of(user, path)
    keeping = parse(row.content) if row else file_contents.empty_document(user, path)
    known = file_contents.active_memories(user)
    return row, file_contents.render_file(known, user=user, path=path, keeping=keeping)


def _stored(
    user: User,
    row: MemoryFile | None,
    path: str,
    text: str,
    *,
    actor: str,
    typed: UUID | None = None,
) -> MemoryFile:
    """Return the file, after storing the text as a new version if it differs from the current one.

    `row` is the file, or None for a new file. Call it under the lock of the user's files.
    """
    if row is None:
        row = MemoryFile(user=user, path=path, version=0)
    elif row.content == text:
        if typed:
            FileVersion.objects.filter(file=row, number=row.version).update(typed=typed)
        return row
    row.content, row.version, row.synced_at = text, row.version + 1, timezone.now()
    row.save()
    FileVersion.objects.create(
        user=user, file=row, number=row.version, content=text, actor=actor, typed=typed
    )
    old = FileVersion.objects.filter(file=row, number__lte=row.version - settings.FILE_VERSIONS)
    old.exclude(number=row.written_version).delete()
    line_index.update_index(row, user=user)
    return row


def _is_state(row: MemoryFile | None, path: str, tag: str) -> bool:
    """Return True if `tag` is the file's ETag or "*".

    A persona layer that doesn't exist counts as empty.
    """
    if row is None:
        return path in LAYERS and tag in ("*", file_contents.etag_of(""))
    return tag in ("*", file_contents.etag_of(row.content))


def ids_in(file: Document) -> frozenset[str]:
    return frozenset(line.id for line in file.lines if line.id)


def content_of(user: User, path: str) -> str:
    row = file_contents.row_of(user, path)
    return row.content if row else ""


def other_curated_path(path: str) -> str:
    return next(one for one in CURATED if one != path)


def _shown(row: MemoryFile) -> FileState:
    return FileState(row.path, row.content, row.version, row.updated_at)


def is_own_note(path: str) -> bool:
    """Return whether a user may have a note of their own at this path.

    The paths of curated files and daily notes are reserved.
    """
    return path not in CURATED and file_contents.day_of(path) is None


def notes_below(user: User, folder: str) -> list[MemoryFile]:
    """Return the user's own notes and persona layers in a folder ("" for all), ordered by path."""
    rows = MemoryFile.objects.filter(user=user).exclude(path__in=CURATED)
    if folder:
        rows = rows.filter(path__startswith=f"{folder}/")
    return list(rows.order_by("path"))


def check_room_for_note(user: User, path: str) -> None:
    """Check that a new note can have this path and that the user doesn't have too many notes.

    Raise `Invalid` if the path contains a secret or if one of its folders is a file, and `Conflict`
    if a folder has this name or there are too many notes.
    """
    if secret_search.find(path):
        raise Invalid.field("path", _("This looks like a secret, and secrets are not remembered."))
    parts = path.split("/")
    above = ["/".join(parts[:count]) for count in range(1, len(parts))]
    taken = MemoryFile.objects.filter(user=user, path__in=above).exists()
    if taken or not set(above).isdisjoint((*CURATED, *LAYERS)):
        raise Invalid.field("path", _("A part of the path is a file."))
    if notes_below(user, path):
        raise Conflict(_("A folder with this name already exists."))
    rows = MemoryFile.objects.filter(user=user).exclude(path__in=(*CURATED, *LAYERS))
    if path not in LAYERS and rows.count() >= settings.MAX_FILES:
        most = f"{settings.MAX_FILES:,}"
        raise Conflict(_("There may be at most %(most)s notes.") % {"most": most})


def recycle_notes(files: Sequence[MemoryFile], *, user: User) -> None:
    """Move notes to the recycle bin, from which they are erased after `RECYCLE_DAYS`.

    Search no longer finds them.
    """
    _lock_files(user)
    for file in files:
        file.deleted_at = timezone.now()
        file.save(update_fields=["deleted_at", "updated_at"])
        lines = DailyNote.everything.filter(file=file).values_list("pk", flat=True)
        line_index.drop(list(lines), user=user)
    for file in files:
        ledger.record_decision("file", file.pk, subject=str(user.subject), recycled=True)
    _audit(user, "file.recycled", files)


def restore_note_from_bin(user: User, *, file_id: int) -> MemoryFile:
    """Restore a note from the recycle bin.

    Raise `NotFound` if the note isn't in the recycle bin, and `Conflict` if another file has its
    path. The errors of `check_room_for_note` are raised too.
    """
    _lock_files(user)
    rows = MemoryFile.everything.filter(user=user, hidden_at__isnull=True)
    file = rows.filter(pk=file_id, deleted_at__isnull=False).first()
    if file is None:
        raise NotFound(_("This file doesn’t exist."))
    if file_contents.row_of(user, file.path) is not None:
        raise Conflict(_("A file with this name already exists."))
    check_room_for_note(user, file.path)
    file.deleted_at = None
    file.save(update_fields=["deleted_at", "updated_at"])
    line_index.update_index(file, user=user)
    ledger.record_decision("file", file.pk, subject=str(user.subject), recycled=False)
    _audit(user, "file.restored", [file])
    return file


def rename_notes(files: Sequence[MemoryFile], *, user: User, old: str, new: str) -> None:
    """Rename notes or move a folder: replace the prefix `old` of each path with `new`.

    Raise `Invalid` if a path becomes too long, and `Conflict` while memory is off (`memory_off`) or
    the user is being forgotten (`being_forgotten`).
    """
    _lock_files(user)
    direct_writes.check_on(user)
    for file in files:
        file.path = new + file.path.removeprefix(old)
        if len(file.path) > LONGEST:
            raise Invalid.field("new_path", _("The path is too long."))
        file.written_version = 0
        file.save(update_fields=["path", "written_version", "updated_at"])
    _audit(user, "file.renamed", files)


def binned_notes(user: User) -> QuerySet[MemoryFile]:
    """Return the notes in the recycle bin, last deleted first."""
    rows = MemoryFile.everything.filter(user=user, hidden_at__isnull=True)
    return rows.filter(deleted_at__isnull=False).order_by("-deleted_at")


def _lock_files(user: User) -> None:
    users.check_not_deleted(user)
    file_copies.lock_copies(user.pk)


def _audit(user: User, action: str, files: Sequence[MemoryFile]) -> None:
    for file in files:
        audit_log.record(action, subject=user.subject, target=str(file.pk))


_MOST = 100  # maximum number of own notes, and of deleted notes, listed on a page


@dataclass(frozen=True)
class CuratedFile:
    """A curated file, as shown in the list of files, with its number of memories."""

    path: str
    memories: int


@dataclass(frozen=True)
class Layer:
    """A persona layer, as shown in the list of files.

    `changed_at` is None if the layer was never written.
    """

    path: str
    changed_at: datetime | None


@dataclass(frozen=True)
class OwnNote:
    """A user's own note, as shown in the list of files.

    For a note in the recycle bin, `changed_at` is the time of its deletion.
    """

    id: int
    path: str
    changed_at: datetime


@dataclass(frozen=True)
class DayNote:
    """A daily note, as shown in the list of files."""

    path: str
    day: date
    lines: int


def curated_of(user: User) -> list[CuratedFile]:
    rows = Memory.objects.filter(user=user, project=None, status=MemoryStatus.ACTIVE)
    learned = Q(kind__in=LEARNED)
    counts = rows.aggregate(
        learnings=Count("pk", filter=learned), memory=Count("pk", filter=~learned)
    )
    return [CuratedFile(MEMORY, counts["memory"]), CuratedFile(LEARNINGS, counts["learnings"])]


def layers_of(user: User) -> list[Layer]:
    rows = MemoryFile.objects.filter(user=user, path__in=LAYERS)
    changed = dict(rows.values_list("path", "updated_at"))
    return [Layer(path, changed.get(path)) for path in LAYERS]


def own_of(user: User) -> Sequence[OwnNote]:
    """Return the user's first `_MOST` own notes by path, without the persona layers."""
    rows = MemoryFile.objects.filter(user=user).exclude(path__in=(*CURATED, *LAYERS))
    rows = rows.order_by("path")
    return [OwnNote(*row) for row in rows.values_list("pk", "path", "updated_at")[:_MOST]]


def binned_of(user: User) -> Sequence[OwnNote]:
    rows = binned_notes(user).only("path", "deleted_at", "updated_at")
    return [OwnNote(row.pk, row.path, row.deleted_at or row.updated_at) for row in rows[:_MOST]]


def days_of(user: User, *, before: date | None = None, limit: int) -> tuple[list[DayNote], bool]:
    """Return up to `limit` daily notes, newest first, and whether there are more.

    Only notes of days before `before` are returned, if it is given.
    """
    rows = DailyNote.objects.filter(user=user, day__isnull=False)
    if before is not None:
        rows = rows.filter(day__lt=before)
    counted = rows.values("day").annotate(lines=Count("pk"))
    found: list[Any] = list(counted.order_by("-day")[: limit + 1])
    days = [DayNote(daily_notes.path_of(row["day"]), row["day"], row["lines"]) for row in found]
    return days[:limit], len(days) > limit
