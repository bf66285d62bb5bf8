"""Making, giving out and erasing exports."""

from __future__ import annotations

import errno
import hashlib
import io
import zipfile
from contextlib import closing
from pathlib import Path
from typing import Any

import orjson
import pytest
from django.core.files.storage import storages
from django.test import Client
from django.utils import timezone

from conversations.forgetting import message_forgets
from conversations.recording import temporary
from conversations.recording.turns import MessageInput
from memories.forgetting import memory_forgets as memory_forgetting
from ops.access import as_user
from ops.models import AuditEvent, Export, Operation, Status, User
from ops.queue import outbox, worker
from ops.transfer import exports, stored_files
from tests.draining import cleaned_up
from tests.factories import make_conversation, make_memory, make_turn
from tests.killing import Kill, revive
from tests.memcenter.rest.client import Api, answer, error, refused
from tests.transfer.rich import content_of, data_of, export, give_everything

pytestmark = pytest.mark.django_db


def files() -> set[str]:
    """All that lies in the folders of exports, finished or not."""
    roots = [Path(storages[name].path("")) for name in ("exports", "parts")]
    return {str(path) for root in roots if root.is_dir() for path in root.iterdir()}


def ask(user: User, **options: Any) -> Export:
    with as_user(user):
        return exports.request_export(
            user=user, format="json", actor="user", surface="test", **options
        )


def state(asked: Export) -> Operation:
    return Operation.objects.get(pk=asked.operation_id)


def test_an_export_says_what_it_is_of_and_whether_all_is_cleaned_up(alice: User) -> None:
    make_memory(alice, "Plays chess")
    data = data_of(export(alice))
    assert (data["format"], data["version"], data["scope"]) == ("memory_center", 1, "everything")
    assert data["user_id"] == "alice" and data["complete"] is True
    assert data["switches"]["longterm_enabled"] is True
    assert data["clean_up"] == {"complete": True, "unfinished": 0}
    assert [one["kind"] for one in data["operations"]] == ["export_user"]
    assert data["data"]["memory"][0]["content"] == "Plays chess"


def test_an_unfinished_forget_is_told(alice: User) -> None:
    turn = make_turn(make_conversation(alice), "I play chess")
    with as_user(alice):
        asked = message_forgets.forget_message(user=alice, message=turn.user_message)
    Operation.objects.filter(pk=asked.pk).update(status=Status.FAILED)
    data = data_of(export(alice))
    assert data["clean_up"] == {"complete": False, "unfinished": 1}
    assert "I play chess" not in str(data)


def test_a_zip_can_be_read_without_a_program(alice: User) -> None:
    give_everything(alice)
    with zipfile.ZipFile(io.BytesIO(content_of(export(alice, format="zip")))) as packed:
        assert packed.testzip() is None
        names = packed.namelist()
        assert orjson.loads(packed.read("memory-center.json"))["complete"] is True
        first = packed.read("index.html").decode()
        assert "长期记忆：开" in first and "UTC）" not in first
        told = [one for one in names if one.startswith("conversations/")]
        shown, plain = (
            packed.read(next(one for one in told if one.endswith(ending))).decode()
            for ending in (".html", ".md")
        )
    assert "<strong>Nora</strong>" in shown and "<blockquote>" in shown
    assert plain.startswith("# ") and "**Nora**" in plain and "\n> " in plain
    for ending in ("html", "md"):
        assert {
            f"{one}.{ending}" for one in ("about-you", "memories", "notes", "files/MEMORY")
        } <= set(names)


def test_one_conversation_holds_nothing_of_another(alice: User) -> None:
    one, other = make_conversation(alice), make_conversation(alice)
    make_turn(one, "I play chess")
    make_turn(other, "I drink oolong")  # no id can hold these letters
    make_memory(alice, "Drinks oolong")
    data = data_of(export(alice, conversation=one))
    assert data["scope"] == "conversation" and "oolong" not in str(data)
    assert len(data["data"]["message"]) == 2 and "memory" not in data["data"]


def test_the_file_is_private_named_by_chance_and_hashed(alice: User) -> None:
    made = export(alice)
    path = Path(storages["exports"].path(made.path))
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert "alice" not in made.path and len(made.path) > 40
    content = content_of(made)
    assert (made.sha256, made.bytes) == (hashlib.sha256(content).hexdigest(), len(content))


