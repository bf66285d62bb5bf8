"""The files of exports and imports: private, with random names, and stored only when complete."""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from django.core.files import File
from django.core.files.storage import Storage, storages
from django.http import FileResponse
from django.utils.cache import patch_cache_control

from foundation.errors import ApplicationError, NotFound
from foundation.file_storage import DISK_FULL, NO_ROOM
from ops.models import Export

EXPORTS, IMPORTS, PARTS = "exports", "imports", "parts"
_TYPES = {"json": "application/json", "zip": "application/zip"}


class NoRoom(ApplicationError):
    """The disk is full. The message can be shown to the person."""

    def __init__(self) -> None:
        super().__init__(DISK_FULL)


def new_name(suffix: str) -> str:
    """Return a random file name that can't be guessed."""
    return f"{secrets.token_hex(24)}.{suffix}"


def storage_of(kind: str) -> Storage:
    return storages[kind]


def part_path(name: str) -> Path:
    """Return the path at which a file is written before it is stored under the same name.

    The file is on the local disk, and other users of the machine can't read it.
    """
    path = Path(storages[PARTS].path(name))
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


class Part:
    """A file that is being written, with the SHA-256 and the number of bytes written so far."""

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
def open_part(name: str) -> Iterator[Part]:
    """Open the part file `name` for writing, as a context manager.

    On exit, the file is synced to the disk, or deleted if the block raised an exception.
    Raise `NoRoom` if the disk is full.
    """
    path = part_path(name)
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


class _Whole(File):  # type: ignore[type-arg] # no type argument at run time
    """A finished part file. Django moves it to a storage on the same disk without copying it."""

    def __init__(self, path: Path) -> None:
        super().__init__(path.open("rb"), name=path.name)
        self._path = path

    def temporary_file_path(self) -> str:
        return str(self._path)


def store_part(kind: str, name: str) -> None:
    """Move a finished part file to the storage, under the same name.

    Raise `NoRoom` if the disk is full.
    """
    path = part_path(name)
    try:
        with _Whole(path) as whole:
            storage_of(kind).save(name, whole)
    except OSError as error:
        if error.errno in NO_ROOM:
            raise NoRoom from error
        raise
    path.unlink(missing_ok=True)


def receive(kind: str, name: str, file: File) -> None:  # type: ignore[type-arg]
    """Store an uploaded file. Raise `NoRoom` and keep nothing of it if the disk is full."""
    try:
        storage_of(kind).save(name, file)
    except OSError as error:
        delete(kind, [name])
        if error.errno in NO_ROOM:
            raise NoRoom from error
        raise


def delete(kind: str, names: Iterable[str]) -> int:
    """Delete stored files and part files with these names; return how many names had a file."""
    count = 0
    for name in names:
        part = part_path(name)
        found = part.exists()
        part.unlink(missing_ok=True)
        if storage_of(kind).exists(name):
            storage_of(kind).delete(name)
            found = True
        count += found
    return count


def as_attachment(export: Export) -> FileResponse:
    """Return a response that downloads the export.

    Raise `NotFound` if a forget operation has erased the file.
    """
    try:
        file = storage_of(EXPORTS).open(export.path)
    except FileNotFoundError as error:
        raise NotFound("This export no longer exists.") from error
    content = "conversation" if export.conversation_public_id else "everything"
    name = f"memory-center-{content}-{export.created_at:%Y-%m-%d}.{export.format}"
    response = FileResponse(
        file, as_attachment=True, filename=name, content_type=_TYPES[export.format]
    )
    response["ETag"] = f'"{export.sha256}"'
    response["X-Content-Type-Options"] = "nosniff"
    patch_cache_control(response, private=True, no_store=True)
    return response
