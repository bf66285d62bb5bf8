from __future__ import annotations

import json
from typing import Any

import pytest
from django.conf import settings

from memories.files import daily_notes
from memories.models import Kind, Memory, MemoryFile
from ops.access import as_user
from ops.accounts import keys
from ops.models import AuditEvent, User
from tests.factories import make_memory
from tests.memcenter.rest.client import Api, answer, error, refused

pytestmark = pytest.mark.django_db
PATH = "/memory/files/MEMORY.md"
NOTHING: dict[str, list[str]] = {"created": [], "updated": [], "recycled": [], "to_review": []}


def put(key: str, content: Any, *, path: str = PATH, tag: str = "", **more: Any) -> Any:
    headers = {"If-Match": tag} if tag else None
    return Api(key).call("put", path, {"content": content, **more}, headers=headers)


def changes(body: dict[str, Any]) -> dict[str, Any]:
    return {name: body[name] for name in NOTHING}


def test_both_files_are_there_before_the_first_memory(alice: User, alice_key: str) -> None:
    api = Api(alice_key)
    listed = [one["path"] for one in answer(api.get("/memory/files"))["results"]]
    assert listed == ["MEMORY.md", "LEARNINGS.md"]
    texts = [answer(api.get(f"/memory/files/{path}"))["content"] for path in listed]
    assert texts == ["# Memory\n", "# Learnings\n"]


def test_the_files_are_listed_with_the_notes_last(alice: User, alice_key: str) -> None:
    make_memory(alice, "Lives in Lisbon")
    with as_user(alice):
        day = daily_notes.append("The boiler was fixed.", user=alice).note.day
    body = answer(Api(alice_key).get("/memory/files"))
    assert (body["next"], body["previous"]) == (None, None)
    found = {one.pop("path"): one for one in body["results"]}
    assert list(found) == ["MEMORY.md", "LEARNINGS.md", f"memory/{day}.md"]
    content = answer(Api(alice_key).get(PATH))["content"]
    assert found["MEMORY.md"]["bytes"] == len(content.encode())
    assert {"bytes", "version", "updated_at"} == set(found["MEMORY.md"])
    note = answer(Api(alice_key).get(f"/memory/files/memory/{day}.md/"))
    assert note["content"].endswith("The boiler was fixed.\n") and note["version"] == 0


def test_a_file_that_was_read_is_edited_and_read_again(alice: User, alice_key: str) -> None:
    memory = make_memory(alice, "Lives in Lisbon")
    read = Api(alice_key).get(PATH)
    text = answer(read)["content"]
    new = text.replace("Lisbon", "Porto") + "- Has a dog named Rufus\n"
    done = answer(put(alice_key, new, tag=read["ETag"]))
    created = Memory.objects.get(content="Has a dog named Rufus")
    assert changes(done) == {
        **NOTHING,
        "created": [created.public_id],
        "updated": [memory.public_id],
    }
    again = Api(alice_key).get(PATH)
    assert answer(again)["version"] == done["version"] == 2 and "Porto" in answer(again)["content"]
    event = AuditEvent.objects.get(action="file.edited")
    assert event.details["created"] == 1 and "Rufus" not in json.dumps(event.details)


def test_who_has_this_state_is_not_sent_it_again(alice: User, alice_key: str) -> None:
    make_memory(alice, "Lives in Lisbon")
    tag = Api(alice_key).get(PATH)["ETag"]
    for known in (tag, f'"old", W/{tag}', "*"):
        same = Api(alice_key).call("get", PATH, headers={"If-None-Match": known})
        assert (same.status_code, same.content, same["ETag"]) == (304, b"", tag)
    assert answer(Api(alice_key).call("get", PATH, headers={"If-None-Match": '"old"'}))


def test_an_edit_of_another_state_is_412(alice: User, alice_key: str) -> None:
    make_memory(alice, "Lives in Lisbon")
    read = Api(alice_key).get(PATH)
    make_memory(alice, "Plays the oboe")
    stale = put(alice_key, answer(read)["content"] + "- New\n", tag=read["ETag"])
    assert error(stale, 412, "conflict")
    assert error(put(alice_key, "x", tag='"a", "b"'), 412)
    answer(put(alice_key, answer(Api(alice_key).get(PATH))["content"], tag="*"))
    assert Memory.objects.count() == 2


def test_a_repeated_edit_with_one_key_is_done_once(alice: User, alice_key: str) -> None:
    text = answer(Api(alice_key).get(PATH))["content"] + "\n## fact\n\n- Keeps bees\n"
    once = {"Idempotency-Key": "k1"}
    bodies = [
        answer(Api(alice_key).call("put", PATH, {"content": text}, headers=once)) for _ in range(2)
    ]
    assert bodies[0] == bodies[1] and MemoryFile.objects.get(path="MEMORY.md").version == 2


