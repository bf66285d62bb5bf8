"""Exports and imports whose process is killed in the middle (kill -9), and a disk that is full."""

from __future__ import annotations

import hashlib
import io
import json
import os
import resource
import signal
import zipfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.files.storage import storages
from django.utils import timezone, translation

from conversations.importing import file_import
from conversations.models import Conversation, Message
from foundation.errors import NotFound
from memories.indexing import search_index
from memories.models import LexicalEntry, TargetKind
from ops.access import as_system, as_user
from ops.models import Attempt, Export, Import, Operation, Status, User
from ops.pages.operation_rows import error_words
from ops.queue import outbox, worker
from ops.transfer import exports, stored_files
from ops.transfer.exports import FORMATS
from tests.factories import make_conversation, make_turn
from tests.processes import fork
from tests.transfer.test_imports import chatgpt, packed

pytestmark = pytest.mark.django_db(transaction=True)

TURNS = 40
BROUGHT = 8
FULL = 2_000  # bytes that a file may have on the full disk


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def killed_on_the_way(act: Callable[[], object]) -> None:
    """Drain in a process that `act` makes mortal; then its lease runs out."""

    def work(_reach: object) -> None:
        act()
        worker.drain()

    child = fork(work)
    child.ended()
    with as_system():
        assert outbox.expire(now=timezone.now() + timedelta(hours=1)) == 1


def files(*kinds: str) -> list[Path]:
    """What lies in these folders of files."""
    roots = [Path(storages[kind].path("")) for kind in kinds]
    return [one for root in roots if root.is_dir() for one in root.iterdir()]


@pytest.fixture
def much(alice: User) -> User:
    with as_user(alice):
        thread = make_conversation(alice)
        for number in range(TURNS):
            make_turn(thread, f"I like number {number}.")
    return alice


def ask(user: User, format: str) -> Export:
    with as_user(user):
        return exports.request_export(user=user, format=format, actor="user", surface="test")


def is_whole(asked: Export) -> bool:
    """All of it is there, as its hash says, and nothing lies beside it."""
    with as_system():
        current = Export.objects.select_related("operation").get(pk=asked.pk)
    (path,) = files("exports", "parts")
    content = path.read_bytes()
    assert path.name == current.path and current.operation.status == Status.SUCCEEDED
    assert current.sha256 == hashlib.sha256(content).hexdigest()
    if current.format == "zip":
        with zipfile.ZipFile(io.BytesIO(content)) as packed:
            assert packed.testzip() is None
            content = packed.read(exports.DATA_NAME)
    data = json.loads(content)
    return bool(data["complete"]) and len(data["data"]["message"]) == 2 * TURNS


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("moment", ["writing", "written", "moved"])
def test_an_export_killed_on_the_way_is_made_anew_and_leaves_no_half_of_it(
    much: User, format: str, moment: str
) -> None:
    asked = ask(much, format)
    killed_on_the_way(lambda: _die_while_exporting(moment))
    (half,) = files("exports", "parts")
    assert (half.stat().st_size > 0) and (half.parent.name == "exports") == (moment == "moved")
    with as_user(much), pytest.raises(NotFound):
        exports.ready_export(user=much, op_id=asked.operation.public_id)
    worker.drain()
    assert is_whole(asked)


def _die_while_exporting(moment: str) -> None:
    if moment == "written":
        exports.publish_export = lambda *_, **__: die()
    if moment == "moved":
        keep = stored_files.store_part

        def kept(kind: str, name: str) -> None:
            keep(kind, name)
            die()

        stored_files.store_part = kept
    if moment == "writing":
        write = stored_files.Part.write

        def written(part: stored_files.Part, data: bytes) -> int:
            count = write(part, data)
            part.flush()
            if b"number" in data or part.bytes > FULL:
                die()
            return count

        stored_files.Part.write = written  # type: ignore[method-assign, assignment]


@pytest.mark.parametrize("format", FORMATS)
def test_an_export_onto_a_full_disk_says_so_leaves_nothing_and_can_be_tried_again(
    much: User, format: str
) -> None:
    asked = ask(much, format)

    def work(_reach: object) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (FULL, FULL))
        worker.drain()

    assert fork(work).ended() == ""
    with as_system():
        operation = Operation.objects.get(pk=asked.operation_id)
        attempt = Attempt.objects.get(operation=operation)
    assert operation.status == Status.FAILED and attempt.error == operation.last_error
    assert "enough disk space" in error_words(operation.last_error)
    with translation.override("zh-hans"):
        assert "磁盘" in error_words(operation.last_error)
    assert files("exports", "parts") == []
    with as_user(much):
        outbox.retry(operation)
    worker.drain()
    assert is_whole(asked)


def lines() -> bytes:
    told = [
        {
            "conversation": f"talk {number % 4}",
            "user_message": f"I like number {number}.",
            "assistant_message": "Nice.",
        }
        for number in range(BROUGHT)
    ]
    return "\n".join(map(json.dumps, told)).encode()


def bring(user: User, raw: bytes) -> Import:
    with as_user(user):
        return file_import.request(
            user=user, file=io.BytesIO(raw), size=len(raw), actor="user", surface="test"
        )


def came_in(asked: Import, *, messages: int) -> None:
    """So many are there, each once and findable, and no file is left."""
    with as_user(asked.user):
        rows = Message.objects.filter(user=asked.user)
        found = LexicalEntry.objects.filter(user=asked.user, target_kind=TargetKind.MESSAGE)
        assert rows.count() == messages
        assert set(found.values_list("target_id", flat=True)) == {one.pk for one in rows}
        current = Import.objects.select_related("operation").get(pk=asked.pk)
    assert current.operation.status == Status.SUCCEEDED and current.path == ""
    assert current.report["messages"] == messages
    assert files("imports", "parts") == []


@pytest.mark.parametrize("moment", ["half", "applied", "indexing"])
def test_an_import_killed_on_the_way_is_there_once_and_whole_or_not_at_all(
    alice: User, moment: str
) -> None:
    asked = bring(alice, lines())
    search_index.embed(["A first text."])
    killed_on_the_way(lambda: _die_while_importing(moment))
    with as_user(alice):
        there = Message.everything.filter(user=alice).count()
    assert there == (0 if moment == "half" else 2 * BROUGHT)
    worker.drain()
    came_in(asked, messages=2 * BROUGHT)
    with as_user(alice):
        assert Conversation.objects.filter(user=alice).count() == 4


def test_what_an_import_had_unpacked_when_it_was_killed_is_unpacked_anew(alice: User) -> None:
    asked = bring(alice, packed(conversations__json=json.dumps(chatgpt()).encode()))
    killed_on_the_way(lambda: _die_while_importing("unpacked"))
    assert len(files("imports", "parts")) == 2
    worker.drain()
    came_in(asked, messages=2)


def _die_while_importing(moment: str) -> None:
    if moment == "unpacked":
        file_import.apply = lambda *_, **__: die()  # type: ignore[assignment]
    if moment == "half":

        def look(watch: object, done: int) -> None:
            if done >= BROUGHT:
                die()

        file_import._Watch.report_progress = look  # type: ignore[method-assign, assignment]
    if moment == "applied":
        file_import.erase_file = lambda *_: die()
    if moment == "indexing":
        file_import._report_progress = lambda *_: die()
