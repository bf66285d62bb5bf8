"""Exports: a request enqueues an operation, which writes a file.

The file is JSON, or a zip archive with the JSON and readable pages. It expires after `EXPORT_HOURS`
hours, unless a forget operation erases it earlier.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import time
import zipfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from itertools import islice
from typing import IO, Any, Protocol, TypeVar, cast

import orjson
from django.conf import settings
from django.db.models import Q, QuerySet
from django.utils import timezone, translation
from django.utils.html import escape

from foundation.errors import Invalid, NotFound
from foundation.text import richtext
from ops import audit_log, registry
from ops.access import as_system, as_user
from ops.accounts import users
from ops.models import Export, Kind, Operation, Priority, Status, User
from ops.portable_rows import CHUNK
from ops.queue import outbox
from ops.queue.run import GiveWay, Run
from ops.registry import handles
from ops.transfer import stored_files
from ops.transfer.stored_files import EXPORTS

FORMATS = ("json", "zip")  # the first is the default
_OVER = (Status.SUCCEEDED, Status.CANCELLED)
_SOON = timedelta(seconds=10)
FORMAT, VERSION = "memory_center", 1
DATA_NAME = "memory-center.json"
_UNFINISHED = (Status.PENDING, Status.RUNNING, Status.FAILED)
_LOOK_EVERY = 0.5
_PART = 20_000  # characters of a page that are rendered together
_PAGE_HEAD = """<!doctype html>
<html lang="{language}"><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width">
<style>html {{ color-scheme: light dark; font-family: system-ui, sans-serif }}
body {{ max-width: 45rem; margin: 2rem auto; padding: 0 1rem; line-height: 1.6 }}
blockquote {{ margin-inline: 0; padding-inline-start: 1rem; border-inline-start: 3px solid }}
</style>
"""
_OPTIONS = orjson.OPT_UTC_Z | orjson.OPT_NON_STR_KEYS
Item = TypeVar("Item")


def request_export(
    *,
    user: User,
    format: str,
    actor: str,
    surface: str,
    conversation: tuple[int, str] | None = None,
    requested_by_key: int | None = None,
) -> Export:
    """Request an export of all data, or of one conversation (given by key and public id).

    The request is recorded in the audit log. Raise `Invalid` if the format is unknown, and
    `Conflict` (`being_forgotten`) if the person is being forgotten.
    """
    users.check_not_deleted(user)
    if format not in FORMATS:
        raise Invalid.field("format", f"Must be one of {', '.join(FORMATS)}.")
    key, public_id = conversation or (None, "")
    operation = outbox.enqueue(
        Kind.EXPORT_USER if key is None else Kind.EXPORT_CONVERSATION,
        subject=user.subject,
        payload={} if key is None else {"conversation": key},
        priority=Priority.BULK,
        serial_key=f"export:{user.subject}",
        requested_by_key=requested_by_key,
    )
    export = Export.objects.create(
        user=user, operation=operation, conversation_public_id=public_id, format=format
    )
    audit_log.append(
        "export.requested",
        actor=actor,
        surface=surface,
        subject=user.subject,
        target=operation.public_id,
        details={"scope": "everything" if key is None else "conversation", "format": format},
    )
    return export


def list_exports(user: User) -> QuerySet[Export]:
    """Return the person's exports, newest first.

    Cancelled exports are left out, as are finished exports that are hidden, expired or erased.
    """
    visible = Export.objects.filter(user=user).exclude(operation__status=Status.CANCELLED)
    gone = Q(operation__status=Status.SUCCEEDED) & (
        Q(hidden_at__isnull=False) | Q(expires_at__lte=timezone.now()) | Q(sha256="")
    )
    return visible.exclude(gone).select_related("operation").order_by("-pk")


def ready_export(*, user: User, op_id: str) -> Export:
    """Return a finished export for download.

    Raise `NotFound` if it doesn't exist, isn't finished yet, or has expired.
    """
    found = list_exports(user).filter(operation__public_id=op_id, hidden_at__isnull=True).first()
    if found is None or not is_ready(found):
        raise NotFound("This export isn’t ready yet, or no longer exists.")
    return found


def is_ready(export: Export) -> bool:
    return bool(export.sha256) and export.operation.status == Status.SUCCEEDED


def start_export(run: Run, *, user: User) -> Export | None:
    """Begin an attempt: delete the file of the previous attempt, and choose a new file name.

    Return None if the export is finished or was deleted. Raise `GiveWay` if a forget operation for
    the person is running or will soon run.
    """
    yield_to_forgets(user)
    with run.applying(user):
        export = Export.objects.select_for_update().filter(operation=run.operation).first()
        if export is None or (export.sha256 and export.hidden_at is None):
            return None
        stored_files.delete(EXPORTS, [export.path] if export.path else [])
        export.path, export.sha256, export.bytes = stored_files.new_name(export.format), "", 0
        export.hidden_at = None
        export.save(update_fields=["path", "sha256", "bytes", "hidden_at"])
    return export


def publish_export(run: Run, export: Export, *, user: User, sha256: str, size: int) -> None:
    """Make the finished file available for download.

    The row is locked while the file is moved, so a request to forget hides the export either before
    or after the move. If the export was hidden before, delete the file and raise `GiveWay`.
    """
    with run.applying(user):
        locked = Export.objects.select_for_update().filter(pk=export.pk, path=export.path)
        current = locked.filter(hidden_at__isnull=True).first()
        if current is not None:
            stored_files.store_part(EXPORTS, export.path)
            current.sha256, current.bytes = sha256, size
            current.expires_at = timezone.now() + timedelta(hours=settings.EXPORT_HOURS)
            current.save(update_fields=["sha256", "bytes", "expires_at"])
    if current is None:
        stored_files.delete(EXPORTS, [export.path])
        raise GiveWay


def yield_to_forgets(user: User) -> None:
    """Raise `GiveWay` if a forget operation for the person is running or will soon run."""
    due = Q(status=Status.PENDING, run_after__lte=timezone.now() + _SOON)
    with as_system():
        forgets = Operation.objects.filter(subject=user.subject, priority=Priority.FORGET)
        waits = forgets.filter(due | Q(status=Status.RUNNING)).exists()
    if waits:
        raise GiveWay


def hide_exports(*, user: User, conversations: Collection[int] | None) -> int:
    """Hide exports that may contain forgotten rows, in the transaction that hides these rows.

    A running export notices this and starts again. `conversations` are the keys of the affected
    conversations (None for all, empty if only memories are affected). Exports of all data are
    always hidden. Return how many exports were hidden.
    """
    return _affected_exports(user, conversations).update(hidden_at=timezone.now())


def drop_exports(*, user: User, conversations: Collection[int] | None) -> int:
    """Erase the files of exports that may contain forgotten rows; return the number of files.

    The affected exports are those that `hide_exports` would hide. The rows of finished and
    cancelled exports are deleted; the other rows are hidden.
    """
    rows = _affected_exports(user, conversations).select_for_update()
    names = list(rows.exclude(path="").values_list("path", flat=True))
    count = stored_files.delete(EXPORTS, names)
    rows.filter(operation__status__in=_OVER).delete()
    _affected_exports(user, conversations).update(
        hidden_at=timezone.now(), path="", sha256="", bytes=0
    )
    return count


def drop_exports_of(*, user: User, conversation: int) -> int:
    """Erase all exports of a deleted conversation, given by its key; return their number.

    Failed and running exports are erased too, since they would still name the conversation. A
    retry of such an export does nothing.
    """
    rows = Export.objects.filter(user=user, operation__payload__conversation=conversation)
    locked = rows.exclude(conversation_public_id="").select_for_update(of=("self",))
    stored_files.delete(EXPORTS, locked.exclude(path="").values_list("path", flat=True))
    return int(locked.delete()[0])


def _affected_exports(user: User, conversations: Collection[int] | None) -> QuerySet[Export]:
    exports = Export.objects.filter(user=user)
    if conversations is None:
        return exports
    of_these = Q(operation__payload__conversation__in=list(conversations))
    return exports.filter(Q(conversation_public_id="") | of_these)


def erase_exports(rows: QuerySet[Export]) -> None:
    rows = rows.select_for_update(of=("self",))
    stored_files.delete(EXPORTS, rows.exclude(path="").values_list("path", flat=True))
    rows.delete()


class ByteWriter(Protocol):
    def write(self, data: bytes, /) -> int: ...


class Writer:
    """A writer for the data of one person, or of one conversation, in chunks.

    No transaction is open between two chunks. At most twice a second, the lease is checked, and
    `GiveWay` is raised if a forget operation for the same person is due.
    """

    def __init__(self, run: Run, *, user: User, conversation: int | None) -> None:
        self._run = run
        self._user = user
        self._conversation = conversation
        self._done = self._total = 0
        self._looked_at = 0.0

    def write(self, out: ByteWriter, *, format: str) -> None:
        with as_user(self._user):
            if self._conversation is None:
                self._total = sum(one.count(self._user) for one in registry.user_data_kinds())
            own = users.settings_of(self._user)
        if format == "json":
            self._write_data(out)
            return
        with _zipped(out) as archive:
            with archive.open(DATA_NAME, "w", force_zip64=True) as inside:
                self._write_data(inside)
            with translation.override(own.language or "en"):
                for pages_of in registry.readable_pages():
                    pages = pages_of(self._user, self._conversation)
                    while page := self._next(pages, limit=1):
                        self._write_page(archive, page[0])

    def _write_data(self, out: ByteWriter) -> None:
        with as_user(self._user):
            head = _head(self._user, conversation=self._conversation)
        out.write(_as_json(head)[:-1] + b',\n"data": {')
        first = True
        for participant in reversed(registry.user_data_kinds()):
            if self._conversation is None:
                rows = participant.export(self._user)
            else:
                rows = participant.export_conversation(self._user, self._conversation)
            found = self._next(rows)
            if not found and self._conversation is not None:
                continue
            out.write((b"\n" if first else b",\n") + _as_json(participant.name) + b": [")
            self._write_rows(out, rows, found)
            first = False
        out.write(b'\n},\n"complete": true}\n')

    def _write_rows(
        self, out: ByteWriter, rows: Iterator[Mapping[str, Any]], found: list[Mapping[str, Any]]
    ) -> None:
        between = b"\n"
        while found:
            out.write(between + b",\n".join(map(_as_json, found)))
            between = b",\n"
            self._done += len(found)
            self._look()
            found = self._next(rows)
        out.write(b"]")

    def _write_page(self, archive: zipfile.ZipFile, page: registry.Page) -> None:
        with tempfile.TemporaryFile() as html:
            title = escape(page.path.rpartition("/")[2].removesuffix(".md"))
            head = _PAGE_HEAD.format(language=translation.get_language(), title=title)
            html.write(head.encode())
            part: list[str] = []
            with archive.open(page.path, "w", force_zip64=True) as inside:
                while lines := self._next(page.lines):
                    inside.write("".join(f"{line}\n" for line in lines).encode())
                    for line in lines:
                        if not line and sum(map(len, part)) > _PART:
                            html.write(richtext.as_html("\n".join(part), under=1).encode())
                            part = []
                        part.append(line)
                    self._look()
            html.write(richtext.as_html("\n".join(part), under=1).encode())
            html.seek(0)
            path = f"{page.path.removesuffix('.md')}.html"
            with archive.open(path, "w", force_zip64=True) as inside:
                shutil.copyfileobj(html, inside)

    def _next(self, items: Iterator[Item], *, limit: int = CHUNK) -> list[Item]:
        with as_user(self._user):
            return list(islice(items, limit))

    def _look(self) -> None:
        """Report the progress, and raise `GiveWay` if a forget operation is due.

        The writer calls this after each chunk, but it acts at most twice a second.
        """
        now = time.monotonic()
        if now - self._looked_at < _LOOK_EVERY:
            return
        self._looked_at = now
        self._run.step("export", done=self._done, total=max(self._done, self._total))
        yield_to_forgets(self._user)


def _head(user: User, *, conversation: int | None) -> dict[str, Any]:
    if User.objects.filter(pk=user.pk, hidden_at__isnull=False).exists():
        raise NotFound("This user doesn’t exist.")
    own = users.settings_of(user)
    waiting = Operation.objects.filter(subject=user.subject, status__in=_UNFINISHED)
    forgets = waiting.filter(priority=Priority.FORGET)
    return {
        "format": FORMAT,
        "version": VERSION,
        "made_at": timezone.now(),
        "scope": "everything" if conversation is None else "conversation",
        "user_id": user.external_id,
        "switches": {name: getattr(own, name) for name in users.SWITCHES},
        "clean_up": {"complete": not forgets.exists(), "unfinished": forgets.count()},
        "operations": [
            {
                "op_id": operation.public_id,
                "kind": operation.kind,
                "status": operation.status,
                "created_at": operation.created_at,
                "run_after": operation.run_after,
            }
            for operation in waiting.order_by("pk")[:CHUNK]
        ],
        "operations_unfinished": waiting.count(),
    }


@contextmanager
def _zipped(out: ByteWriter) -> Iterator[zipfile.ZipFile]:
    archive = zipfile.ZipFile(cast(IO[bytes], out), "w", zipfile.ZIP_DEFLATED, compresslevel=6)
    try:
        yield archive
    except BaseException:
        archive.fp = None  # else garbage collection would complete the archive
        raise
    archive.close()


def _as_json(value: Any) -> bytes:
    try:
        return orjson.dumps(value, default=str, option=_OPTIONS)
    except TypeError:  # a number of more than 64 bits
        return json.dumps(value, default=str, ensure_ascii=False).encode()


@handles(Kind.EXPORT_USER, is_long=True)
def export_user(run: Run) -> Mapping[str, Any] | None:
    """Write all data of a person to a private file.

    Safe to run twice: each attempt deletes the file of the previous one and uses a new name. A
    finished export isn't written again.
    """
    return _export(run, conversation=None)


@handles(Kind.EXPORT_CONVERSATION, is_long=True)
def export_conversation(run: Run) -> Mapping[str, Any] | None:
    """Write one conversation to a private file. Safe to run twice, like `export_user`."""
    return _export(run, conversation=run.payload["conversation"])


def _export(run: Run, *, conversation: int | None) -> Mapping[str, Any] | None:
    user = run.user()
    if user is None or user.hidden_at is not None:
        return None
    export = start_export(run, user=user)
    if export is None:
        return None
    with stored_files.open_part(export.path) as part:
        Writer(run, user=user, conversation=conversation).write(part, format=export.format)
    publish_export(run, export, user=user, sha256=part.sha256, size=part.bytes)
    return {"bytes": part.bytes, "sha256": part.sha256}
