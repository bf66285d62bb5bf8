"""Anthropic's memory tool, driven by the package that models' clients use."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from anthropic.tools import (
    BetaAbstractMemoryTool,
    BetaLocalFilesystemMemoryTool,
    ToolError,
)
from django.conf import settings
from django.utils import timezone
from pydantic import BaseModel

from memories.files import daily_notes, memory_files
from memories.forgetting import memory_forgets
from memories.models import DailyNote, LexicalEntry, Memory, MemoryFile, Refusal, Vector
from ops.access import as_user
from ops.accounts import keys, users
from ops.models import User
from ops.queue import worker
from tests.factories import make_memory
from tests.memcenter.rest.client import Api, answer, error, refused

pytestmark = pytest.mark.django_db
TOOL = "/memory/files/tool"


class OurTool(BetaAbstractMemoryTool):
    """The tool as an agent's author writes it: each command goes to our endpoint."""

    def __init__(self, key: str) -> None:
        super().__init__()
        self.key = key

    def _send(self, command: BaseModel) -> str:
        response = Api(self.key).post(TOOL, command.model_dump(exclude_none=True))
        if response.status_code != 200:
            raise ToolError(answer(response, response.status_code)["error"]["message"])
        return str(answer(response)["content"])

    view = create = str_replace = insert = delete = rename = _send


def told(tool: BetaAbstractMemoryTool, **command: Any) -> str:
    try:
        return str(tool.call(command))
    except ToolError as problem:
        return f"error: {problem.content}"


@pytest.fixture
def theirs(tmp_path: Path) -> BetaLocalFilesystemMemoryTool:
    return BetaLocalFilesystemMemoryTool(str(tmp_path))


P = "/memories/notes/plan.md"
COMMANDS: list[dict[str, Any]] = [
    {"command": "view", "path": P},
    {"command": "create", "path": P, "file_text": "# Plan\n- one\n- two\n- one\n"},
    {"command": "create", "path": P, "file_text": "again"},
    {"command": "create", "path": "/memories/空.txt", "file_text": ""},
    {"command": "view", "path": "/memories/空.txt"},
    {"command": "view", "path": P},
    {"command": "view", "path": P, "view_range": [2, 3]},
    {"command": "view", "path": P, "view_range": [3, -1]},
    {"command": "view", "path": P, "view_range": [9, 12]},
    {"command": "view", "path": P, "view_range": [0, 1]},
    {"command": "view", "path": "/memories/notes"},
    {"command": "str_replace", "path": P, "old_str": "- one", "new_str": "x"},
    {"command": "str_replace", "path": P, "old_str": "absent", "new_str": "x"},
    {"command": "str_replace", "path": P, "old_str": "- two\n- one", "new_str": "二\n三\n四"},
    {"command": "str_replace", "path": P, "old_str": "二\n", "new_str": ""},
    {"command": "str_replace", "path": "/memories/no.md", "old_str": "a", "new_str": "b"},
    {"command": "str_replace", "path": "/memories/notes", "old_str": "a", "new_str": "b"},
    {"command": "insert", "path": P, "insert_line": 0, "insert_text": "first\n\n"},
    {"command": "insert", "path": P, "insert_line": 5, "insert_text": "last"},
    {"command": "insert", "path": P, "insert_line": 99, "insert_text": "never"},
    {"command": "insert", "path": "/memories/空.txt", "insert_line": 0, "insert_text": "a\r"},
    {"command": "insert", "path": "/memories/no.md", "insert_line": 0, "insert_text": "a"},
    {"command": "view", "path": P},
    {"command": "view", "path": "/memories/空.txt"},
    {"command": "create", "path": "/memories/a/b/c/d.md", "file_text": "x" * 1500},
    {"command": "view", "path": "/memories"},
    {"command": "rename", "old_path": P, "new_path": "/memories/a/plan.md"},
    {"command": "rename", "old_path": P, "new_path": "/memories/b.md"},
    {"command": "rename", "old_path": "/memories/a/plan.md", "new_path": "/memories/空.txt"},
    {"command": "rename", "old_path": "/memories/a", "new_path": "/memories/z"},
    {"command": "view", "path": "/memories/z/plan.md"},
    {"command": "view", "path": "/memories/z"},
    {"command": "delete", "path": "/memories/z/plan.md"},
    {"command": "delete", "path": "/memories/z/plan.md"},
    {"command": "delete", "path": "/memories/z"},
    {"command": "view", "path": "/memories/z"},
    {"command": "delete", "path": "/memories"},
    {"command": "rename", "old_path": "/memories", "new_path": "/memories/x"},
    {"command": "view", "path": "/etc/passwd"},
    {"command": "view", "path": "/memories/../../etc/passwd"},
]


def test_it_answers_word_for_word_as_the_package_s_own_tool(
    alice: User, alice_key: str, theirs: BetaLocalFilesystemMemoryTool
) -> None:
    ours = OurTool(alice_key)
    assert ours.to_dict() == {"type": "memory_20250818", "name": "memory"}
    for command in COMMANDS:
        assert comparable(told(ours, **command)) == comparable(told(theirs, **command)), command


