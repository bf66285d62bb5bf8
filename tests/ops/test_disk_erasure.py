"""After an erasure from the disk no file of the data folder holds what was forgotten."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from memories.forgetting import memory_forgets as known
from memories.models import DailyNote, Memory
from ops import audit_chain
from ops.access import as_system, as_user
from ops.disk import cluster, disk_erasure, raw_scan
from ops.forgetting import person_forgets
from ops.models import AuditEvent, DiskKey, DiskTrace, Operation, Receipt, Status, User
from ops.queue import worker
from tests import databases
from tests.factories import (
    make_conversation,
    make_memory,
    make_summary,
    make_trace,
    make_turn,
)
from tests.killing import Kill, kill_at, revive

pytestmark = pytest.mark.django_db(transaction=True)
KEPT = "Plays the alphorn on every second Sunday of the month"
_ENGLISH = "Number {n} of the things that {who} hid is the {n}th brass key in the orchard wall"
_CHINESE = "第{n}件被藏起来的东西是果园墙里的第{n}把铜钥匙，只有{who}知道"


def said(n: int, who: str) -> str:
    return (_ENGLISH if n % 2 else _CHINESE).format(n=n, who=who)


def give(user: User, who: str) -> list[str]:
    """Twenty texts in as many places; one of them is long enough to be compressed elsewhere."""
    texts = [said(n, who) for n in range(20)]
    texts[0] = texts[0] * 200
    talk = make_conversation(user, title=texts[3])
    for n in (0, 1, 2):
        make_turn(talk, texts[n], texts[n + 4])
    make_summary(talk, texts[7], through=2)
    for n in (8, 9, 10, 11):
        make_memory(user, texts[n])
    make_memory(user, texts[12], tags=[texts[13]], data={"about": texts[14]})
    make_memory(user, texts[15], metadata={"from": [texts[16]]})
    make_memory(user, texts[17], feedback_reason=texts[17])
    make_trace(user, texts[18])
    DailyNote.objects.create(
        user=user,
        number=1,
        text=texts[19],
        day=timezone.now().date(),
        created_at=timezone.now(),
    )
    return texts


def held(texts: list[str]) -> set[str]:
    """Which of them stand in any file, by a plain search."""
    wanted = {text[:50]: text[:50].encode() for text in texts}
    left: set[str] = set()
    for file in raw_scan.files():
        with suppress(FileNotFoundError):  # the server takes its own files away
            data = file.path.read_bytes()
            left |= {text for text, raw in wanted.items() if raw in data}
    return left


@pytest.fixture
def kept(mallory: User) -> list[Any]:
    """What somebody else has, and goes on having."""
    make_memory(mallory, KEPT)
    return rows_of(mallory)


def rows_of(user: User) -> list[Any]:
    with as_user(user):
        return list(Memory.objects.filter(user=user).order_by("pk").values())


@pytest.fixture
def texts(alice: User, kept: list[Any]) -> list[str]:
    """What Alice had said, of whom everything is forgotten."""
    texts = give(alice, "Alice")
    with cluster.outside_transactions() as own:
        own.execute("CHECKPOINT")  # from memory into the files
    with as_user(alice):
        person_forgets.forget_user(user=alice)
    worker.drain()
    assert Receipt.objects.get().scan["residue"] == 0
    assert held(texts) == {text[:50] for text in texts}
    return texts


def line() -> disk_erasure.DiskResult:
    return disk_erasure.result_of(Receipt.objects.get())


def requested() -> Operation:
    with as_system():
        return disk_erasure.request()


def test_nothing_is_left_in_any_file_and_the_receipt_says_so(
    texts: list[str], mallory: User, kept: list[Any]
) -> None:
    waiting = line()
    assert waiting.status == "waiting" and waiting.until is not None
    call_command("erase_disk")
    assert held(texts) == set() and held([KEPT]) == {KEPT[:50]}
    now = line()
    assert now.status == "gone" and now.scan is not None
    assert now.scan["found"] == 0 and now.scan["files"] and now.scan["bytes"]
    assert now.event_hash and audit_chain.first_break() is None
    assert not DiskTrace.objects.exists() and not DiskKey.objects.exists()
    assert rows_of(mallory) == kept


def statistics() -> list[str]:
    """What the planner noted of the columns of our tables, which only a superuser may read."""
    with psycopg.connect(databases.postgres.url("superuser")) as own:
        rows = own.execute(
            "SELECT c.relname || ' ' || s::text FROM pg_statistic s"
            " JOIN pg_class c ON c.oid = s.starelid WHERE c.relname !~ '^(pg|sql)_'"
        )
        return [text for (text,) in rows]


def analyze() -> None:
    with psycopg.connect(databases.postgres.url("superuser"), autocommit=True) as own:
        own.execute("ANALYZE")


def test_the_planners_statistics_hold_no_forgotten_text(alice: User, kept: list[Any]) -> None:
    texts = give(alice, "Alice")
    analyze()  # while the texts are there
    assert any("memories_memory " in text for text in statistics())
    with as_user(alice):
        person_forgets.forget_user(user=alice)
    worker.drain()
    call_command("erase_disk")
    words = {text[:30] for text in texts} | {"orchard", "brass", "铜钥匙", "果园"}
    noted = statistics()
    assert noted and not [(word, text) for word in words for text in noted if word in text]


def test_others_read_meanwhile(texts: list[str], mallory: User, kept: list[Any]) -> None:
    over, failures, count = threading.Event(), [], 0

    def read() -> None:
        nonlocal count
        while not over.is_set():
            if rows_of(mallory) != kept:
                failures.append("other rows")
            count += 1
        connection.close()

    reader = threading.Thread(target=read)
    reader.start()
    try:
        requested()
        worker.drain()
    finally:
        over.set()
        reader.join()
    assert line().status == "gone" and failures == [] and count > 0


@pytest.mark.parametrize("step", ["begun", "rewrite", "log", "scan", "clear"])
def test_killed_at_any_step_it_goes_on(
    step: str, texts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    requested()
    with pytest.raises(Kill):
        kill_at(monkeypatch, step=step, moment="before")
    assert (line().status == "gone") == (step == "clear")
    revive(monkeypatch)
    worker.drain()
    assert line().status == "gone" and held(texts) == set()
    assert AuditEvent.objects.filter(action=disk_erasure.GONE).count() == 1
    assert not DiskTrace.objects.exists()


def test_a_table_that_was_rewritten_is_not_rewritten_again(
    texts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    requested()
    with pytest.raises(Kill):
        kill_at(monkeypatch, step="log", moment="before")
    revive(monkeypatch)
    done: list[str] = []
    real = cluster.rewrite

    def noted(table: str) -> None:
        done.append(table)
        real(table)

    monkeypatch.setattr(cluster, "rewrite", noted)
    worker.drain()
    assert line().status == "gone" and not [one for one in done if one.startswith("memories_")]


def test_the_word_is_not_given_before_the_scan_has_found_nothing(
    texts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What lies in no table's file can't be rewritten away."""
    planted = settings.DATA_DIR / "pg" / "base" / str(cluster.database_number()) / "99999999"
    planted.write_bytes(b"\0\x1d" + texts[9].encode() + b"\0")
    operation = requested()
    worker.drain(limit=1)
    operation.refresh_from_db()
    assert operation.status == Status.PENDING and "99999999" in operation.last_error
    assert "orchard" not in operation.last_error and "铜" not in operation.last_error
    assert line().status == "waiting" and DiskTrace.objects.exists()
    planted.unlink()
    requested()
    worker.drain()
    assert line().status == "gone"