def test_the_api_exports_and_gives_the_file(alice: User, alice_key: str) -> None:
    make_memory(alice, "Plays chess")
    op_id = answer(Api(alice_key).post("/memory/export", {"format": "json"}), 202)["op_id"]
    error(Api(alice_key).get(f"/memory/export/{op_id}/download"), 404, "not_found")
    worker.drain()
    response = Api(alice_key).get(f"/memory/export/{op_id}/download")
    content = b"".join(response)
    assert b"Plays chess" in content
    assert response["ETag"] == f'"{hashlib.sha256(content).hexdigest()}"'
    assert response["Content-Type"] == "application/json"
    assert response["Content-Disposition"].startswith('attachment; filename="memory-center-')
    assert "no-store" in response["Cache-Control"]
    again = Api(alice_key).call(
        "get", f"/memory/export/{op_id}/download", headers={"If-None-Match": response["ETag"]}
    )
    assert again.status_code == 304
    assert set(AuditEvent.objects.values_list("action", flat=True)) >= {
        "export.requested",
        "export.downloaded",
    }


def test_an_unknown_format_is_refused(alice_key: str) -> None:
    refused(Api(alice_key).post("/memory/export", {"format": "pdf"}), "format")


def test_nobody_else_gets_the_file(
    alice: User, mallory: User, mallory_key: str, product_key: str
) -> None:
    op_id = state(export(alice)).public_id
    path = f"/memory/export/{op_id}/download"
    error(Api(mallory_key).get(path), 404, "not_found")
    error(Api(product_key).get(path, user_id="mallory"), 404, "not_found")
    refused(Api(product_key).get(path), "user_id")
    with closing(Api(product_key).get(path, user_id="alice")) as response:
        assert response.status_code == 200
    error(Api(None).get(path), 401, "unauthenticated")


def test_after_its_time_an_export_is_gone(alice: User, alice_key: str) -> None:
    made = export(alice)
    Export.objects.update(expires_at=timezone.now())
    error(Api(alice_key).get(f"/memory/export/{state(made).public_id}/download"), 404, "not_found")
    assert cleaned_up()["exports"] == 1
    assert not Export.objects.exists() and not storages["exports"].exists(made.path)


def test_a_forget_erases_what_may_hold_it_and_nothing_else(alice: User, mallory: User) -> None:
    one, other = make_conversation(alice), make_conversation(alice)
    turn = make_turn(one, "I play chess")
    make_turn(other, "I drink tea")
    whole = export(alice)
    with_it = export(alice, conversation=one)
    without = export(alice, conversation=other)
    theirs = export(mallory)
    with as_user(alice):
        message_forgets.forget_message(user=alice, message=turn.user_message)
        assert exports.list_exports(alice).count() == 1
    worker.drain()
    left = set(Export.objects.values_list("pk", flat=True))
    assert left == {without.pk, theirs.pk}
    assert not {one for one in files() if whole.path in one or with_it.path in one}


def test_forgetting_a_memory_leaves_exports_of_conversations(alice: User) -> None:
    conversation = make_conversation(alice)
    memory = make_memory(alice, "Plays chess")
    whole, part = export(alice), export(alice, conversation=conversation)
    with as_user(alice):
        memory_forgetting.forget_memory(user=alice, memory=memory)
    worker.drain()
    assert list(Export.objects.all()) == [part] and not storages["exports"].exists(whole.path)


