"""What lies in a storage, folders within folders."""

from __future__ import annotations

from collections.abc import Iterator

from django.core.files.storage import Storage

DEEPEST = 12  # folders; more is a link that leads in a circle


def names_below(storage: Storage, folder: str, *, deepest: int = DEEPEST) -> Iterator[str]:
    """The files of a folder and of those in it, by their paths within it.

    Raises `FileNotFoundError` where there is no such folder.
    """
    folders, files = storage.listdir(folder)
    yield from files
    for name in folders if deepest else ():
        for inside in names_below(storage, f"{folder}/{name}", deepest=deepest - 1):
            yield f"{name}/{inside}"
