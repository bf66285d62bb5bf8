"""USER.md, SOUL.md and TOOLS.md: written freely, in the block of main conversations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from conversations.block.assembly import LAYER_SHARE
from memories.files import file_sync, memory_files
from memories.files.grammar import LAYERS
from memories.forgetting import memory_forgets
from memories.models import DailyNote, FileVersion, Memory, MemoryFile, Origin
from ops.access import as_user
from ops.accounts import users
from ops.forgetting import person_forgets as everything
from ops.models import Operation, Receipt, User
from ops.queue import worker
from tests.factories import make_conversation, make_memory, make_turn
from tests.memcenter.rest.client import Api, answer, error, refused
from tests.memories.pages import address, signed_in, text_of
from tests.transfer.rich import data_of, export

pytestmark = pytest.mark.django_db
LONGEST_ITEM = 25  # tokens of an item of the tests, which may be the first that no longer fits
SOUL = "# Manner\n\n- Answer briefly.\n- Never flatter.\n"


def put(key: str, path: str, content: str, *, tag: str = "") -> Any:
    headers = {"If-Match": tag} if tag else None
    return Api(key).call("put", f"/memory/files/{path}", {"content": content}, headers=headers)


def write(user: User, path: str, text: str) -> MemoryFile:
    ready = memory_files.prepare(text, user=user, path=path, surface="page")
    with as_user(user):
        memory_files.apply(ready, user=user)
    return MemoryFile.objects.get(user=user, path=path)


def block(key: str, **asked: Any) -> dict[str, Any]:
    body = {"message": "What now?", **asked}
    found: dict[str, Any] = answer(Api(key).post("/memory/context", body))
    return found


def sections(found: dict[str, Any]) -> dict[str, str]:
    return {one["name"]: one["text"] for one in found["sections"]}


def said_on_disk(word: str) -> list[Path]:
    root = Path(settings.DATA_DIR) / "memory-files"
    return [one for one in root.rglob("*") if one.is_file() and word in one.read_text()]


@pytest.mark.parametrize("path", LAYERS)
def test_a_layer_is_made_by_the_first_put_and_edited_by_the_next(
    alice: User, alice_key: str, path: str
) -> None:
    error(Api(alice_key).get(f"/memory/files/{path}"), 404, "not_found")
    done = answer(put(alice_key, path, SOUL))
    assert (done["path"], done["version"], done["created"]) == (path, 1, [])
    read = Api(alice_key).get(f"/memory/files/{path}")
    assert answer(read)["content"] == SOUL
    answer(put(alice_key, path, SOUL + "- Use metric units.\n", tag=read["ETag"]))
    error(put(alice_key, path, "# Late\n", tag=read["ETag"]), 412)
    versions = answer(Api(alice_key).get(f"/memory/files/{path}/versions"))["results"]
    assert [one["version"] for one in versions] == [2, 1]
    answer(Api(alice_key).post(f"/memory/files/{path}/restore", {"version": 1}))
    assert answer(Api(alice_key).get(f"/memory/files/{path}"))["content"] == SOUL
    assert not Memory.objects.exists()


def test_layers_are_listed_after_the_curated_files_where_they_were_written(
    alice: User, alice_key: str
) -> None:
    write(alice, "TOOLS.md", "Use ruff.")
    create = {"command": "create", "path": "/memories/a.md", "file_text": "x"}
    answer(Api(alice_key).post("/memory/files/tool", create))
    listed = answer(Api(alice_key).get("/memory/files"))["results"]
    assert [one["path"] for one in listed] == ["MEMORY.md", "LEARNINGS.md", "TOOLS.md", "a.md"]


def test_the_memory_tool_writes_edits_and_deletes_a_layer(alice: User, alice_key: str) -> None:
    tool, path = Api(alice_key), "/memories/SOUL.md"
    create = {"command": "create", "path": path, "file_text": SOUL}
    answer(tool.post("/memory/files/tool", create))
    error(tool.post("/memory/files/tool", create), 409, "conflict")
    edit = {"command": "str_replace", "path": path, "old_str": "briefly", "new_str": "at length"}
    answer(tool.post("/memory/files/tool", edit))
    assert "Answer at length." in sections(block(alice_key))["soul"]
    answer(tool.post("/memory/files/tool", {"command": "delete", "path": path}))
    assert block(alice_key)["block"] == ""
    with as_user(alice):
        [binned] = memory_files.binned_notes(alice)
        memory_files.restore_note_from_bin(alice, file_id=binned.pk)
    assert "Answer at length." in sections(block(alice_key))["soul"]


def test_each_layer_stands_in_the_block_under_its_name_and_in_its_order(
    alice: User, alice_key: str
) -> None:
    write(alice, "TOOLS.md", "Use ruff.")
    write(alice, "USER.md", "A teacher of physics.\nLives by the sea.")
    write(alice, "SOUL.md", SOUL)
    make_memory(alice, "Allergic to peanuts", kind="constraint")
    found = block(alice_key)
    assert [one["name"] for one in found["sections"]] == ["constraints", "user", "soul", "tools"]
    shown = sections(found)
    assert shown["user"] == (
        "## USER.md: about the user\n- A teacher of physics.\n- Lives by the sea."
    )
    assert shown["soul"].splitlines()[1:] == ["- Manner", "- Answer briefly.", "- Never flatter."]
    assert shown["tools"].startswith("## TOOLS.md")
    chinese = sections(block(alice_key, language="zh"))
    assert chinese["soul"].startswith("## SOUL.md：助手的风格")


def test_lines_keep_the_order_of_the_file_when_some_move_and_others_come(
    alice: User, alice_key: str
) -> None:
    write(alice, "USER.md", "One.\nTwo.\nTwo.\nThree.")
    kept = set(DailyNote.objects.values_list("pk", flat=True))
    write(alice, "USER.md", "New.\nThree.\nTwo.\nOne.\nTwo.")
    assert sections(block(alice_key))["user"].splitlines()[1:] == [
        "- New.",
        "- Three.",
        "- Two.",
        "- One.",
    ]
    assert kept < set(DailyNote.objects.values_list("pk", flat=True))


def test_a_layer_is_absent_in_groups_and_with_memory_off(alice: User, alice_key: str) -> None:
    write(alice, "USER.md", "A teacher of physics.")
    group = make_conversation(alice, kind="group")
    for asked in ({"conversation_kind": "group"}, {"conversation_id": group.public_id}):
        assert "teacher" not in block(alice_key, **asked)["block"]
    assert "teacher" in block(alice_key, conversation_kind="main")["block"]
    users.change_settings(user=alice, changes={"longterm_enabled": False})
    assert "teacher" not in block(alice_key)["block"]
    error(put(alice_key, "USER.md", "A nurse."), 409, "memory_off")
    error(put(alice_key, "SOUL.md", "Be kind."), 409, "memory_off")
    assert "teacher" in answer(Api(alice_key).get("/memory/files/USER.md"))["content"]


def test_each_layer_has_its_own_share_and_pushes_no_memory_out(alice: User, alice_key: str) -> None:
    """Long layers leave the other sections the rest of the budget, as `docs/files.md` says."""
    budget = 600
    for number in range(12):
        make_memory(alice, f"Never use method number {number} in the report", kind="constraint")
    for number in range(24):
        make_memory(alice, f"Filed report {number} about the harbour on a Monday", pinned=True)
    alone = block(alice_key, token_budget=budget)
    for path in LAYERS:
        write(alice, path, "\n".join(f"Line {number} of {path}." for number in range(25)))
    found = block(alice_key, token_budget=budget)

    before, shown = ({one["name"]: one for one in it["sections"]} for it in (alone, found))
    names = [Path(path).stem.lower() for path in LAYERS]
    share = budget * LAYER_SHARE // 100
    kept = 1 - LAYER_SHARE * len(LAYERS) / 100
    assert found["tokens"] <= budget
    assert all(shown[name]["tokens"] > 0 for name in names)
    taken = sum(shown[name]["tokens"] for name in names)
    freed = sum(before[name]["tokens"] - shown[name]["tokens"] for name in before)
    assert taken <= share * len(LAYERS) + (budget - alone["tokens"])
    assert freed <= share * len(LAYERS) + LONGEST_ITEM
    for name in before:
        assert shown[name]["tokens"] >= kept * before[name]["tokens"] - LONGEST_ITEM


def test_layers_and_memories_are_both_in_a_main_conversation_and_neither_in_a_group(
    alice: User, alice_key: str
) -> None:
    for path in LAYERS:
        write(alice, path, f"Kept in {path}.")
    make_memory(alice, "Allergic to peanuts", kind="constraint")
    kinds = {kind: make_conversation(alice, kind=kind) for kind in ("main", "group")}
    blocks = {
        kind: block(alice_key, conversation_id=one.public_id)["block"]
        for kind, one in kinds.items()
    }
    said = [f"Kept in {path}." for path in LAYERS] + ["Allergic to peanuts"]
    assert [text for text in said if text not in blocks["main"]] == []
    assert [text for text in said if text in blocks["group"]] == []


def test_a_layer_is_its_owner_s_alone(alice: User, alice_key: str, mallory_key: str) -> None:
    write(alice, "USER.md", "A teacher of physics.")
    error(Api(mallory_key).get("/memory/files/USER.md"), 404, "not_found")
    assert "teacher" not in block(mallory_key)["block"]
    answer(put(mallory_key, "USER.md", "Hers."))
    assert "teacher" in answer(Api(alice_key).get("/memory/files/USER.md"))["content"]


def test_secrets_are_refused_by_their_lines(alice: User, alice_key: str) -> None:
    text = "Deploys on Fridays.\nMy password is hunter2-Xy9!"
    assert "2" in str(refused(put(alice_key, "TOOLS.md", text), "content"))
    assert not MemoryFile.objects.filter(path="TOOLS.md").exists()


def test_a_layer_cannot_lie_where_a_folder_is_nor_the_other_way_round(
    alice: User, alice_key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = {"command": "create", "file_text": "x", "path": "/memories/USER.md/a.md"}
    refused(Api(alice_key).post("/memory/files/tool", tool), "path")
    monkeypatch.setattr(settings, "MAX_FILES", 0)
    answer(put(alice_key, "USER.md", "A teacher."))


def test_what_is_forgotten_leaves_layers_versions_copies_and_the_block(
    alice: User, alice_key: str
) -> None:
    said = "Was treated for zebrafish fever in Antananarivo"
    file = write(alice, "USER.md", f"A teacher.\n- {said}\n")
    write(alice, "USER.md", f"A teacher.\n- {said}\n- And she {said.lower()} last year.\n")
    file_sync.sync(alice)
    assert len(said_on_disk("zebrafish")) == 1
    memory = make_memory(alice, said, origin=Origin.EXTRACTED)
    with as_user(alice):
        operation = memory_forgets.forget_memory(user=alice, memory=memory)
    assert said not in block(alice_key)["block"]
    assert said not in answer(Api(alice_key).get("/memory/files/USER.md"))["content"]
    worker.drain()
    file.refresh_from_db()
    assert file.content == "A teacher.\n"
    assert not FileVersion.everything.filter(content__icontains="zebrafish").exists()
    assert not DailyNote.everything.filter(text__icontains="zebrafish").exists()
    assert "zebrafish" not in block(alice_key)["block"] and said_on_disk("zebrafish") == []
    receipt = Receipt.objects.get(operation=operation)
    assert receipt.scan["residue"] == 0


def test_layers_are_exported_and_go_with_the_person(alice: User) -> None:
    write(alice, "SOUL.md", SOUL)
    file_sync.sync(alice)
    rows = data_of(export(alice))["data"]["memoryfile"]
    assert {"SOUL.md": SOUL}.items() <= {row["path"]: row["content"] for row in rows}.items()
    with as_user(alice):
        everything.forget_user(user=alice)
    worker.drain()
    assert Operation.objects.filter(kind="forget_user", status="succeeded").exists()
    assert not MemoryFile.everything.exists() and said_on_disk("flatter") == []


def test_the_page_offers_all_three_and_writes_one(alice: User) -> None:
    client = signed_in(alice)
    empty = text_of(client.get(address("memory_files")))
    assert all(path in empty for path in LAYERS) and empty.count("Nothing written yet") == 3
    page = text_of(client.get(address("memory_file", "SOUL.md")))
    assert address("memory_file_edit", "SOUL.md") in page
    assert address("memory_file_history", "SOUL.md") not in page and "recycle bin" not in page
    form = client.get(address("memory_file_edit", "SOUL.md")).context["form"]
    saved = {"content": SOUL, "tag": form["tag"].value()}
    client.post(address("memory_file_edit", "SOUL.md"), saved)
    assert "Never flatter." in text_of(client.get(address("memory_file", "SOUL.md")))
    listed = text_of(client.get(address("memory_files")))
    assert listed.count("Nothing written yet") == 2 and "No notes yet" in listed
    late = client.post(address("memory_file_edit", "SOUL.md"), saved | {"content": "Be loud."})
    assert late.status_code == 409
    client.post(address("memory_file_delete", "SOUL.md"))
    assert text_of(client.get(address("memory_files"))).count("Nothing written yet") == 3


def test_the_stack_of_a_conversation_shows_the_layers_that_say_something(alice: User) -> None:
    make_turn(make_conversation(alice), "Hello.")
    write(alice, "SOUL.md", SOUL)
    page = text_of(signed_in(alice).get(address("memory_conversation")))
    assert "Never flatter." in page.split('id="layer-soul"')[1].split('id="layer-files"')[0]
    assert 'id="layer-user"' not in page and 'id="layer-tools"' not in page
