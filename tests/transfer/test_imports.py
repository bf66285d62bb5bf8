"""Files of all formats, good and bad, taken in as a whole or not at all."""

from __future__ import annotations

import io
import json
import re
import stat
import zipfile
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.storage import storages
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import StreamingHttpResponse
from django.test import Client, override_settings
from django.utils import timezone

from conversations.forgetting import message_forgets
from conversations.importing import file_import
from conversations.models import Conversation, Message, Turn
from memories.models import Memory, MemoryVersion, Source
from memories.writing import curation
from ops import ledger, registry
from ops.access import as_user
from ops.accounts import users
from ops.models import Import, Kind, Operation, Status, User
from ops.pages.stored_amounts import LABELS
from ops.queue import worker
from tests.factories import make_conversation, make_turn
from tests.killing import Kill, revive
from tests.memcenter.rest.client import Api, answer, error, refused
from tests.memcenter.rest.test_schema import check, generated
from tests.transfer.rich import content_of, export, give_everything
from tests.transfer.test_round_trip import bring_in, report

pytestmark = pytest.mark.django_db


def node(name: str, parent: str | None, role: str, text: str) -> dict[str, Any]:
    message = {
        "id": f"m-{name}",
        "author": {"role": role},
        "create_time": 1_700_000_000 + len(name),
        "content": {"content_type": "text", "parts": [text]},
    }
    return {"id": name, "parent": parent, "children": [], "message": message}


def chatgpt() -> list[dict[str, Any]]:
    """One conversation in which a question was edited; one that is no conversation."""
    nodes = [
        node("root", None, "system", "You are helpful."),
        node("old", "root", "user", "Do I like coffee?"),
        node("new", "root", "user", "I like green tea."),
        node("reply", "new", "assistant", "Noted, green tea."),
        node("tool", "reply", "tool", "searched"),
    ]
    mapping = {one["id"]: one for one in nodes}
    return [
        {
            "title": "Tea",
            "create_time": 1_700_000_000.5,
            "conversation_id": "abc",
            "current_node": "tool",
            "mapping": mapping,
        },
        {"title": "Broken", "mapping": {"x": None}},
    ]


def packed(**files: bytes) -> bytes:
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__", "."), content)
    return into.getvalue()


def said(user: User) -> list[str]:
    rows = Message.objects.filter(user=user).order_by("conversation", "number")
    return list(rows.values_list("content", flat=True))


def nothing_came(user: User, operation: Operation, *, why: str) -> None:
    assert operation.status == Status.FAILED and why in operation.last_error
    assert not Conversation.everything.filter(user=user).exists()
    assert not Memory.everything.filter(user=user).exists()
    assert Import.objects.get(operation=operation).path == ""


@pytest.mark.parametrize("zipped", [False, True])
def test_chatgpt_brings_the_branch_that_was_seen_last(alice: User, zipped: bool) -> None:
    raw = json.dumps(chatgpt()).encode()
    told = report(bring_in(alice, packed(conversations__json=raw) if zipped else raw))
    assert said(alice) == ["I like green tea.", "Noted, green tea."]
    assert (told["format"], told["conversations"], told["messages"]) == ("chatgpt", 1, 2)
    assert told["skipped"] == [{"where": "[1]", "why": "nothing in it can be imported"}]
    assert Conversation.objects.get().title == "Tea" and Turn.objects.count() == 1


def test_what_came_in_is_learned_from_and_found(alice: User) -> None:
    told = report(bring_in(alice, json.dumps(chatgpt()).encode()))
    assert told["turns_to_learn_from"] == 1
    assert Operation.objects.filter(kind=Kind.EXTRACT_TURN).count() == 1
    found = answer(Api(_key(alice)).get("/search", query="green tea", types="message"))
    assert "I like green tea." in {one["text"] for one in found["results"]}


def _key(user: User) -> str:
    from ops.accounts import keys

    return keys.create(name="own", scopes=["read", "write"], user=user)[1]


def test_the_same_file_again_adds_nothing(alice: User) -> None:
    raw = json.dumps(chatgpt()).encode()
    bring_in(alice, raw)
    told = report(bring_in(alice, raw))
    assert told["messages"] == told["conversations"] == 0 and told["already_there"] == 4
    assert len(said(alice)) == 2


