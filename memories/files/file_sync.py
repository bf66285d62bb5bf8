"""Sync memory files with their copies: apply edits made in the copies, and rewrite the copies.

A copy is written after the rows are committed, under the lock of the user's files. If the process
is killed in between, the copy is outdated; the next sync recognizes its text as a known version of
the file and overwrites it.

Edits made in the copies of daily notes and of users' own notes are never applied; daily notes are
append-only (`daily_notes.append`). If such a copy was changed by hand, it is left unchanged and
reported. To distinguish outdated copies of notes from edited copies, keyed hashes of the written
texts are kept in a file next to the copies.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from foundation.database import statements
from foundation.errors import ApplicationError, Stale
from memories.files import daily_notes, file_contents, file_copies, file_edits, memory_files
from memories.files.file_copies import WRITTEN, Unreadable
from memories.files.file_edits import TypedFile
from memories.files.grammar import CURATED, Document, parse
from memories.files.memory_files import AppliedEdit, PreparedEdit
from memories.models import FileVersion, MemoryFile
from ops.access import as_user
from ops.models import Kind, Operation, Priority, User
from ops.queue import outbox

_ROUNDS = 3  # attempts to apply an edit while the memories change meanwhile
_AT_ONCE = 2_000  # users per sweep
# A minute is subtracted, because a row may be committed a moment after its timestamp.
_CHANGED = """
SELECT u.subject FROM ops_user u
 CROSS JOIN LATERAL (
    SELECT coalesce(max(f.synced_at), '-infinity') - interval '1 minute' AS at
      FROM memories_memoryfile f WHERE f.user_id = u.id AND f.path = 'MEMORY.md') since
 WHERE u.hidden_at IS NULL AND (
    EXISTS (SELECT 1 FROM memories_memory m
             WHERE m.user_id = u.id AND m.updated_at > since.at
               AND m.status IN ('active', 'disabled', 'superseded', 'archived'))
    OR EXISTS (SELECT 1 FROM memories_dailynote n
                WHERE n.user_id = u.id AND n.created_at > since.at
                  AND n.day > (since.at - interval '2 days')::date)
    OR EXISTS (SELECT 1 FROM memories_memoryfile f
                WHERE f.user_id = u.id AND f.updated_at > since.at
                  AND f.path NOT IN ('MEMORY.md', 'LEARNINGS.md')))
 LIMIT %s
"""


@dataclass
class SyncResult:
    """The result of a sync.

    `edits` holds the counts of applied changes by path, `written` the paths of the copies that were
    written, and `failed` the error messages by path.
    """

    edits: dict[str, Mapping[str, int]] = field(default_factory=dict)
    written: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)

    @property
    def as_result(self) -> dict[str, Any]:
        return {"edits": self.edits, "written": self.written, "failed": self.failed}


def edit(ready: PreparedEdit, *, user: User) -> AppliedEdit:
    """Apply an edit to a file.

    The copy of a curated file is written after the caller's transaction commits.
    """
    applied = memory_files.apply(ready, user=user)
    if ready.path in CURATED:
        transaction.on_commit(partial(write_copy, user, ready.path), robust=True)
    return applied


def sync(user: User) -> SyncResult:
    """Apply the edits made in the copies of a user's files, and write all copies again.

    Copies of daily notes and of the user's own notes are only written (`write_note_copies`). Safe
    to repeat and to interrupt at any point: a copy whose edit was already applied is recognized by
    its text. A missing copy is written again; it isn't treated as an empty file. A copy that can't
    be read or applied is left unchanged and reported.
    """
    synced = SyncResult()
    for path in CURATED:
        try:
            _read_in(user, path, synced)
        except ApplicationError as error:
            synced.failed[path] = error.message
    for path in CURATED:
        if path not in synced.failed and write_copy(user, path):
            synced.written.append(path)
    with as_user(user, changing=True):
        file_copies.lock_copies(user.pk)
        if not _is_being_forgotten(user):
            followed = write_note_copies(user)
            synced.written += followed.written
            synced.failed |= followed.failed
    return synced


def write_copy(user: User, path: str) -> bool:
    """Write the current text of a curated file to its copy; return False if nothing was written.

    If the copy was edited since the last sync, it isn't overwritten but left for the next sync.
    """
    with as_user(user, changing=True):
        file_copies.lock_copies(user.pk)
        if _is_being_forgotten(user):
            return False
        row = memory_files.refresh_file(user, path)
        try:
            found = file_copies.read(user.pk, path)
        except file_copies.Unreadable:
            return False
        if found is not None and not _is_known(row, found):
            return False
        if found != row.content:
            file_copies.write(user.pk, path, row.content)
        MemoryFile.objects.filter(pk=row.pk).update(
            written_version=row.version, synced_at=timezone.now()
        )
        return found != row.content


def request(*, subject: UUID) -> Operation:
    """Enqueue a sync of the user's files, unless one is already queued."""
    return outbox.enqueue(
        Kind.SYNC_FILES,
        subject=subject,
        payload={},
        priority=Priority.BULK,
        dedupe_key=f"files:{subject}",
        serial_key=str(subject),
    )


def request_syncs_after_changes() -> int:
    """Enqueue a sync for each user whose memories, notes or copies changed since the last sync.

    Call it inside `as_system`. Changes are detected by timestamps, so that writing a memory has no
    extra cost.
    """
    found: set[UUID] = {subject for (subject,) in statements.rows(_CHANGED, [_AT_ONCE])}
    found.update(_with_changed_copies())
    for subject in found:
        request(subject=subject)
    return len(found)


