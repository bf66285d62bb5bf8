"""The residue scan finds what is planted, wherever it is planted."""

from __future__ import annotations

import base64
import gzip
import json
import zipfile
from collections.abc import Callable, Iterator
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import orjson
import pytest
import redis
from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.management import call_command
from django.db import connection
from django.db.models import JSONField, Model
from django.utils import timezone

from conversations.forgetting import message_forgets as said
from conversations.models import Message
from memories.forgetting import memory_forgets
from memories.indexing.search_index import Entry, embed, store
from memories.models import Memory, TargetKind
from ops.access import as_user
from ops.models import (
    ErasedRows,
    ErasedText,
    ErasureKey,
    Export,
    Kind,
    Operation,
    Priority,
    Receipt,
    Status,
    User,
)
from ops.queue import outbox, worker
from ops.residue import erased_hashes, fingerprints, residue_columns, residue_scan, stores
from ops.residue.residue_scan import Residue, ScannedPerson
from tests.factories import make_conversation, make_memory, make_trace, make_turn
from tests.ops.test_forgetting import give_everything

pytestmark = pytest.mark.django_db

SECRET = "Keeps the spare key of the summer house under the third flower pot"
CHINESE = "把湖边小屋的备用钥匙放在第三个花盆下面"
ERASED_ID = "mem_" + "9" * 26


@pytest.fixture
def operation(alice: User) -> Operation:
    """A forget that has erased SECRET and CHINESE and the memory of ERASED_ID."""
    made = outbox.enqueue(Kind.FORGET_MEMORY, subject=alice.subject, payload={})
    erased_hashes.store_hashes(made, texts=[SECRET, CHINESE])
    ErasedRows.objects.create(
        operation=made, place="memories_memory", row_ids=[999_999], public_ids=[ERASED_ID]
    )
    return made


def found(operation: Operation, user: User) -> list[Residue]:
    erased = erased_hashes.erased_hashes_of(operation)
    whose = ScannedPerson(user.pk, user.subject, since=operation.created_at)
    return list(residue_scan.scan(whose, erased).found)


def places_of(operation: Operation, user: User) -> set[str]:
    return {one.place for one in found(operation, user)}


def columns() -> Iterator[tuple[str, str]]:
    """Every column that could hold a sentence, but for those that stand for themselves."""
    for scanned in residue_columns.scanned_tables():
        for name in scanned.columns:
            field = scanned.model._meta.get_field(name)
            room = getattr(field, "max_length", None)
            if isinstance(field, ArrayField):
                room = getattr(field.base_field, "max_length", None)
            if room is None or room >= len(SECRET):
                yield scanned.model._meta.label, name


def rows_of(label: str, user: User) -> Any:
    scanned = next(
        one for one in residue_columns.scanned_tables() if one.model._meta.label == label
    )
    return scanned.of(user_id=user.pk, subject=user.subject)


def write(model: type[Model], pk: Any, name: str, text: str) -> None:
    """Past every service and check: as a mistake would."""
    field = model._meta.get_field(name)
    value: Any = text
    if isinstance(field, JSONField):
        value = json.dumps({"deep": [{"down": text}]})
    elif isinstance(field, ArrayField):
        value = ["one", text]
    key = model._meta.pk
    assert key is not None
    table, column = model._meta.db_table, field.column  # type: ignore[union-attr]
    with connection.cursor() as cursor:
        cursor.execute(
            f'UPDATE "{table}" SET "{column}" = %s WHERE "{key.column}" = %s', [value, pk]
        )


def test_nothing_planted_is_nothing_found(operation: Operation, alice: User) -> None:
    give_everything(alice)
    assert found(operation, alice) == []


@pytest.mark.parametrize("text", [SECRET, CHINESE])
def test_a_text_is_found_in_every_column_that_could_hold_it(
    operation: Operation, alice: User, text: str
) -> None:
    give_everything(alice)
    operation.created_at = timezone.now()  # or what was planted would have been told anew
    tried, missed = 0, []
    for label, name in columns():
        row = rows_of(label, alice).first()
        if row is None or row._meta.db_table in ("ops_auditevent", "ops_receipt"):
            continue
        tried += 1
        before = type(row)._base_manager.filter(pk=row.pk).values_list(name, flat=True).get()
        try:
            write(type(row), row.pk, name, f"And so: {text}!")
        except Exception:  # a check of the database refuses it: it can't be left there
            raise AssertionError(f"{label}.{name} can't be planted in") from None
        if f"{row._meta.db_table}.{name}" not in places_of(operation, alice):
            missed.append(f"{label}.{name}")
        type(row)._base_manager.filter(pk=row.pk).update(**{name: before})
    assert missed == [] and tried > 25


