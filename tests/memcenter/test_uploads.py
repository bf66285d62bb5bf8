"""Files that are sent to us, while they arrive."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from django.core.files.storage import storages
from django.test import RequestFactory

from memcenter.rest.parsers import PrivateUpload
from tests.processes import fork


def _receiving() -> PrivateUpload:
    handler = PrivateUpload(RequestFactory().post("/api/v1/memory/import"))
    handler.new_file("file", "talk.jsonl", "application/octet-stream", None)
    handler.receive_data_chunk(b"I met Ada.", 0)
    return handler


def test_a_file_that_arrives_is_read_from_its_beginning() -> None:
    with _receiving().file_complete(10) as received:
        assert (received.name, received.size, received.read()) == ("talk.jsonl", 10, b"I met Ada.")


@pytest.mark.django_db(transaction=True)
def test_nothing_of_a_file_is_left_by_a_process_that_is_killed_while_it_arrives() -> None:
    def receive(_reach: object) -> None:
        handler = _receiving()
        os.kill(os.getpid(), signal.SIGKILL)
        handler.upload_interrupted()

    before = _parts()
    fork(receive).ended()
    assert _parts() == before


def _parts() -> list[Path]:
    folder = Path(storages["parts"].path(""))
    return sorted(folder.iterdir()) if folder.is_dir() else []