def test_an_export_that_is_being_made_starts_again_after_a_forget(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn = make_turn(make_conversation(alice), "I play chess")
    before = files()
    asked = ask(alice)
    real = exports.publish_export

    def forget_first(*args: Any, **given: Any) -> None:
        monkeypatch.setattr(exports, "publish_export", real)
        with as_user(alice):
            message_forgets.forget_message(user=alice, message=turn.user_message, cascade=True)
        real(*args, **given)

    monkeypatch.setattr(exports, "publish_export", forget_first)
    monkeypatch.setattr(outbox, "_AFTER_GIVING_WAY", 3_600)
    worker.drain()
    assert state(asked).status == Status.PENDING  # it gave way
    assert files() == before
    Operation.objects.filter(pk=asked.operation_id).update(run_after=timezone.now())
    worker.drain()
    asked.refresh_from_db()
    assert state(asked).status == Status.SUCCEEDED
    assert b"chess" not in content_of(asked)


@pytest.mark.parametrize("moment", ["_write_data", "_write_rows"])
def test_killed_while_writing_it_leaves_no_half_file_and_is_made_again(
    alice: User, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    make_memory(alice, "Plays chess")
    before = files()
    asked = ask(alice)

    def deadly(*args: Any, **given: Any) -> None:
        raise Kill

    monkeypatch.setattr(exports.Writer, moment, deadly)
    with pytest.raises(Kill):
        worker.drain()
    revive(monkeypatch)
    Operation.objects.filter(pk=asked.operation_id).update(run_after=timezone.now())
    worker.drain()
    asked.refresh_from_db()
    assert state(asked).status == Status.SUCCEEDED and b"chess" in content_of(asked)
    assert len(files() - before) == 1


def test_killed_after_the_file_was_moved_it_is_made_anew(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = files()
    asked = ask(alice)
    real = stored_files.store_part

    def deadly(kind: str, name: str) -> None:
        real(kind, name)
        raise Kill

    monkeypatch.setattr(stored_files, "store_part", deadly)
    with pytest.raises(Kill):
        worker.drain()
    revive(monkeypatch)
    worker.drain()
    asked.refresh_from_db()
    assert state(asked).status == Status.SUCCEEDED
    assert {Path(one).name for one in files() - before} == {asked.path}


def test_a_full_disk_fails_in_plain_words_and_leaves_nothing(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = files()
    asked = ask(alice)

    def full(part: stored_files.Part, data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(stored_files.Part, "write", full)
    worker.drain()
    operation = state(asked)
    assert operation.status == Status.FAILED and "enough disk space" in operation.last_error
    assert files() == before


@pytest.mark.parametrize("status", [Status.FAILED, Status.RUNNING])
def test_an_export_that_failed_or_is_being_made_does_not_name_a_forgotten_conversation(
    alice: User, status: Status
) -> None:
    before = files()
    thread = make_conversation(alice)
    make_turn(thread, "I play chess")
    asked = ask(alice, conversation=(thread.pk, thread.public_id))
    lease = timezone.now() if status == Status.RUNNING else None
    unfinished = Operation.objects.filter(pk=asked.operation_id)
    unfinished.update(status=status, lease_until=lease, attempt=1)
    with as_user(alice):
        forget = message_forgets.forget_conversation(user=alice, conversation=thread)
    worker.drain()
    forget.refresh_from_db()
    assert (forget.status, forget.attempt) == (Status.SUCCEEDED, 1)
    assert not Export.objects.exists()
    unfinished.update(status=Status.PENDING, lease_until=None, run_after=timezone.now())
    worker.drain()
    assert state(asked).status == Status.SUCCEEDED and files() == before


@pytest.fixture
def page(alice: User) -> Client:
    alice.set_password("a-long-enough-password")
    alice.username = "alice"
    alice.save()
    client = Client()
    client.force_login(alice)
    return client


def test_the_page_wants_the_password_for_everything(page: Client) -> None:
    wrong = page.post("/memory/data/export/", {"format": "json", "password": "no"})
    assert wrong.status_code == 422 and not Export.objects.exists()
    right = page.post(
        "/memory/data/export/", {"format": "json", "password": "a-long-enough-password"}
    )
    assert right.status_code == 302 and Export.objects.count() == 1
    worker.drain()
    shown = page.get("/memory/data/").content.decode()
    op_id = Operation.objects.get(kind="export_user").public_id
    assert f"/memory/data/export/{op_id}/download/" in shown
    assert Export.objects.get().sha256 in shown
    response = page.get(f"/memory/data/export/{op_id}/download/")
    assert b"".join(response).startswith(b'{"format":"memory_center"')


def test_an_export_is_json_unless_said_otherwise(page: Client, alice: User, alice_key: str) -> None:
    conversation = make_conversation(alice)
    answer(Api(alice_key).post("/memory/export", {}), 202)
    page.post("/memory/data/export/", {"password": "a-long-enough-password"})
    page.post(f"/c/{conversation.public_id}/export/")
    assert [one.format for one in Export.objects.order_by("pk")] == ["json"] * 3
    for address in ("/memory/data/export/", f"/c/{conversation.public_id}/export/"):
        form = page.get(address).content.decode()
        assert 'name="format" value="json" checked' in form


def test_a_conversation_is_exported_from_its_menu(page: Client, alice: User) -> None:
    conversation = make_conversation(alice, title="Trip")
    address = f"/c/{conversation.public_id}/export/"
    assert "Trip" in page.get(address).content.decode()
    assert page.post(address, {"format": "zip"}).status_code == 302
    assert Export.objects.get().conversation_public_id == conversation.public_id


def test_strangers_find_neither_the_form_nor_the_file(page: Client, mallory: User) -> None:
    conversation = make_conversation(mallory)
    op_id = state(export(mallory)).public_id
    assert page.get(f"/c/{conversation.public_id}/export/").status_code == 404
    assert page.get(f"/memory/data/export/{op_id}/download/").status_code == 404
    assert Client().get(f"/memory/data/export/{op_id}/download/").status_code == 302


def test_a_temporary_chat_is_in_no_export(alice: User) -> None:
    chat = temporary.create(user=alice, external_id=None)
    temporary.append(chat, messages=(MessageInput("The party is at the golf club."),))
    for format_ in ("json", "zip"):
        assert b"golf club" not in content_of(export(alice, format=format_))
    assert [one.content for one in temporary.read(chat)] == ["The party is at the golf club."]
