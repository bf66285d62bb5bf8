"""The ledger outlives what it is about, and puts a restored backup right."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import psycopg
import pytest
from django.core.management import call_command
from django.db import connection
from pytest_django import Settings

from conversations.forgetting import message_forgets
from conversations.forgetting import message_forgets as said
from conversations.models import Conversation, Episode, Message
from memories.forgetting import memory_forgets
from memories.models import Memory, Project
from ops import ledger
from ops.access import as_system, as_user
from ops.accounts import users
from ops.forgetting import person_forgets as people
from ops.models import Kind, Operation, Receipt, Status, User
from ops.queue import worker
from tests import databases
from tests.factories import make_conversation, make_episode, make_memory, make_turn

TEA = "I drink green tea every morning before work"


@pytest.fixture(autouse=True)
def own_ledger(settings: Settings, tmp_path: Path) -> Path:
    settings.LEDGER_DIR = tmp_path / "data-ledger"
    return tmp_path / "data-ledger" / "forgets.jsonl"


@pytest.fixture
def memory(alice: User) -> Memory:
    turn = make_turn(make_conversation(alice), TEA)
    return make_memory(alice, "Drinks green tea", turns=[turn])


def lines(path: Path) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in path.read_bytes().splitlines()]


@pytest.mark.django_db
def test_the_line_is_there_before_the_answer_and_holds_ids_only(
    memory: Memory, own_ledger: Path, django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True), as_user(memory.user):
        operation = memory_forgets.forget_memory(user=memory.user, memory=memory)
    (line,) = lines(own_ledger)
    assert line["operation"] == operation.public_id
    assert line["subject"] == str(memory.user.subject)
    assert (line["scope"], line["target"]) == ("memory", {"memories": [memory.public_id]})
    assert b"tea" not in own_ledger.read_bytes() and b"alice" not in own_ledger.read_bytes()
    assert own_ledger.stat().st_mode & 0o077 == 0


@pytest.mark.django_db
def test_a_line_that_a_crash_prevented_is_written_before_anything_is_erased(
    memory: Memory, own_ledger: Path
) -> None:
    with as_user(memory.user):
        memory_forgets.forget_memory(user=memory.user, memory=memory)
    assert not own_ledger.exists()
    worker.drain()
    assert len(lines(own_ledger)) == 1
    assert not Memory.everything.exists()


@pytest.mark.django_db
def test_a_torn_line_is_passed_over_and_written_again(memory: Memory, own_ledger: Path) -> None:
    with as_user(memory.user):
        operation = memory_forgets.forget_memory(user=memory.user, memory=memory)
    own_ledger.parent.mkdir()
    own_ledger.write_bytes(f'{{"operation":"{operation.public_id}","subj'.encode())
    worker.drain()
    assert [line.operation for line in ledger.read()] == [operation.public_id]
    assert own_ledger.read_bytes().endswith(b"\n")


@pytest.mark.django_db
def test_a_line_is_written_once(memory: Memory, own_ledger: Path) -> None:
    with as_user(memory.user):
        operation = memory_forgets.forget_memory(user=memory.user, memory=memory)
    for _ in range(3):
        ledger.write(operation, {})
    assert len(lines(own_ledger)) == 1


@pytest.mark.django_db
def test_where_the_ledger_can_not_be_written_nothing_is_erased(
    memory: Memory, own_ledger: Path
) -> None:
    own_ledger.parent.write_text("a file where the folder should be")
    with as_user(memory.user):
        operation = memory_forgets.forget_memory(user=memory.user, memory=memory)
    worker.drain(limit=1)
    operation.refresh_from_db()
    assert operation.status == Status.PENDING and operation.last_error
    assert Memory.everything.filter(pk=memory.pk).exists()


@pytest.mark.django_db
def test_nothing_came_back_so_nothing_is_forgotten_again(
    memory: Memory, mallory: User, capsys: pytest.CaptureFixture[str]
) -> None:
    make_memory(mallory, "Plays chess")
    with as_user(memory.user):
        memory_forgets.forget_memory(user=memory.user, memory=memory)
    worker.drain()
    call_command("reapply_forgets")
    assert capsys.readouterr().out == "0 forgotten again\n"
    assert Memory.objects.count() == 1


EVERYTHING = ("memory", "message", "conversation", "clear", "project", "layer", "user")


class Backup:
    """`pg_dump` of the data, and `pg_restore` over what has become of it."""

    def __init__(self, folder: Path) -> None:
        self._url = databases.postgres.url("superuser", database=connection.settings_dict["NAME"])
        self._file = folder / "backup"
        self._run("pg_dump", "--format=custom", "--data-only", f"--file={self._file}", self._url)

    def restore(self) -> None:
        with psycopg.connect(self._url, autocommit=True) as superuser:
            names = superuser.execute(
                "SELECT quote_ident(tablename) FROM pg_tables WHERE schemaname = 'public'"
            ).fetchall()
            superuser.execute("SET session_replication_role = replica")
            superuser.execute(f"TRUNCATE {', '.join(name for (name,) in names)} CASCADE")
        self._run(
            *("pg_restore", "--data-only", "--disable-triggers", "--exit-on-error"),
            *(f"--dbname={self._url}", str(self._file)),
        )
        with psycopg.connect(self._url, autocommit=True) as superuser:
            for table in databases.APPEND_ONLY:  # enabled again; see tests/databases
                superuser.execute(f"ALTER TABLE {table} DISABLE TRIGGER never_truncated")
            superuser.execute("ALTER TABLE memories_vector DISABLE TRIGGER vector_changed")

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [str(databases.postgres._place.binaries / program), *arguments],
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr


@pytest.fixture
def world(transactional_db: None) -> Iterator[dict[str, User]]:
    """A person for each scope, with the same things each, and a bystander."""
    with as_system():
        made = {name: users.find_or_create(name) for name in (*EVERYTHING, "bystander")}
        for user in made.values():
            project = Project.objects.create(user=user, key="apollo")
            turn = make_turn(make_conversation(user, external_id="c"), TEA)
            make_episode(turn)
            make_memory(user, "Drinks green tea", turns=[turn])
            make_memory(user, "The rocket is red", project=project)
    yield made
    shutil.rmtree(ledger.path().parent, ignore_errors=True)


def forget(scope: str, user: User) -> Operation:
    conversation = Conversation.objects.get(user=user)
    if scope == "memory":
        memory = Memory.objects.get(user=user, content="Drinks green tea")
        return memory_forgets.forget_memory(user=user, memory=memory)
    if scope == "message":
        message = Message.objects.filter(user=user).latest("pk")
        return said.forget_message(user=user, message=message, cascade=True)
    if scope == "conversation":
        return said.forget_conversation(user=user, conversation=conversation)
    if scope == "clear":
        return said.clear_conversation(user=user, conversation=conversation)
    if scope == "project":
        project = Project.objects.get(user=user)
        return memory_forgets.forget_project(user=user, project=project)
    if scope == "layer":
        return message_forgets.delete_layer(user=user, layer="episode")[0]
    return people.forget_user(user=user)[0]


def counts(user: User) -> tuple[int, ...]:
    models = (Conversation, Message, Episode, Memory, Project)
    return tuple(model._base_manager.filter(user_id=user.pk).count() for model in models)


def test_after_restoring_a_backup_everything_is_forgotten_again(
    world: dict[str, User], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    backup = Backup(tmp_path)
    for scope in EVERYTHING:
        with as_user(world[scope]):
            forget(scope, world[scope])
    with as_system():
        later = users.find_or_create("came-later")
        make_memory(later, "Plays chess")
    with as_user(later):
        memory_forgets.forget_memory(user=later, memory=Memory.objects.get(user=later))
    worker.drain()
    with as_system():
        after = {name: counts(user) for name, user in world.items()}
        assert Receipt.objects.count() == len(EVERYTHING) + 1
    backup.restore()
    with as_system():
        assert all(counts(user) == after["bystander"] for user in world.values())
    call_command("reapply_forgets")
    assert capsys.readouterr().out.endswith(f"{len(EVERYTHING)} forgotten again\n")
    with as_system():
        assert {name: counts(user) for name, user in world.items()} == after
        assert not User.objects.filter(external_id="user").exists()
        kinds = set(Operation.objects.values_list("kind", flat=True))
        assert kinds >= {Kind.FORGET_USER, Kind.FORGET_LAYER, Kind.CLEAR_CONVERSATION}
    call_command("reapply_forgets")
    assert capsys.readouterr().out == "0 forgotten again\n"


def test_what_came_after_the_restored_backup_is_not_touched(
    world: dict[str, User], tmp_path: Path
) -> None:
    """Numbers are given out again after a restore: they may mean something else now."""
    with as_system():
        Project.objects.filter(user=world["project"]).delete()
    backup = Backup(tmp_path)
    with as_user(world["project"]):
        made = Project.objects.create(user=world["project"], key="gemini")
        memory_forgets.forget_project(user=world["project"], project=made)
    worker.drain()
    backup.restore()
    with as_user(world["project"]):
        Project.objects.create(pk=made.pk, user=world["project"], key="mercury")
    call_command("reapply_forgets")
    with as_system():
        assert Project.objects.filter(pk=made.pk, key="mercury").exists()
