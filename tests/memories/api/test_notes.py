from __future__ import annotations

import pytest

from memories.models import DailyNote
from ops.accounts import keys, users
from ops.models import User
from tests.memcenter.rest.client import Api, answer, error, refused

pytestmark = pytest.mark.django_db


def test_a_line_is_appended_and_says_where_it_stands(alice: User, alice_key: str) -> None:
    first = answer(Api(alice_key).post("/memory/append", {"text": "One.", "source": "cli"}), 201)
    second = answer(Api(alice_key).post("/memory/append", {"text": "Two."}), 201)
    note = DailyNote.objects.get(public_id=first["id"])
    assert set(first) == {"path", "line", "id", "text", "created_at"}
    assert (first["path"], first["line"]) == (f"memory/{note.day}.md", 1)
    assert first["text"].endswith("[cli] One.") and second["text"].endswith("[api] Two.")
    assert second["line"] == 2


def test_a_repeated_append_with_one_key_writes_one_line(alice: User, alice_key: str) -> None:
    once = {"Idempotency-Key": "k1"}
    for _ in range(2):
        response = Api(alice_key).call("post", "/memory/append", {"text": "A."}, headers=once)
        answer(response, 201)
    assert DailyNote.objects.count() == 1


def test_a_person_appears_with_the_first_line(product_key: str) -> None:
    answer(Api(product_key).post("/memory/append", {"user_id": "new", "text": "A."}), 201)
    assert DailyNote.objects.get().user == users.find("new")
    assert (
        "user_id" in error(Api(product_key).post("/memory/append", {"text": "A."}), 400)["fields"]
    )


@pytest.mark.parametrize("body", [{}, {"text": ""}, {"text": 5}, {"text": "x" * 8_001}])
def test_a_line_without_a_fitting_text_is_refused(alice_key: str, body: dict[str, object]) -> None:
    assert refused(Api(alice_key).post("/memory/append", body), "text")


def test_with_long_term_memory_off_a_line_is_a_conflict(alice: User, alice_key: str) -> None:
    users.change_settings(user=alice, changes={"longterm_enabled": False})
    error(Api(alice_key).post("/memory/append", {"text": "A."}), 409, "memory_off")


def test_strangers_and_readers_append_nothing(alice: User, mallory_key: str) -> None:
    body = {"user_id": "alice", "text": "A."}
    error(Api(mallory_key).post("/memory/append", body), 404, "not_found")
    reader = keys.create(name="reader", scopes=["read"], user=alice)[1]
    error(Api(reader).post("/memory/append", body), 403, "not_allowed")
    assert not DailyNote.objects.exists()


def test_lines_are_found_by_searching(alice: User, alice_key: str) -> None:
    written = answer(Api(alice_key).post("/memory/append", {"text": "The boiler was fixed."}), 201)
    found = answer(Api(alice_key).get("/search", query="boiler", types="note"))
    assert [one["id"] for one in found["results"]] == [written["id"]]