def request_syncs_after_edits() -> int:
    """Enqueue a sync for each user with an edited local copy of a curated file.

    The check only compares modification times, so it is cheap enough to run often.
    """
    found = set(_with_changed_copies())
    for subject in found:
        request(subject=subject)
    return len(found)


def _with_changed_copies() -> Iterator[UUID]:
    rows = MemoryFile.objects.filter(path__in=CURATED, user__hidden_at__isnull=True)
    rows = rows.exclude(written_version=0).exclude(synced_at=None)
    fields = ("user_id", "user__subject", "path", "synced_at")
    for user_id, subject, path, synced_at in rows.values_list(*fields).iterator():
        at = file_copies.modification_time(user_id, path)
        if at is not None and at > synced_at.timestamp():
            yield subject


def _read_in(user: User, path: str, synced: SyncResult) -> None:
    for _round in range(_ROUNDS):
        found = file_copies.read(user.pk, path)
        with as_user(user, changing=True):
            row = file_contents.row_of(user, path)
            if found is None or _is_being_forgotten(user) or (row and _is_known(row, found)):
                return
            base = _written(row)
            known = file_contents.active_memories(user)
            other = memory_files.other_curated_path(path)
            other_file = _written(file_contents.row_of(user, other))
            elsewhere = memory_files.ids_in(parse(_copy_of(user, other)))
        typed = TypedFile(path, found, base, other_file, elsewhere)
        edit = file_edits.prepare(typed, known=known, keep_secrets_out=True)
        ready = PreparedEdit(path, row.version if row else 0, found, "disk", edit)
        try:
            with as_user(user, changing=True):
                applied = memory_files.apply(ready, user=user)
        except Stale:
            continue
        synced.edits[path] = applied.done.counts
        return
    raise Stale(_("The memories have changed. Please check again."))


def _written(row: MemoryFile | None) -> Document:
    if row is None:
        return Document()
    version = FileVersion.objects.filter(file=row, number=row.written_version).first()
    return parse(version.content) if version else Document()


def _is_known(row: MemoryFile, text: str) -> bool:
    versions = FileVersion.objects.filter(file=row)
    digest = file_contents.digest_of(text)
    return versions.filter(Q(content=text) | Q(typed=digest)).exists()


def _is_being_forgotten(user: User) -> bool:
    return User.objects.filter(pk=user.pk, hidden_at__isnull=False).exists()


def _copy_of(user: User, path: str) -> str:
    try:
        found = file_copies.read(user.pk, path)
    except file_copies.Unreadable:
        found = None
    return memory_files.content_of(user, path) if found is None else found


def write_note_copies(user: User) -> SyncResult:
    """Write, update and remove copies of notes, so that they match the rows.

    Call it under the lock of the user's files. Safe to repeat and to interrupt at any point: the
    hashes are stored before the copies are written.
    """
    done, known, wanted = SyncResult(), _note_digests(user.pk), _notes_by_path(user)
    stale = {
        path: text for path, text in wanted.items() if _is_stale(user, path, text, known, done)
    }
    gone = [path for path in known if path not in wanted and _is_ours(user.pk, path, known)]
    kept = {path: known[path] for path in known if path in wanted}
    for path, text in stale.items():
        kept[path] = [*kept.get(path, [])[-1:], _digest(text)]
    if kept != known:
        file_copies.write(user.pk, WRITTEN, json.dumps(kept))
    for path in gone:
        file_copies.remove(user.pk, path)
    for path, text in stale.items():
        try:
            file_copies.write(user.pk, path, text)
        except OSError:
            done.failed[path] = _("The copy can’t be written.")
    done.written = [*gone, *(path for path in stale if path not in done.failed)]
    return done


def unchanged_note_copies(user_id: int) -> Collection[str]:
    """Return the paths of the note copies that nobody has changed since a sync wrote them.

    The path of the file that stores the hashes of the copies is included.
    """
    known = _note_digests(user_id)
    return {WRITTEN, *(path for path in known if _is_ours(user_id, path, known))}


def _notes_by_path(user: User) -> dict[str, str]:
    days = file_contents.days_of(user)
    own = {file.path: file.content for file in memory_files.notes_below(user, "")}
    return own | {daily_notes.path_of(day): text for day, text, _ in days}


def _is_stale(
    user: User, path: str, text: str, known: Mapping[str, list[str]], done: SyncResult
) -> bool:
    """Return True if the copy is missing, or if a sync wrote it and it is outdated.

    If the copy was changed by hand or can't be read, add an error to `done.failed`.
    """
    try:
        found = file_copies.read(user.pk, path)
    except Unreadable as error:
        done.failed[path] = error.message
        return False
    if found is None or (found != text and _digest(found) in known.get(path, [])):
        return True
    if found != text:
        done.failed[path] = _("Notes can’t be edited here: this copy is no longer kept up to date.")
    return False


def _is_ours(user_id: int, path: str, known: Mapping[str, list[str]]) -> bool:
    try:
        found = file_copies.read(user_id, path)
    except Unreadable:
        return False
    return found is not None and _digest(found) in known[path]


def _note_digests(user_id: int) -> dict[str, list[str]]:
    try:
        found = json.loads(file_copies.read(user_id, WRITTEN) or "{}")
    except (Unreadable, json.JSONDecodeError):
        return {}
    return found if isinstance(found, dict) else {}


def _digest(text: str) -> str:
    return file_contents.digest_of(text).hex