def test_two_files_that_number_their_messages_alike_both_come_in_whole(alice: User) -> None:
    first, second = (
        b'{"conversation": "c", "role": "user", "content": "%s"}\n' % text
        for text in (b"I play chess.", b"I have a cat.")
    )
    for raw in (first, second, second):
        report(bring_in(alice, raw))
    texts = Message.objects.filter(user=alice).order_by("number")
    assert list(texts.values_list("content", flat=True)) == ["I play chess.", "I have a cat."]


def test_mem0_memories_come_with_their_times_tags_and_metadata(alice: User) -> None:
    row = {
        "id": "1f",
        "memory": "Likes hiking",
        "created_at": "2024-07-20T01:30:36.275141-07:00",
        "categories": ["hobbies"],
        "metadata": {"source": "app"},
        "agent_id": "a1",
    }
    secret = {"memory": "My password is hunter2secret99"}
    told = report(bring_in(alice, json.dumps({"results": [row, {"memory": ""}, secret]}).encode()))
    memory = Memory.objects.get(user=alice)
    assert (memory.content, memory.tags, memory.agent_id) == ("Likes hiking", ["hobbies"], "a1")
    assert memory.metadata == {"source": "app"} and memory.created_at.year == 2024
    assert memory.origin == "import" and memory.indexed_at is not None
    assert MemoryVersion.objects.get(memory=memory).content == "Likes hiking"
    assert Source.objects.get(memory=memory).reference.startswith("op_")
    assert told["memories"] == 1 and told["skipped_count"] == 2
    assert "hunter2" not in str(told)


def test_a_memory_file_brings_its_lines(alice: User) -> None:
    text = "# Me\n\n## preference\n- 喜欢绿茶\n- Two\\nlines <!-- mem_abc -->\nfree text\n"
    told = report(bring_in(alice, text.encode()))
    found = set(Memory.objects.values_list("kind", "content"))
    assert found == {("preference", "喜欢绿茶"), ("preference", "Two\nlines")}
    assert {"where": "line 6", "why": "this line isn’t a memory"} in told["skipped"]


def test_a_transcript_brings_who_said_what(alice: User) -> None:
    text = "# Lunch\n\n**User:** What's for lunch?\nAnd when?\n\n**Assistant:** Soup, at noon.\n"
    report(bring_in(alice, text.encode()))
    assert said(alice) == ["What's for lunch?\nAnd when?", "Soup, at noon."]
    assert Conversation.objects.get().title == "Lunch"


def test_our_own_pages_can_be_read_back(alice: User) -> None:
    conversation = make_conversation(alice, title="Trip")
    make_turn(conversation, "Where to?\n\n> a quotation", "Hangzhou.")
    raw = content_of(export(alice, format="zip", conversation=conversation))
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        page = archive.read(next(n for n in archive.namelist() if n.startswith("conversations/")))
    bob = users.find_or_create("bob")
    report(bring_in(bob, page))
    assert said(bob) == ["Where to?\n\n> a quotation", "Hangzhou."]


def test_several_people_teach_nothing_and_that_is_said(alice: User) -> None:
    lines = [
        {"user": name, "user_message": f"I am {name}, I like tea.", "assistant_message": "Hi."}
        for name in ("ann", "ben")
    ]
    raw = "\n".join(map(json.dumps, lines)).encode()
    told = report(bring_in(alice, raw))
    assert (told["people"], told["turns_to_learn_from"]) == (2, 0)
    assert Conversation.objects.count() == 2 and len(said(alice)) == 4
    assert not Operation.objects.filter(kind=Kind.EXTRACT_TURN).exists()


def test_memorybank_and_locomo_are_known_by_their_content(alice: User) -> None:
    bank = [{"user": "Ann", "history": {"2023-04-27": [{"query": "Hi", "response": "Ho"}]}}]
    talk = {
        "speaker_a": "Ann",
        "speaker_b": "Ben",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [{"speaker": "Ann", "dia_id": "D1:1", "text": "Hey"}],
    }
    assert report(bring_in(alice, json.dumps(bank).encode()))["format"] == "memorybank"
    assert report(bring_in(alice, json.dumps(talk).encode()))["format"] == "locomo"