def test_an_id_is_found_in_anybodys_row_and_a_text_only_in_ones_own(
    operation: Operation, alice: User, mallory: User
) -> None:
    theirs = make_memory(mallory, SECRET)
    assert found(operation, alice) == []
    Memory.objects.filter(pk=theirs.pk).update(metadata={"about": [ERASED_ID]})
    make_trace(mallory, "what", hits=[ERASED_ID])
    assert places_of(operation, alice) == {
        "memories_memory.metadata",
        "memories_recallhit.target_public_id",
    }


def test_a_row_and_a_vector_of_what_was_erased_are_found(operation: Operation, alice: User) -> None:
    entry = Entry(TargetKind.MEMORY, 999_999, "flower pots")
    store(user=alice, entries=[entry], vectors=embed(["flower pots"]))
    assert places_of(operation, alice) == {
        "memories_vector.target_id",
        "memories_lexicalentry.target_id",
    }


@pytest.fixture
def cache() -> Iterator[redis.Redis]:
    with redis.Redis.from_url(settings.REDIS_URL) as client:
        yield client
        client.delete("planted", f"planted:{ERASED_ID}", "celery")


PLANTS: dict[str, Callable[[redis.Redis, str], object]] = {
    "string": lambda client, text: client.set("planted", text),
    "JSON": lambda client, text: client.set("planted", orjson.dumps({"a": [text]})),
    "hash": lambda client, text: client.hset("planted", "field", text),
    "list": lambda client, text: client.rpush("planted", "one", text),
    "set": lambda client, text: client.sadd("planted", text),
    "sorted set": lambda client, text: client.zadd("planted", {text: 1.0}),
    "stream": lambda client, text: client.xadd("planted", {"field": text}),
}


@pytest.mark.parametrize("text", [SECRET, CHINESE, ERASED_ID])
@pytest.mark.parametrize("kind", PLANTS)
def test_every_kind_of_entry_in_redis_is_looked_into(
    operation: Operation, alice: User, cache: redis.Redis, kind: str, text: str
) -> None:
    PLANTS[kind](cache, text)
    assert {(one.place, one.row) for one in found(operation, alice)} == {("redis", "planted")}


def test_a_key_that_names_it_is_found(
    operation: Operation, alice: User, cache: redis.Redis
) -> None:
    cache.set(f"planted:{ERASED_ID}", 1)
    assert places_of(operation, alice) == {"redis"}


def test_a_message_of_the_broker_is_read(
    operation: Operation, alice: User, cache: redis.Redis
) -> None:
    body = base64.b64encode(orjson.dumps([[SECRET], {}, {}])).decode()
    cache.rpush("celery", orjson.dumps({"body": body, "headers": {"task": "ops.tasks.sweep"}}))
    assert places_of(operation, alice) == {"broker"}


@pytest.fixture
def planted() -> Iterator[Callable[[str], Path]]:
    made: list[Path] = []

    def at(name: str) -> Path:
        path = Path(settings.DATA_DIR) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        made.append(path)
        return path

    yield at
    for path in made:
        path.unlink(missing_ok=True)


@pytest.mark.parametrize("text", [SECRET, CHINESE])
@pytest.mark.parametrize("name", ["planted.txt", "exports/planted.json", "log/planted.log"])
def test_files_are_read(
    operation: Operation, alice: User, planted: Callable[[str], Path], name: str, text: str
) -> None:
    planted(name).write_text(f"first\nthen {text}\nlast\n", encoding="utf-8")
    assert [one.row for one in found(operation, alice)] == [name]


