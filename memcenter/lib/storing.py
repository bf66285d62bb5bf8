"""List a storage recursively."""

from __future__ import annotations

from collections.abc import Iterator

from django.core.files.storage import Storage

DEEPEST = 12  # folders; more is a link that leads in a circle


def names_below(storage: Storage, folder: str, *, deepest: int = DEEPEST) -> Iterator[str]:
    """Return the files below a folder, by their paths relative to it.

    Raises `FileNotFoundError` if the folder doesn't exist.
    """
    folders, files = storage.listdir(folder)
    yield from files
    for name in folders if deepest else ():
        for inside in names_below(storage, f"{folder}/{name}", deepest=deepest - 1):
            yield f"{name}/{inside}"