def test_memories_stay_out_while_long_term_memory_is_off(alice: User) -> None:
    users.change_settings(user=alice, changes={"longterm_enabled": False})
    told = report(bring_in(alice, b"## fact\n- Plays chess\n"))
    assert told["memories"] == 0
    assert told["skipped"][0]["why"] == "long-term memory is turned off"


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b'[\n{"mapping": {}},\n{"a": oops}\n]', "line 3 can’t be read"),
        (b'{"format": "memory_center", "version": 1, "data": {', "can’t be read"),
        (b'{"format": "memory_center", "version": 1, "data": {}}', "cut off"),
        (b'{"format": "memory_center", "version": 9, "complete": true}', "another version"),
        (b"just some words", "none of the formats"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "not a text file"),
        (b"\xff\xfeh\x00i\x00", "UTF-8"),
        (b"## fact\n- caf\xe9\n", "line 2 can’t be read"),
        (b"[" * 100_000, "too deep"),
    ],
)
def test_a_broken_file_changes_nothing_and_says_where(alice: User, raw: bytes, why: str) -> None:
    nothing_came(alice, bring_in(alice, raw), why=why)


def _with(name: str, **changes: Any) -> bytes:
    info = zipfile.ZipInfo(name)
    for attribute, value in changes.items():
        setattr(info, attribute, value)
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w") as archive:
        archive.writestr(info, b"[]")
        archive.writestr("conversations.json", b"[]")
    return into.getvalue()


def _locked() -> bytes:
    raw = bytearray(packed(conversations__json=b"[]"))
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        raw[raw.index(mark) + place] |= 1
    return bytes(raw)


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (_with("../../etc/passwd"), "outside the zip"),
        (_with("/etc/passwd"), "outside the zip"),
        (_with("..\\x"), "outside the zip"),
        (_with("x", external_attr=(stat.S_IFLNK | 0o777) << 16), "outside the zip"),
        (_locked(), "password"),
        (packed(inner__zip=packed(conversations__json=b"[]")), "another zip"),
        (packed(other__txt=b"x"), "neither"),
        (packed(conversations__json=b"[" + b" " * 30_000_000 + b"]"), "too large once unpacked"),
        (packed(conversations__json=b"[]")[:-30], "damaged"),
    ],
    ids=["up", "absolute", "backslash", "link", "locked", "nested", "other", "bomb", "damaged"],
)
def test_a_hostile_zip_is_not_opened(alice: User, raw: bytes, why: str) -> None:
    nothing_came(alice, bring_in(alice, raw), why=why)


def test_a_crafted_export_reaches_nobody_else(alice: User, mallory: User) -> None:
    turn = make_turn(make_conversation(mallory), "Mallory's secret")
    theirs = turn.user_message.public_id
    row = {"id": theirs, "conversation": turn.conversation.public_id, "number": 1}
    memory = {"id": "mem_" + "0" * 26, "kind": "fact", "content": "x", "origin": "user"}
    source = {"memory": memory["id"], "version": 1, "turn": turn.public_id, "origin": "user"}
    data = {"message": [row], "memory": [memory], "source": [source]}
    raw = {"format": "memory_center", "version": 1, "data": data, "complete": True}
    told = report(bring_in(alice, json.dumps(raw).encode()))
    assert said(alice) == [] and said(mallory) == ["Mallory's secret", "I see."]
    assert told["memories"] == 1 and told["skipped_count"] == 2


