"""Helpers for file storage: list the files below a folder, and recognise a full disk."""

from __future__ import annotations

import errno
from collections.abc import Iterator

from django.core.files.storage import Storage
from django.utils.translation import gettext_noop

DEEPEST = 12  # folder levels; deeper nesting can only come from a circular link
DISK_FULL = gettext_noop(
    "There isn’t enough disk space. Nothing was left half done. Please try again later."
)
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def names_below(storage: Storage, folder: str, *, deepest: int = DEEPEST) -> Iterator[str]:
    """Yield the paths of all files below a folder of the storage, relative to that folder.

    Folders nested more than `deepest` levels deep are skipped. Raise `FileNotFoundError` if the
    folder doesn't exist.
    """
    folders, files = storage.listdir(folder)
    yield from files
    for name in folders if deepest else ():
        for inside in names_below(storage, f"{folder}/{name}", deepest=deepest - 1):
            yield f"{name}/{inside}"
