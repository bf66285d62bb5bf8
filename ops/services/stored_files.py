"""Personal files on their way out or in: private, named by chance, never half there."""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from django.core.files import File
from django.core.files.storage import Storage, storages
from django.utils.translation import gettext_noop

from memcenter.lib.errors import ApplicationError

EXPORTS, IMPORTS, PARTS = "exports", "imports", "parts"
DISK_FULL = gettext_noop(
    "There is not enough room on the disk. Nothing half done was left; please try again later."
)
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class NoRoom(ApplicationError):
    """The disk is full; the caller cleans up, and whoever asked is told in plain words."""

    def __init__(self) -> None:
        super().__init__(DISK_FULL)


def new_name(suffix: str) -> str:
    """A name that tells nobody anything and that nobody can guess."""
    return f"{secrets.token_hex(24)}.{suffix}"


def place(kind: str) -> Storage:
    return storages[kind]


def part_of(name: str) -> Path:
    """Where a file is while it is being written: on this machine, for nobody else to read."""
    path = Path(storages[PARTS].path(name))
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


class Part:
    """A file while it is being written: `sha256` and `bytes` of all that went in."""

    def __init__(self, raw: IO[bytes]) -> None:
        self._raw = raw
        self._hash = hashlib.sha256()
        self.bytes = 0

    def write(self, data: bytes) -> int:
        self._raw.write(data)
        self._hash.update(data)
        self.bytes += len(data)
        return len(data)

    def flush(self) -> None:
        self._raw.flush()

    @property
    def sha256(self) -> str:
        return self._hash.hexdigest()


@contextmanager
def writing(name: str) -> Iterator[Part]:
    """Write the part of a file; it is on the disk when this ends, or gone when it failed.

    Raises `NoRoom` when the disk is full.
    """
    path = part_of(name)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb", buffering=1 << 20) as raw:
            yield Part(raw)
            raw.flush()
            os.fsync(raw.fileno())
    except OSError as error:
        with suppress(OSError):
            path.unlink(missing_ok=True)
        if error.errno in NO_ROOM:
            raise NoRoom from error
        raise
    except BaseException:
        path.unlink(missing_ok=True)
        raise


class _Whole(File):  # type: ignore[type-arg] # it takes none when it runs
    """A finished part: a storage on the same disk takes it over by renaming it."""

    def __init__(self, path: Path) -> None:
        super().__init__(path.open("rb"), name=path.name)
        self._path = path

    def temporary_file_path(self) -> str:
        return str(self._path)


def keep(kind: str, name: str) -> None:
    """Make a finished part the file of this name. Raises `NoRoom`."""
    path = part_of(name)
    try:
        with _Whole(path) as whole:
            place(kind).save(name, whole)
    except OSError as error:
        if error.errno in NO_ROOM:
            raise NoRoom from error
        raise
    path.unlink(missing_ok=True)


def receive(kind: str, name: str, file: File) -> None:  # type: ignore[type-arg]
    """Keep a file that was sent, or nothing of it. Raises `NoRoom`."""
    try:
        place(kind).save(name, file)
    except OSError as error:
        delete(kind, [name])
        if error.errno in NO_ROOM:
            raise NoRoom from error
        raise


def delete(kind: str, names: Iterable[str]) -> int:
    """Files and parts of these names; gives how many were there."""
    count = 0
    for name in names:
        part = part_of(name)
        found = part.exists()
        part.unlink(missing_ok=True)
        if place(kind).exists(name):
            place(kind).delete(name)
            found = True
        count += found
    return count