def comparable(text: str) -> list[str]:
    """Without the sizes of folders, and what only we have: the curated files, empty folders."""
    lines = [line for line in text.split("\n") if not re.search(r"(MEMORY|LEARNINGS)\.md$", line)]
    lines = [re.sub(r"^[\d.]+[BKMG]\t(.*/|/memories(/z|/notes)?)$", r"\1", line) for line in lines]
    return [line for line in lines if line != "/memories/notes/"] if "files and" in text else lines


def test_an_agent_edits_memories_through_the_curated_file(alice: User, alice_key: str) -> None:
    memory = make_memory(alice, "Lives in Lisbon")
    ours, path = OurTool(alice_key), "/memories/MEMORY.md"
    assert "- Lives in Lisbon <!-- mem_" in told(ours, command="view", path=path)
    told(ours, command="str_replace", path=path, old_str="Lisbon", new_str="Porto")
    memory.refresh_from_db()
    assert memory.content == "Lives in Porto"
    told(ours, command="insert", path=path, insert_line=4, insert_text="- Keeps bees")
    assert Memory.objects.get(content="Keeps bees").origin == "file"
    assert told(ours, command="create", path=path, file_text="") == (
        f"error: File {path} already exists"
    )
    assert "can't be renamed" in told(ours, command="rename", old_path=path, new_path=P)
    told(ours, command="delete", path=path)
    assert not Memory.objects.exists()
    assert Memory.visible.filter(deleted_at__isnull=False).count() == 2


def test_deleting_the_curated_file_of_many_memories_asks_the_person(
    alice: User, alice_key: str
) -> None:
    for number in range(6):
        make_memory(alice, f"Statement number {number} stands")
    found = told(OurTool(alice_key), command="delete", path="/memories/MEMORY.md")
    assert found.endswith("\n6 of these changes wait for the person's decision.")
    assert Memory.objects.filter(removal_asked_at__isnull=False).count() == 6


def test_today_s_note_only_grows(alice: User, alice_key: str) -> None:
    ours = OurTool(alice_key)
    path = f"/memories/{daily_notes.path_of(timezone.now().date())}"
    told(ours, command="create", path=path, file_text="# Today\n\n- The boiler was fixed.\n")
    assert "created" not in told(ours, command="create", path=path, file_text="x")
    found = told(ours, command="view", path=path).split("\n")
    end = len(found) - 2
    told(ours, command="insert", path=path, insert_line=end, insert_text="Ferry at nine.")
    assert list(DailyNote.objects.values_list("text", flat=True).order_by("number")) == [
        "The boiler was fixed.",
        "Ferry at nine.",
    ]
    for command in (
        {"command": "insert", "path": path, "insert_line": 0, "insert_text": "x"},
        {"command": "str_replace", "path": path, "old_str": "Ferry", "new_str": "Bus"},
        {"command": "delete", "path": path},
        {"command": "delete", "path": "/memories/memory"},
        {"command": "rename", "old_path": path, "new_path": "/memories/x.md"},
        {"command": "create", "path": "/memories/memory/2020-01-01.md", "file_text": "x"},
    ):
        assert "append-only" in told(ours, **command), command
    assert DailyNote.objects.count() == 2


@pytest.fixture
def plan(alice: User, alice_key: str) -> MemoryFile:
    text = "# Plan\n\n- The zebra crossing at Praça was repainted.\n- Buy oat milk.\n"
    told(OurTool(alice_key), command="create", path=P, file_text=text)
    return MemoryFile.objects.get(path="notes/plan.md")


def found_notes(key: str, query: str) -> list[str]:
    body = answer(Api(key).get("/search", query=query, types="note"))
    return [one["text"] for one in body["results"]]


def test_what_a_note_says_is_found_at_once_and_by_meaning_after(
    alice_key: str, plan: MemoryFile
) -> None:
    line = "The zebra crossing at Praça was repainted."
    assert found_notes(alice_key, "zebra crossing")[0] == line
    assert not Vector.objects.exists()
    worker.drain()
    assert Vector.objects.filter(target_kind="note").count() == 3
    kept = dict(DailyNote.objects.values_list("text", "pk"))
    told(OurTool(alice_key), command="str_replace", path=P, old_str="- Buy oat milk.\n", new_str="")
    assert dict(DailyNote.objects.values_list("text", "pk")) == {
        text: kept[text] for text in ("Plan", line)
    }
    assert LexicalEntry.objects.count() == Vector.objects.count() == 2


def test_a_deleted_note_lies_in_the_bin_and_comes_back(
    alice: User, alice_key: str, plan: MemoryFile
) -> None:
    ours = OurTool(alice_key)
    told(ours, command="delete", path="/memories/notes")
    assert found_notes(alice_key, "zebra") == [] and not LexicalEntry.objects.exists()
    error(Api(alice_key).get("/memory/files/notes/plan.md"), 404)
    told(ours, command="create", path=P, file_text="another")
    with as_user(alice):
        [binned] = memory_files.binned_notes(alice)
        with pytest.raises(Exception, match="already exists"):
            memory_files.restore_note_from_bin(alice, file_id=binned.pk)
    told(ours, command="rename", old_path=P, new_path="/memories/other.md")
    with as_user(alice):
        memory_files.restore_note_from_bin(alice, file_id=binned.pk)
    assert "zebra" in told(ours, command="view", path=P) and found_notes(alice_key, "zebra")