@pytest.mark.parametrize("where", ["apply", "finish", "erase_file"])
def test_killed_in_the_middle_it_leaves_nothing_or_completes(
    alice: User, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    real = getattr(file_import, where)

    def deadly(*args: Any, **given: Any) -> None:
        if where == "finish":
            real(*args, **given)
        raise Kill

    monkeypatch.setattr(file_import, where, deadly)
    raw = json.dumps(chatgpt()).encode()
    with pytest.raises(Kill):
        bring_in(alice, raw)
    assert len(said(alice)) == (2 if where == "erase_file" else 0)
    revive(monkeypatch)
    worker.drain()
    assert len(said(alice)) == 2
    row = Import.objects.get()
    assert row.path == "" and row.report["messages"] == 2
    assert Operation.objects.get(pk=row.operation_id).status == Status.SUCCEEDED


def test_a_forget_comes_first(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    turn = make_turn(make_conversation(alice), "I play chess")
    real = file_import.read

    def forget_first(row: Import) -> Any:
        monkeypatch.setattr(file_import, "read", real)
        with as_user(alice):
            message_forgets.forget_message(user=alice, message=turn.user_message, cascade=True)
        return real(row)

    monkeypatch.setattr(file_import, "read", forget_first)
    operation = bring_in(alice, json.dumps(chatgpt()).encode())
    Operation.objects.filter(pk=operation.pk).update(run_after=timezone.now())
    worker.drain()
    assert said(alice) == ["I like green tea.", "Noted, green tea."]


def upload(key: str, raw: bytes, **fields: str) -> Any:
    body = {"file": SimpleUploadedFile("x.json", raw), **fields}
    return Client(headers={"authorization": f"Bearer {key}"}).post("/api/v1/memory/import", body)


@pytest.mark.parametrize("raw", [b"{", b"PK\x03\x04 no zip", b'[{"mapping": 7}]', b"[]"])
@pytest.mark.parametrize("format", [{}, {"format": "chatgpt"}, {"format": "memory_center"}])
def test_an_import_that_fails_is_told_as_the_schema_says(
    alice: User, product_key: str, raw: bytes, format: dict[str, str]
) -> None:
    op_id = answer(upload(product_key, raw, user_id="alice", **format), 202)["op_id"]
    worker.drain()
    path = f"/memory/ops/{op_id}"
    told = answer(Api(product_key).get(path))
    document = generated()
    check(document, "/api/v1/memory/ops/{op_id}", "get", told, status=200)
    stream = Api(product_key).get(f"{path}/events")
    assert isinstance(stream, StreamingHttpResponse)
    events = [line[6:] for line in b"".join(stream).splitlines() if line.startswith(b"data: ")]
    assert [json.loads(one) for one in events] == [told]


def test_a_report_that_was_erased_is_left_out(alice: User, product_key: str) -> None:
    raw = json.dumps(chatgpt()).encode()
    op_id = answer(upload(product_key, raw, user_id="alice"), 202)["op_id"]
    worker.drain()
    assert "report" in answer(Api(product_key).get(f"/memory/ops/{op_id}"))
    Import.objects.update(report={})
    told = answer(Api(product_key).get(f"/memory/ops/{op_id}"))
    assert "report" not in told
    check(generated(), "/api/v1/memory/ops/{op_id}", "get", told, status=200)


def test_the_api_takes_a_file_and_tells_what_came(alice: User, product_key: str) -> None:
    raw = json.dumps(chatgpt()).encode()
    op_id = answer(upload(product_key, raw, user_id="alice", format="chatgpt"), 202)["op_id"]
    worker.drain()
    told = answer(Api(product_key).get(f"/memory/ops/{op_id}"))
    assert told["status"] == "succeeded" and told["report"]["messages"] == 2
    assert told["report"]["skipped"] == [{"where": "[1]", "why": "nothing in it can be imported"}]


def test_the_wrong_format_is_named(alice: User, alice_key: str) -> None:
    answer(upload(alice_key, json.dumps(chatgpt()).encode(), format="mem0"), 202)
    worker.drain()
    assert Operation.objects.get().last_error == "The file is chatgpt, not mem0."


def test_no_file_an_empty_one_or_a_large_one_are_refused(alice_key: str) -> None:
    client = Client(headers={"authorization": f"Bearer {alice_key}"})
    refused(client.post("/api/v1/memory/import", {"format": "mem0"}), "file")  # type: ignore[arg-type]
    refused(upload(alice_key, b""), "file")
    refused(upload(alice_key, b"[]", format="pdf"), "format")
    refused(Api(alice_key).post("/memory/import", {"format": "mem0"}), "file")
    with override_settings(MAX_IMPORT_BYTES=1_024):
        error(upload(alice_key, b"x" * 2_000_000), 413, "too_large")
        refused(upload(alice_key, b"x" * 2_000), "file")
    assert not Import.objects.exists()


def test_the_same_upload_with_the_same_idempotency_key_is_one(alice: User, alice_key: str) -> None:
    headers = {"authorization": f"Bearer {alice_key}", "idempotency-key": "k1"}
    raw = json.dumps(chatgpt()).encode()
    made = [
        answer(
            Client(headers=headers).post(  # type: ignore[arg-type]
                "/api/v1/memory/import", {"file": SimpleUploadedFile("x.json", raw)}
            ),
            202,
        )["op_id"]
        for _ in range(2)
    ]
    assert made[0] == made[1] and Import.objects.count() == 1


def test_forgetting_the_person_erases_the_file_that_waits(alice: User) -> None:
    from ops.forgetting import person_forgets as everything

    with as_user(alice):
        row = file_import.request(
            user=alice, file=io.BytesIO(b"[]"), size=2, actor="user", surface="test"
        )
        assert storages["imports"].exists(row.path)
    with as_user(alice):
        everything.forget_user(user=alice)
    worker.drain()
    assert not storages["imports"].exists(row.path)


def test_the_page_shows_what_came_and_what_did_not(alice: User) -> None:
    page = Client()
    page.force_login(alice)
    raw = SimpleUploadedFile("x.json", json.dumps(chatgpt()).encode())
    assert page.post("/memory/data/import/", {"file": raw}).status_code == 302
    worker.drain()
    shown = page.get("/memory/data/").content.decode()
    assert "1 conversation, 2 messages" in shown and "1 entry skipped" in shown
    assert re.search(r'<details class="small transfer__more"[^>]* open>', shown)
    running: dict[str, Any] = {"status": Status.RUNNING, "progress_step": "index"}
    running |= {"progress_done": 0, "progress_total": 607}
    until = timezone.now() + timedelta(minutes=1)
    Operation.objects.filter(kind=Kind.IMPORT).update(lease_until=until, **running)
    shown = page.get("/memory/data/").content.decode()
    assert "0 of 607" in shown and "Indexing" in shown
    assert "1 conversation, 2 messages</strong>" not in shown
    Operation.objects.filter(kind=Kind.IMPORT).update(status=Status.SUCCEEDED, lease_until=None)
    bad = SimpleUploadedFile("x.json", b"just words")
    page.post("/memory/data/import/", {"file": bad})
    worker.drain()
    shown = page.get("/memory/data/").content.decode()
    assert "none of the formats" in shown and "one in each line" in shown
    assert "x.json" in shown


@pytest.mark.parametrize(
    "raw",
    [
        "# About me\n\n- I play chess\n- I live in Cork\n",
        "1. 我会下棋\n2) 我住在科克\n",
        "* [ ] I play chess\n* [x] I live in Cork",
    ],
)
def test_a_plain_list_is_memories(alice: User, raw: str) -> None:
    told = report(bring_in(alice, raw.encode()))
    assert (told["memories"], told["skipped"]) == (2, [])
    assert not any("[" in one.content for one in Memory.objects.filter(user=alice))


def test_a_list_with_a_line_that_is_no_item_is_imported_without_it(alice: User) -> None:
    raw = "# 我的清单\n- 我喜欢吃钵钵鸡\n- 豆豆的奶奶住在乐山\n- 我会下棋\n随便一行\n"
    told = report(bring_in(alice, raw.encode()))
    assert told["memories"] == 3
    assert [one["where"] for one in told["skipped"]] == ["line 5"]


def test_a_text_with_a_list_in_it_is_none(alice: User) -> None:
    nothing_came(alice, bring_in(alice, b"Dear all,\n- bread\n- milk\n"), why="none of the formats")


def test_the_page_says_that_an_own_export_is_already_here(alice: User) -> None:
    give_everything(alice)
    page = Client()
    page.force_login(alice)
    raw = SimpleUploadedFile("mine.json", content_of(export(alice)))
    page.post("/memory/data/import/", {"file": raw})
    worker.drain()
    shown = page.get("/memory/data/").content.decode()
    assert "里面的内容这里都已经有了。" in shown
    assert "transfer__skipped" not in shown


def test_every_place_of_a_file_has_a_name_in_words(alice: User) -> None:
    for participant in registry.user_data_kinds():
        assert participant.name in LABELS


def test_what_is_there_is_kept_and_what_was_lost_comes_back(alice: User) -> None:
    give_everything(alice)
    raw = content_of(export(alice))
    lost = Memory.objects.filter(user=alice).first()
    assert lost is not None
    Memory.everything.filter(pk=lost.pk).delete()
    before = Memory.everything.filter(user=alice).count()
    told = report(bring_in(alice, raw))
    assert told["memories"] == 1 and told["messages"] == 0
    assert Memory.everything.filter(user=alice).count() == before + 1
    assert Memory.everything.get(public_id=lost.public_id).content == lost.content


def test_a_memory_that_came_back_is_not_deleted_by_the_next_start(alice: User) -> None:
    """It was in the recycle bin once, which the ledger of decisions still says."""
    give_everything(alice)
    raw = content_of(export(alice))
    back = Memory.objects.filter(user=alice).first()
    assert back is not None
    with as_user(alice):
        curation.recycle(user=alice, memory=back)
    Memory.everything.filter(pk=back.pk).delete()
    bring_in(alice, raw)
    ledger.reapply_decisions()
    assert Memory.objects.filter(user=alice, public_id=back.public_id).exists()