@pytest.mark.parametrize("name", ["stray.txt", "log/web.log", "exports/left"])
def test_files_beside_the_database_are_looked_into(texts: list[str], name: str) -> None:
    planted: Path = settings.DATA_DIR / name
    planted.parent.mkdir(exist_ok=True)
    planted.write_text(f"Somebody wrote: {texts[8]}\n", encoding="utf-8")
    operation = requested()
    worker.drain(limit=1)
    planted.unlink()
    operation.refresh_from_db()
    assert name in operation.last_error and line().status == "waiting"


def test_what_a_surviving_row_says_is_no_trace(alice: User, mallory: User) -> None:
    words = "Has always kept the bicycle in the cellar of the neighbour"
    memory = make_memory(alice, words)
    make_memory(mallory, f"She said: {words}.")
    with as_user(alice):
        known.forget_memory(user=alice, memory=memory)
    worker.drain()
    call_command("erase_disk")
    assert line().status == "gone" and held([words]) == {words[:50]}


def test_one_memory_alone_goes_too(alice: User) -> None:
    memory = make_memory(alice, said(1, "Alice"))
    make_memory(alice, KEPT)
    with as_user(alice):
        known.forget_memory(user=alice, memory=memory)
    worker.drain()
    call_command("erase_disk")
    assert line().status == "gone"
    assert held([said(1, "Alice"), KEPT]) == {KEPT[:50]}