def test_a_line_that_repeats_a_forgotten_memory_goes_at_once(
    alice: User, alice_key: str, plan: MemoryFile
) -> None:
    memory = make_memory(alice, "The zebra crossing at Praça was repainted.")
    with as_user(alice):
        operation = memory_forgets.forget_memory(user=alice, memory=memory)
    assert "zebra" not in told(OurTool(alice_key), command="view", path=P)
    assert found_notes(alice_key, "zebra") == []
    worker.drain()
    operation.refresh_from_db()
    assert operation.status == "succeeded"
    plan.refresh_from_db()
    assert plan.content == "# Plan\n\n- Buy oat milk.\n"
    assert not plan.versions.filter(content__contains="zebra").exists()


def test_secrets_and_what_is_too_much_are_refused_by_the_argument_s_name(
    alice_key: str, plan: MemoryFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    def send(**command: Any) -> Any:
        return Api(alice_key).post(TOOL, command)

    secret = "My password is hunter2-Zebra!"
    made = send(command="create", path="/memories/s.md", file_text=f"hello\n{secret}\n")
    assert refused(made, "file_text") == "Line 2: this looks like a secret."
    assert refused(
        send(command="str_replace", path=P, old_str="Buy oat milk.", new_str=secret), "new_str"
    )
    assert refused(send(command="insert", path=P, insert_line=0, insert_text=secret), "insert_text")
    assert refused(send(command="create", path="/memories/s.md", file_text="a\x00"), "file_text")
    large = "x" * (settings.MAX_FILE_BYTES + 1)
    error(send(command="create", path="/memories/s.md", file_text=large), 413, "too_large")
    assert not Refusal.objects.exists() and MemoryFile.objects.count() == 1
    for path in (
        "/memories/../x",
        "/memories/a\x00",
        "/memories/.x",
        "x",
        "/memories/" + "a" * 300,
    ):
        assert refused(send(command="create", path=path, file_text="x"), "path"), path
        assert refused(send(command="rename", old_path=P, new_path=path), "new_path"), path
    assert refused(send(command="create", path=f"{P}/below.md", file_text="x"), "path")
    assert refused(send(command="create", path="/memories/MEMORY.md/x", file_text="x"), "path")
    assert refused(send(command="fly", path=P), "command")
    assert refused(send(command="rename", path=P), "old_path")
    assert refused(send(command="view", path=P, view_range=[1]), "view_range")
    monkeypatch.setattr(settings, "MAX_FILES", 1)
    assert error(send(command="create", path="/memories/s.md", file_text="x"), 409, "conflict")


def test_free_text_of_the_curated_file_is_in_the_block_beside_the_notes(
    alice: User, alice_key: str
) -> None:
    ours, path = OurTool(alice_key), "/memories/MEMORY.md"
    make_memory(alice, "Lives in Lisbon")
    told(ours, command="view", path=path)
    text = "Ask about the zither before anything else."
    told(ours, command="insert", path=path, insert_line=1, insert_text=text)
    told(ours, command="create", path=P, file_text="Not of the curated file.")
    asked = {"message": "What now?", "conversation_id": "c1"}
    block = answer(Api(alice_key).post("/memory/context", asked))
    [files] = [one["text"] for one in block["sections"] if one["name"] == "files"]
    assert text in files and "Lisbon" not in files and "curated" not in files
    group = {**asked, "conversation_id": "c2", "conversation_kind": "group"}
    assert text not in answer(Api(alice_key).post("/memory/context", group))["block"]


def test_the_switch_and_strangers(
    alice: User, alice_key: str, mallory_key: str, product_key: str, plan: MemoryFile
) -> None:
    view = {"command": "view", "path": P}
    error(Api(mallory_key).post(TOOL, {**view, "user_id": "alice"}), 404, "not_found")
    error(Api(mallory_key).post(TOOL, view), 404, "not_found")
    assert refused(Api(product_key).post(TOOL, view), "user_id")
    reader = keys.create(name="reader", scopes=["read"], user=alice)[1]
    error(Api(reader).post(TOOL, view), 403, "not_allowed")
    users.change_settings(user=alice, changes={"longterm_enabled": False})
    made = {"command": "create", "path": "/memories/x.md", "file_text": "x"}
    error(Api(alice_key).post(TOOL, made), 409, "memory_off")
    renamed = {"command": "rename", "old_path": P, "new_path": "/memories/x.md"}
    error(Api(alice_key).post(TOOL, renamed), 409, "memory_off")
    assert "zebra" not in told(OurTool(alice_key), **view)
    assert "deleted" in told(OurTool(alice_key), command="delete", path=P)