def test_packed_files_are_unpacked(
    operation: Operation, alice: User, planted: Callable[[str], Path]
) -> None:
    with zipfile.ZipFile(planted("exports/planted.zip"), "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("inside.json", json.dumps({"text": CHINESE}))
    with gzip.open(planted("planted.gz"), "wt", encoding="utf-8") as file:
        file.write(SECRET)
    assert {one.row for one in found(operation, alice)} == {"exports/planted.zip", "planted.gz"}


@pytest.mark.parametrize("before", [0, stores._CHUNK - 10])
def test_of_other_peoples_files_ids_are_found_and_texts_are_theirs(
    operation: Operation, alice: User, mallory: User, planted: Callable[[str], Path], before: int
) -> None:
    """Also an id that lies across the end of a part."""
    made = outbox.enqueue(Kind.EXPORT_USER, subject=mallory.subject, payload={})
    Export.objects.create(user=mallory, operation=made, format="json", path="hers.json")
    path = planted("exports/hers.json")
    path.write_text(f"{SECRET} and more")
    assert found(operation, alice) == []
    path.write_bytes(b"x" * before + f" {ERASED_ID} {SECRET}".encode())
    assert {(one.row, one.why) for one in found(operation, alice)} == {("exports/hers.json", "id")}


def test_half_of_a_text_is_residue_and_less_is_not(operation: Operation, alice: User) -> None:
    make_trace(alice, SECRET[: len(SECRET) * 3 // 4])
    assert places_of(operation, alice) == {"memories_recalltrace.query"}
    make_trace(alice, SECRET[:28])
    assert len(found(operation, alice)) == 1


def test_what_a_surviving_message_or_a_persons_version_says_is_no_residue(
    operation: Operation, alice: User
) -> None:
    make_trace(alice, SECRET)
    make_trace(alice, CHINESE)
    assert len(found(operation, alice)) == 2
    make_turn(make_conversation(alice), f"I say it again: {SECRET}.")
    make_memory(alice, CHINESE)
    assert found(operation, alice) == []


def test_what_was_learned_does_not_account_for_itself(operation: Operation, alice: User) -> None:
    turn = make_turn(make_conversation(alice), "The key is where it was")
    make_memory(alice, SECRET, turns=[turn])
    assert found(operation, alice) == []  # told anew since
    operation.created_at = timezone.now()
    assert {"memories_memory.content", "memories_memoryversion.content"} <= places_of(
        operation, alice
    )


def test_a_short_text_is_found_where_it_stands_alone(alice: User) -> None:
    made = outbox.enqueue(Kind.FORGET_MEMORY, subject=alice.subject, payload={})
    erased_hashes.store_hashes(made, texts=["爱喝茶", "Likes tea"])
    make_trace(alice, "他也爱喝茶吗")
    assert found(made, alice) == []
    make_trace(alice, "爱喝茶。")
    make_trace(alice, "likes  TEA")
    assert len(found(made, alice)) == 2


def forget_planted(alice: User) -> Operation:
    turn = make_turn(make_conversation(alice), SECRET)
    make_memory(alice, SECRET, turns=[turn])
    with as_user(alice):
        return said.forget_conversation(user=alice, conversation=turn.conversation)


def test_residue_fails_the_forget_and_says_where_but_never_what(
    alice: User, planted: Callable[[str], Path]
) -> None:
    operation = forget_planted(alice)
    planted("planted.txt").write_text(SECRET, encoding="utf-8")
    worker.drain()
    operation.refresh_from_db()
    assert operation.status == Status.FAILED
    assert operation.last_error == "1 traces are left: files planted.txt (text)"
    assert not Receipt.objects.exists() and ErasureKey.objects.exists()


def test_residue_is_looked_for_again_while_another_forget_of_the_person_waits(
    alice: User, planted: Callable[[str], Path]
) -> None:
    operation = forget_planted(alice)
    held = planted("planted.txt")
    held.write_text(SECRET, encoding="utf-8")
    other = outbox.enqueue(
        Kind.FORGET_MEMORY,
        subject=alice.subject,
        payload={"memories": []},
        priority=Priority.FORGET,
        run_after=timezone.now() + timedelta(hours=1),
    )
    worker.drain()
    operation.refresh_from_db()
    assert (operation.status, operation.attempt) == (Status.PENDING, 1)
    assert operation.last_error == "1 traces are left: files planted.txt (text)"

    held.unlink()
    Operation.objects.filter(pk__in=[operation.pk, other.pk]).update(run_after=timezone.now())
    worker.drain()
    operation.refresh_from_db()
    assert operation.status == Status.SUCCEEDED
    assert Receipt.objects.count() == 2


def test_it_can_be_tried_again_and_then_nothing_is_kept(
    alice: User, planted: Callable[[str], Path]
) -> None:
    operation = forget_planted(alice)
    planted("planted.txt").write_text(SECRET, encoding="utf-8")
    worker.drain()
    planted("planted.txt").unlink()
    outbox.retry(Operation.objects.get(pk=operation.pk))
    worker.drain()
    receipt = Receipt.objects.get(operation=operation)
    assert receipt.scan["residue"] == 0 and receipt.scan["texts"] >= 1
    assert receipt.scan["looked"]["database"] > 100
    assert not any(model.objects.exists() for model in (ErasureKey, ErasedText, ErasedRows))


def test_what_is_kept_meanwhile_holds_no_text(alice: User) -> None:
    operation = forget_planted(alice)
    erased_hashes.store_hashes(operation, texts=[SECRET])
    kept = str([*ErasedText.objects.values(), *ErasedRows.objects.values()])
    assert "flower" not in kept and ErasedText.objects.exists()


def test_the_disk_is_cleared_and_the_receipt_says_until_when_it_lies_elsewhere(
    alice: User,
) -> None:
    forget_planted(alice)
    worker.drain()
    disk = Receipt.objects.get().disk
    assert {"conversations_message", "memories_memory"} <= set(disk["vacuumed"])
    assert disk["wal_until"] > Receipt.objects.get().finished_at.isoformat()
    assert disk["backups_until"] is None


@pytest.mark.parametrize("text", ["tea", SECRET])
def test_typed_texts_may_come_from_an_iterator(text: str) -> None:
    wanted = fingerprints.TextFingerprints(iter(["", text]))
    assert [one.number for one in wanted.texts_found_in([f"a note: {text}!"])] == [0]
    assert wanted.texts_found_in(["nothing of the kind"]) == []


def test_the_command_looks_for_texts_everywhere(alice: User, mallory: User) -> None:
    make_turn(make_conversation(alice), SECRET)
    make_memory(mallory, "Owns a houseboat")
    said_ = StringIO()
    call_command("residue", "--user", "alice", "--text", "houseboat", stdout=said_)
    assert said_.getvalue() == "0\n"
    with pytest.raises(SystemExit) as left:
        call_command("residue", "--text", "houseboat", "--text", "flower pot", stdout=said_)
    assert left.value.code == 1
    assert "conversations_message.content" in said_.getvalue()
    assert "memories_memory.content" in said_.getvalue()
    assert "houseboat" not in said_.getvalue()


def test_the_command_reports_as_json_and_by_operation(
    operation: Operation, alice: User, tmp_path: Path
) -> None:
    make_trace(alice, SECRET)
    told = StringIO()
    with pytest.raises(SystemExit):
        call_command("residue", "--operation", operation.public_id, "--json", stdout=told)
    report = json.loads(told.getvalue())
    assert report["residue"] == 1 and report["found"][0]["place"] == "memories_recalltrace.query"
    texts = tmp_path / "texts"
    texts.write_text("nothing of the kind\n", encoding="utf-8")
    call_command("residue", "--text-file", str(texts), stdout=told)
    assert told.getvalue().endswith("\n0\n")


def test_a_trace_keeps_no_secret_that_was_typed(alice: User) -> None:
    from memories.models import RecallTrace, TraceKind
    from memories.recall import traces

    asked = "my password is hunter2-and-more, what is it for?"
    traces.record(user=alice, kind=TraceKind.SEARCH, query=asked, hits=[], stages=[], took_ms=1.0)
    assert "hunter2" not in RecallTrace.objects.get().query


def test_a_trace_that_came_too_late_goes_with_the_rest(alice: User) -> None:
    turn = make_turn(make_conversation(alice), "I keep bees")
    memory = make_memory(alice, "Keeps bees", turns=[turn])
    with as_user(alice):
        operation = memory_forgets.forget_memory(user=alice, memory=memory)
    make_trace(alice, "bees?", hits=[memory.public_id])
    worker.drain()
    operation.refresh_from_db()
    assert operation.status == Status.SUCCEEDED, operation.last_error
    assert Message.objects.count() == 2
