"""Copies of the memory files, which users can access in a folder or in object storage.

The database rows are authoritative. A copy is written after its row. A sync overwrites an existing
copy only if its text is a known version of the file: a copy that a user has edited in the meantime
is left unchanged. Forgetting removes texts from edited copies too (`rewrite`).
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from pathlib import Path

from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import Storage, storages

from foundation import file_storage
from foundation.database import statements
from foundation.errors import ApplicationError

STORAGE = "memory_files"
WRITTEN = ".written.json"  # the hashes of the texts that were written to the copies of notes
_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))"


class Unreadable(ApplicationError):
    """Raised if a copy can't be read, isn't text, or is too large."""


def lock_copies(user_id: int) -> None:
    """Lock the files of this user until the caller's transaction ends."""
    statements.rows(_LOCK, [f"files:{user_id}"])


def folder_of(user_id: int) -> Path | None:
    """Return the folder of a user's copies, or None if they are in object storage."""
    try:
        return Path(_storage().path(str(user_id)))
    except NotImplementedError:
        return None


def read(user_id: int, path: str) -> str | None:
    """Return the text of a copy, or None if the copy doesn't exist.

    Raise `Unreadable` if the copy can't be read, is too large, or isn't valid text.
    """
    raw = _read(user_id, path)
    if raw is None:
        return None
    if len(raw) > settings.MAX_FILE_BYTES:
        raise Unreadable(f"The file is larger than {settings.MAX_FILE_BYTES:,} bytes.")
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        raise Unreadable("The file is not valid UTF-8.") from error
    if "\x00" in text:
        raise Unreadable("The file must not contain NUL characters.")
    return text


def write(user_id: int, path: str, text: str) -> None:
    """Write a copy; a local file is written atomically, and only its owner may read it."""
    folder = folder_of(user_id)
    if folder is None:
        name = f"{user_id}/{path}"
        _storage().delete(name)
        _storage().save(name, ContentFile(text.encode()))
        return
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
    # Only one writer holds the lock, so partial files were left by a killed process.
    for partial in folder.glob(".*.part"):
        partial.unlink(missing_ok=True)
    part = folder / f".{secrets.token_hex(8)}.part"
    try:
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as raw:
            raw.write(text.encode())
            raw.flush()
            os.fsync(raw.fileno())
        (folder / path).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        part.replace(folder / path)
    finally:
        part.unlink(missing_ok=True)


def remove(user_id: int, path: str) -> None:
    """Remove a copy, and the folders that become empty."""
    _storage().delete(f"{user_id}/{path}")
    folder = folder_of(user_id)
    if folder is None:
        return
    for above in Path(path).parents[:-1]:
        with suppress(OSError):
            (folder / above).rmdir()


def rewrite(user_id: int, change: Callable[[str], str], *, leaving: Collection[str] = ()) -> int:
    """Apply `change` to the text of each copy, except the copies whose paths are in `leaving`.

    A copy that can't be read is deleted; the next sync writes it again. Return the number of copies
    that were changed or deleted.
    """
    count = 0
    for name in [path for path in copy_paths(user_id) if path not in leaving]:
        try:
            text = read(user_id, name)
        except Unreadable:
            _storage().delete(f"{user_id}/{name}")
            count += 1
            continue
        if text is not None and (changed := change(text)) != text:
            write(user_id, name, changed)
            count += 1
    return count


def erase(user_id: int) -> int:
    """Erase all copies of a user with their folder; return the number of copies."""
    found = list(copy_paths(user_id))
    for name in found:
        _storage().delete(f"{user_id}/{name}")
    folder = folder_of(user_id)
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)
    return len(found)


def copy_paths(user_id: int) -> Iterator[str]:
    """Yield all paths below a user's folder, including partial writes and unrelated files."""
    with suppress(FileNotFoundError):
        yield from file_storage.names_below(_storage(), str(user_id))


def modification_time(user_id: int, path: str) -> float | None:
    """Return when a local copy was last changed (Unix seconds), or None if unknown."""
    folder = folder_of(user_id)
    if folder is None:
        return None
    with suppress(OSError):
        return (folder / path).stat().st_mtime
    return None


def _read(user_id: int, path: str) -> bytes | None:
    folder = folder_of(user_id)
    try:
        if folder is None:
            with _storage().open(f"{user_id}/{path}") as file:
                return bytes(file.read(settings.MAX_FILE_BYTES + 1))
        descriptor = os.open(folder / path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as raw:
            return raw.read(settings.MAX_FILE_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Unreadable("The file can't be read.") from error


def _storage() -> Storage:
    return storages[STORAGE]