@pytest.fixture
def holding() -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    with psycopg.connect(databases.postgres.url("app")) as other:
        yield other
        other.rollback()


def test_a_table_that_is_in_use_is_waited_for(
    texts: list[str],
    holding: psycopg.Connection[tuple[object, ...]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cluster, "_TRIES", 1)
    holding.execute("LOCK TABLE memories_memory IN ACCESS SHARE MODE")
    operation = requested()
    worker.drain(limit=1)
    operation.refresh_from_db()
    assert operation.status == Status.PENDING
    assert operation.last_error == "The table memories_memory is in use."
    holding.rollback()
    requested()
    worker.drain()
    assert line().status == "gone"


def test_a_folder_that_is_too_large_is_told_of(texts: list[str]) -> None:
    settings.DISK_ERASURE_MAX_MB, before = 1, settings.DISK_ERASURE_MAX_MB
    try:
        requested()
        worker.drain()
    finally:
        settings.DISK_ERASURE_MAX_MB = before
    now = line()
    assert now.status == "too_large" and now.scan is not None
    assert (now.scan["bytes"] or 0) > 1_000_000
    assert now.scan["found"] is None and not DiskTrace.objects.exists()


def test_where_the_database_is_elsewhere_the_receipt_says_that_nothing_is_known(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "is_cluster_local", lambda: False)
    memory = make_memory(alice, KEPT)
    with as_user(alice):
        known.forget_memory(user=alice, memory=memory)
    worker.drain()
    assert line().status == "elsewhere"
    assert not DiskTrace.objects.exists()
    assert not Operation.objects.filter(kind="erase_disk").exists()


def test_a_cluster_is_ours_only_if_its_files_lie_here(tmp_path: Path) -> None:
    assert cluster.is_cluster_local()
    assert not cluster._is_in(tmp_path)
    (tmp_path / "global").mkdir()
    (tmp_path / "global" / "pg_control").write_bytes(b"12345678" * 10)
    assert not cluster._is_in(tmp_path)


def test_it_is_due_at_the_quiet_hour_and_within_a_day() -> None:
    now = timezone.now()
    for hour in range(24):
        at = now.replace(hour=hour, minute=5)
        due = cluster.next_quiet_hour(at)
        assert at < due <= at + cluster._LONGEST_WAIT
        assert due.hour in (settings.DISK_ERASURE_HOUR, 2)


def test_long_texts_are_stored_uncompressed(alice: User) -> None:
    make_memory(alice, "again and again " * 400, data={"long": "again and again " * 400})
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*), count(pg_column_compression(content)),"
            " count(pg_column_compression(data)) FROM memories_memory"
        )
        assert cursor.fetchone() == (1, 0, 0)
