"""Write an export file: JSON, or a zip of the JSON and readable pages."""

from __future__ import annotations

import json
import time
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from typing import IO, Any, Protocol, TypeVar, cast

import orjson
from django.utils import timezone, translation

from memcenter.lib.errors import NotFound
from ops import registry
from ops.access import as_user
from ops.accounts import users
from ops.models import Operation, Priority, Status, User
from ops.queue.run import Run
from ops.transfer import export_requests
from ops.transfer.portable_rows import CHUNK

FORMAT, VERSION = "memory_center", 1
DATA_NAME = "memory-center.json"
_UNFINISHED = (Status.PENDING, Status.RUNNING, Status.FAILED)
_LOOK_EVERY = 0.5
_OPTIONS = orjson.OPT_UTC_Z | orjson.OPT_NON_STR_KEYS
Item = TypeVar("Item")


class Out(Protocol):
    def write(self, data: bytes, /) -> int: ...


class Writer:
    """Writes the rows of one person (or of one conversation) in chunks.

    Between two chunks no transaction is open, the lease is checked, and a queued forget of the
    same person ends the export (`GiveWay`).
    """

    def __init__(self, run: Run, *, user: User, conversation: int | None) -> None:
        self._run = run
        self._user = user
        self._conversation = conversation
        self._done = self._total = 0
        self._looked_at = 0.0

    def write(self, out: Out, *, format: str) -> None:
        with as_user(self._user):
            self._total = self._count()
            own = users.settings_of(self._user)
        if format == "json":
            self._write_data(out)
            return
        with _zipped(out) as archive:
            with archive.open(DATA_NAME, "w", force_zip64=True) as inside:
                self._write_data(inside)
            with translation.override(own.language or "en"):
                self._write_pages(archive)

    def _count(self) -> int:
        everything = registry.participants()
        if self._conversation is None:
            return sum(one.count(self._user) for one in everything)
        return 0

    def _write_data(self, out: Out) -> None:
        with as_user(self._user):
            head = _head(self._user, conversation=self._conversation)
        out.write(_json(head)[:-1] + b',\n"data": {')
        first = True
        for participant in reversed(registry.participants()):
            rows = self._rows(participant)
            found = self._next(rows)
            if not found and self._conversation is not None:
                continue
            out.write((b"\n" if first else b",\n") + _json(participant.name) + b": [")
            self._write_rows(out, rows, found)
            first = False
        out.write(b'\n},\n"complete": true}\n')

    def _rows(self, participant: registry.UserData) -> Iterator[Mapping[str, Any]]:
        if self._conversation is None:
            return participant.export(self._user)
        return participant.export_conversation(self._user, self._conversation)

    def _write_rows(
        self, out: Out, rows: Iterator[Mapping[str, Any]], found: list[Mapping[str, Any]]
    ) -> None:
        between = b"\n"
        while found:
            out.write(between + b",\n".join(map(_json, found)))
            between = b",\n"
            self._done += len(found)
            self._look()
            found = self._next(rows)
        out.write(b"]")

    def _write_pages(self, archive: zipfile.ZipFile) -> None:
        for pages_of in registry.readable():
            pages = pages_of(self._user, self._conversation)
            while page := self._next(pages, limit=1):
                self._write_page(archive, page[0])

    def _write_page(self, archive: zipfile.ZipFile, page: registry.Page) -> None:
        with archive.open(page.path, "w", force_zip64=True) as inside:
            while lines := self._next(page.lines):
                inside.write("".join(f"{line}\n" for line in lines).encode())
                self._look()

    def _next(self, items: Iterator[Item], *, limit: int = CHUNK) -> list[Item]:
        """Return the next rows, fetched in a transaction of the person."""
        with as_user(self._user):
            return list(islice(items, limit))

    def _look(self) -> None:
        """Report the progress and check for more urgent operations, at most twice a second."""
        now = time.monotonic()
        if now - self._looked_at < _LOOK_EVERY:
            return
        self._looked_at = now
        self._run.step("export", done=self._done, total=max(self._done, self._total))
        export_requests.give_way(self._user)


def _head(user: User, *, conversation: int | None) -> dict[str, Any]:
    """Return the header: the export's subject and time, and whether all erasing is finished."""
    if User.objects.filter(pk=user.pk, hidden_at__isnull=False).exists():
        raise NotFound("There is no such user.")
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
                "op_id": one.public_id,
                "kind": one.kind,
                "status": one.status,
                "created_at": one.created_at,
                "run_after": one.run_after,
            }
            for one in waiting.order_by("pk")[:CHUNK]
        ],
        "operations_unfinished": waiting.count(),
    }


@contextmanager
def _zipped(out: Out) -> Iterator[zipfile.ZipFile]:
    archive = zipfile.ZipFile(cast(IO[bytes], out), "w", zipfile.ZIP_DEFLATED, compresslevel=6)
    try:
        yield archive
    except BaseException:
        archive.fp = None  # otherwise it writes its table of contents when it is collected
        raise
    archive.close()


def _json(value: Any) -> bytes:
    try:
        return orjson.dumps(value, default=str, option=_OPTIONS)
    except TypeError:  # a number of more than 64 bits
        return json.dumps(value, default=str, ensure_ascii=False).encode()
