"""Keeping the copies of memory files in step: what is edited in them, what is written to them.

A copy is written after the rows, under the lock of the person's files. Killed in between, it lags
behind; the next sync sees that it is a state of the file that is known, and writes it again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from memcenter.lib import statements
from memcenter.lib.errors import ApplicationError, Stale
from memories.files.parse import Document, parse
from memories.files.paths import CURATED
from memories.models import FileVersion, MemoryFile
from memories.services import file_contents, file_copies, file_edits, memory_files, note_copies
from memories.services.file_edits import Typed
from memories.services.memory_files import Applied, Ready
from ops.access import as_user
from ops.models import Kind, Operation, Priority, User
from ops.services import outbox

_ROUNDS = 3
_AT_ONCE = 2_000  # people for each sweep
# A change may be committed a moment after the time that it carries.
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
class Synced:
    """What a sync found, by path: `edits` were read in, `written` were copied out."""

    edits: dict[str, Mapping[str, int]] = field(default_factory=dict)
    written: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)

    @property
    def told(self) -> dict[str, Any]:
        return {"edits": self.edits, "written": self.written, "failed": self.failed}


def edit(ready: Ready, *, user: User) -> Applied:
    """As `memory_files.apply`; the copy follows when the caller's transaction is over."""
    applied = memory_files.apply(ready, user=user)
    if ready.path in CURATED:
        transaction.on_commit(partial(write_copy, user, ready.path), robust=True)
    return applied


def sync(user: User) -> Synced:
    """Read in what was edited in the copies, render the files, and write the copies again.

    Those of daily notes and of the person's own notes are only written (`note_copies`).
    Safe to repeat, and to kill anywhere: a copy that was read in already is known by its text. A
    copy that is missing is written, never taken for an empty file. One that can't be read or taken
    in is left as it is and told of.
    """
    synced = Synced()
    for path in CURATED:
        try:
            _read_in(user, path, synced)
        except ApplicationError as error:
            synced.failed[path] = error.message
    for path in CURATED:
        if path not in synced.failed and write_copy(user, path):
            synced.written.append(path)
    with as_user(user, changing=True):
        file_copies.hold(user.pk)
        if not _is_going(user):
            followed = note_copies.follow(user)
            synced.written += followed.written
            synced.failed |= followed.failed
    return synced


def write_copy(user: User, path: str) -> bool:
    """Write the copy of a curated file as it is now; False where it was so already.

    A copy that somebody changed since the last sync is left for the next one.
    """
    with as_user(user, changing=True):
        file_copies.hold(user.pk)
        if _is_going(user):
            return False
        row = memory_files.refreshed(user, path)
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
    """Enqueue a sync; one of the person that waits already does it."""
    return outbox.enqueue(
        Kind.SYNC_FILES,
        subject=subject,
        payload={},
        priority=Priority.BULK,
        dedupe_key=f"files:{subject}",
        serial_key=str(subject),
    )


def request_where_changed() -> int:
    """Ask for a sync of all whose memories or copies changed since the last; as the system.

    Nobody who writes a memory has to say so: it costs a turn nothing, however many there are.
    """
    found: set[UUID] = {subject for (subject,) in statements.rows(_CHANGED, [_AT_ONCE])}
    found.update(_with_changed_copies())
    for subject in found:
        request(subject=subject)
    return len(found)


def request_where_edited() -> int:
    """The same of those alone who edited a copy on this machine; cheap, so it is asked often."""
    found = set(_with_changed_copies())
    for subject in found:
        request(subject=subject)
    return len(found)


def _with_changed_copies() -> Iterator[UUID]:
    rows = MemoryFile.objects.filter(path__in=CURATED, user__hidden_at__isnull=True)
    rows = rows.exclude(written_version=0).exclude(synced_at=None)
    fields = ("user_id", "user__subject", "path", "synced_at")
    for user_id, subject, path, synced_at in rows.values_list(*fields).iterator():
        at = file_copies.changed_at(user_id, path)
        if at is not None and at > synced_at.timestamp():
            yield subject


def _read_in(user: User, path: str, synced: Synced) -> None:
    """One copy's edit. Raises what makes it impossible."""
    for _round in range(_ROUNDS):
        found = file_copies.read(user.pk, path)
        with as_user(user, changing=True):
            row = file_contents.row_of(user, path)
            if found is None or _is_going(user) or (row and _is_known(row, found)):
                return
            base = _written(row)
            known = file_contents.known_of(user)
            other = memory_files.other_than(path)
            beside = _written(file_contents.row_of(user, other))
            elsewhere = memory_files.ids_in(parse(_copy_of(user, other)))
        typed = Typed(path, found, base, beside, elsewhere)
        edit = file_edits.prepare(typed, known=known, keep_secrets_out=True)
        ready = Ready(path, row.version if row else 0, found, "disk", edit)
        try:
            with as_user(user, changing=True):
                applied = memory_files.apply(ready, user=user)
        except Stale:
            continue
        synced.edits[path] = applied.done.counts
        return
    raise Stale(_("The memories changed meanwhile. Please look again."))


def _written(row: MemoryFile | None) -> Document:
    """What the copy said when it was last written; nothing where that isn't known."""
    if row is None:
        return Document()
    version = FileVersion.objects.filter(file=row, number=row.written_version).first()
    return parse(version.content) if version else Document()


def _is_known(row: MemoryFile, text: str) -> bool:
    """Whether the text is a state of the file that is known: then its copy only lags behind."""
    versions = FileVersion.objects.filter(file=row)
    digest = file_contents.digest_of(text)
    return versions.filter(Q(content=text) | Q(typed=digest)).exists()


def _is_going(user: User) -> bool:
    return User.objects.filter(pk=user.pk, hidden_at__isnull=False).exists()


def _copy_of(user: User, path: str) -> str:
    try:
        found = file_copies.read(user.pk, path)
    except file_copies.Unreadable:
        found = None
    return memory_files.content_of(user, path) if found is None else found
