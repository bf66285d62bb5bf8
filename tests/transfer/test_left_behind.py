"""What a web process leaves of an import when it dies after the file came and before the row."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import storages

from ops.services import leftovers, stored_files
from ops.services.stored_files import IMPORTS

pytestmark = pytest.mark.django_db


def arrived(name: str, *, minutes_ago: int) -> Path:
    stored_files.receive(IMPORTS, name, ContentFile(b"words"))
    path = Path(storages[IMPORTS].path(name))
    then = time.time() - 60 * minutes_ago
    os.utime(path, (then, then))
    return path


def test_a_file_that_no_row_names_is_private_and_goes_with_the_next_cleanup() -> None:
    left = arrived("left.upload", minutes_ago=11)
    at_work = arrived("at-work.upload", minutes_ago=9)
    try:
        assert left.stat().st_mode & 0o777 == 0o600
        assert left.parent.stat().st_mode & 0o777 == 0o700
        assert leftovers.erase_expired()["stray_files"] == 1
        assert (left.exists(), at_work.exists()) == (False, True)
    finally:
        at_work.unlink()