def test_versions_come_back_as_edits(alice: User, alice_key: str) -> None:
    memory = make_memory(alice, "Plays the oboe")
    text = answer(Api(alice_key).get(PATH))["content"]
    line = f"- Plays the oboe <!-- {memory.public_id} -->\n"
    assert answer(put(alice_key, text.replace(line, "")))["recycled"] == [memory.public_id]
    listed = answer(Api(alice_key).get(f"{PATH}/versions", limit=1))
    assert [one["version"] for one in listed["results"]] == [2] and listed["next"]
    assert listed["results"][0]["actor"] == "api"
    done = answer(Api(alice_key).post(f"{PATH}/restore", {"version": 1}))
    assert done["created"] == [memory.public_id]
    assert answer(Api(alice_key).get(PATH))["content"] == text
    error(Api(alice_key).post(f"{PATH}/restore", {"version": 99}), 404, "not_found")
    assert refused(Api(alice_key).post(f"{PATH}/restore", {"version": 0}), "version")


def test_a_program_s_lines_wait_where_the_person_confirms(alice: User, product_key: str) -> None:
    settings_ = {"user_id": "alice", "confirm_before_remembering": True}
    answer(Api(product_key).patch("/memory/settings", settings_))
    text = "# Memory\n\n## preference\n\n- Drinks oolong tea\n"
    done = answer(put(product_key, text, user_id="alice"))
    memory = Memory.objects.get()
    assert changes(done) == {**NOTHING, "to_review": [memory.public_id]}
    assert (memory.status, memory.kind) == ("candidate", Kind.PREFERENCE)


def test_many_removals_are_decided_in_the_inbox(alice: User, alice_key: str) -> None:
    ids = {make_memory(alice, f"Statement number {n} stands").public_id for n in range(6)}
    answer(Api(alice_key).get(PATH))
    done = answer(put(alice_key, "# Memory\n"))
    assert set(done["to_review"]) == ids and done["recycled"] == []
    waiting = answer(Api(alice_key).get("/memory/long_term", status="candidate"))["results"]
    assert {one["id"] for one in waiting} == ids
    assert all(one["removal_asked_at"] and one["status"] == "active" for one in waiting)
    first, second, *_ = sorted(ids)
    decisions = [{"id": first, "decision": "accept"}, {"id": second, "decision": "reject"}]
    body = {"decisions": decisions}
    found = answer(Api(alice_key).post("/memory/long_term/confirm", body))["results"]
    assert [(one["result"], one.get("memory_id")) for one in found] == [
        ("accepted", None),
        ("rejected", second),
    ]
    assert Memory.visible.get(public_id=first).deleted_at is not None
    assert not Memory.objects.filter(public_id=second, removal_asked_at__isnull=False).exists()
    assert Memory.objects.filter(removal_asked_at__isnull=False).count() == 4


@pytest.mark.parametrize(
    "path", ["nothing.md", "../MEMORY.md", "%2e%2e/MEMORY.md", "memory/2026-13-01.md", "MEMORY.MD"]
)
def test_unknown_paths_are_not_found(alice_key: str, path: str) -> None:
    error(Api(alice_key).get(f"/memory/files/{path}"), 404, "not_found")
    error(put(alice_key, "x", path=f"/memory/files/{path}"), 404, "not_found")
    error(Api(alice_key).get(f"/memory/files/{path}/versions"), 404, "not_found")


def test_texts_that_cannot_be_kept_are_refused(alice: User, alice_key: str) -> None:
    for body in ({}, {"content": 5}, {"content": "a\x00b"}):
        assert refused(Api(alice_key).call("put", PATH, body), "content")
    error(Api(alice_key).call("put", PATH, b'{"content": "\xff"}'), 400, "invalid")
    error(put(alice_key, "x" * (settings.MAX_FILE_BYTES + 1)), 413, "too_large")
    assert refused(put(alice_key, "- x", path="/memory/files/memory/2026-03-01.md"), "path")
    assert refused(put(alice_key, "- My password is hunter2-Zebra!\n"), "content")
    assert not Memory.objects.exists()


def test_strangers_and_readers_reach_nothing(
    alice: User, mallory_key: str, product_key: str
) -> None:
    make_memory(alice, "Lives in Lisbon")
    for path in ("/memory/files", PATH, f"{PATH}/versions"):
        error(Api(mallory_key).get(path, user_id="alice"), 404, "not_found")
        assert refused(Api(product_key).get(path), "user_id")
    error(put(mallory_key, "# Gone\n", user_id="alice"), 404, "not_found")
    restore = {"user_id": "alice", "version": 1}
    error(Api(mallory_key).post(f"{PATH}/restore", restore), 404, "not_found")
    reader = keys.create(name="reader", scopes=["read"], user=alice)[1]
    error(put(reader, "# Memory\n"), 403, "not_allowed")
    assert "Lisbon" in answer(Api(reader).get(PATH))["content"]


def test_a_person_appears_with_the_first_file(product_key: str) -> None:
    done = answer(put(product_key, "## fact\n- Keeps bees\n", user_id="new"))
    assert len(done["created"]) == 1
