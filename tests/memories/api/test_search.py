from typing import Any

import pytest

from memories.models import Project
from ops.accounts import keys, users
from ops.models import User
from tests.factories import make_conversation, make_episode, make_memory, make_summary, make_turn
from tests.memcenter.rest.client import Api, answer, error, refused

pytestmark = pytest.mark.django_db


def search(key: str, query: str = "chess", **more: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = answer(Api(key).get("/search", query=query, **more))["results"]
    return found


def test_everything_of_a_user_is_searched(alice: User, alice_key: str) -> None:
    row = make_conversation(alice)
    turn = make_turn(row, "I play chess on Sundays.", "Chess is nice.")
    make_episode(turn)
    make_summary(row, "They spoke about chess.", through=2)
    make_memory(alice, "Alice plays chess.", turns=[turn])
    found = search(alice_key)
    assert {one["type"] for one in found} == {"memory", "message", "episode", "summary"}
    by_type = {one["type"]: one for one in found}
    assert by_type["episode"]["turn"] == {
        "user_message_id": turn.user_message.public_id,
        "assistant_message_id": turn.assistant_message.public_id,
    }
    assert by_type["message"]["conversation_id"] == row.public_id
    assert "conversation_id" not in by_type["memory"]


def test_in_a_group_only_what_was_said_there_and_its_project_is_found(
    alice: User, alice_key: str
) -> None:
    project = Project.objects.create(user=alice, key="club", name="Club")
    make_memory(alice, "Alice plays chess.")
    ours = make_memory(alice, "The club plays chess on Mondays.", project=project)
    make_turn(make_conversation(alice), "I play chess on Sundays.")
    group = make_conversation(alice, kind="group")
    make_turn(group, "Who plays chess?")
    there = {"conversation_id": group.public_id}
    found = search(alice_key, **there)
    assert {one["conversation_id"] for one in found} == {group.public_id}
    assert search(alice_key, conversation_kind="group") == []
    found = search(alice_key, **there, project_key="club")
    assert [one["id"] for one in found if one["type"] == "memory"] == [ours.public_id]
    assert {one.get("conversation_id") for one in found} == {group.public_id, None}
    assert len(search(alice_key, conversation_kind="main")) == 6
    refused(Api(alice_key).get("/search", query="x", conversation_kind="y"), "conversation_kind")


def test_the_answer_can_be_explained(alice: User, alice_key: str) -> None:
    make_memory(alice, "Alice plays chess.")
    api = Api(alice_key)
    found = answer(api.get("/search", query="chess"))
    assert set(found) == {"request_id", "results", "took_ms"}
    trace = answer(api.get(f"/debug/{found['request_id']}"))
    assert set(trace) == {"request_id", "query", "created_at", "took_ms", "stages", "hits"}
    assert trace["query"] == "chess" and trace["stages"]
    hit = trace["hits"][0]
    assert hit["id"] == found["results"][0]["id"] and hit["rank"] == 1
    assert set(hit) == {"type", "id", "rank", "score", "components", "in_block"}


def test_types_narrow_the_search(alice: User, alice_key: str) -> None:
    make_turn(make_conversation(alice), "I play chess.")
    make_memory(alice, "Alice plays chess.")
    assert {one["type"] for one in search(alice_key, types="memory")} == {"memory"}
    both = {one["type"] for one in search(alice_key, types="memory,message")}
    assert both == {"memory", "message"}
    repeated = answer(Api(alice_key).call("get", "/search?query=chess&types=memory&types=message"))
    assert {one["type"] for one in repeated["results"]} == both


def test_kind_tag_project_and_status_narrow_memories(alice: User, alice_key: str) -> None:
    project = Project.objects.create(user=alice, key="p")
    make_memory(alice, "Chess one.", kind="skill", tags=["game"], project=project)
    make_memory(alice, "Chess two.", kind="fact")
    make_memory(alice, "Chess three.", status="disabled")
    assert {one["text"] for one in search(alice_key)} == {"Chess one.", "Chess two."}
    for more in ({"kind": "skill"}, {"tag": "game"}, {"project_key": "p"}):
        assert [one["text"] for one in search(alice_key, **more)] == ["Chess one."]
    assert [one["text"] for one in search(alice_key, status="disabled")] == ["Chess three."]


def test_a_project_that_nobody_has_holds_no_memory(alice: User, alice_key: str) -> None:
    make_memory(alice, "Chess one.")
    assert search(alice_key, project_key="none") == []


def test_from_and_to_narrow_by_time(alice: User, alice_key: str) -> None:
    make_memory(alice, "Chess one.", created_at="2024-01-01T00:00Z")
    make_memory(alice, "Chess two.", created_at="2025-01-01T00:00Z")
    found = search(alice_key, **{"from": "2024-06-01", "to": "2025-06-01T00:00:00Z"})
    assert [one["text"] for one in found] == ["Chess two."]


def test_long_term_off_finds_no_memory(alice: User, alice_key: str) -> None:
    make_memory(alice, "Chess one.")
    users.change_settings(user=alice, changes={"longterm_enabled": False})
    assert search(alice_key) == []


def test_nothing_of_anybody_else_is_found(alice: User, mallory: User, alice_key: str) -> None:
    make_memory(mallory, "Mallory plays chess.")
    make_turn(make_conversation(mallory), "I play chess.")
    assert search(alice_key) == []


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("query", ""),
        ("query", "  "),
        ("query", "x" * 8_001),
        ("types", "memory,gossip"),
        ("kind", "gossip"),
        ("status", "gone"),
        ("tag", "x" * 51),
        ("from", "yesterday"),
        ("to", "0001-01-01"),
        ("limit", "0"),
        ("limit", "101"),
        ("limit", "many"),
        ("limit", "9" * 50),
        ("project_key", "x" * 101),
        ("conversation_id", "x" * 201),
    ],
)
def test_a_bad_parameter_is_named(field: str, value: str, alice: User, alice_key: str) -> None:
    refused(Api(alice_key).get("/search", **{"query": "chess", field: value}), field)


def test_a_strangers_conversation_is_not_found(alice: User, mallory_key: str) -> None:
    row = make_conversation(alice, external_id="c1")
    for name in ("c1", row.public_id):
        error(Api(mallory_key).get("/search", query="chess", conversation_id=name), 404)


def test_a_strangers_trace_is_not_found(alice: User, alice_key: str, mallory_key: str) -> None:
    path = f"/debug/{answer(Api(alice_key).get('/search', query='chess'))['request_id']}"
    error(Api(mallory_key).get(path), 404, "not_found")
    error(Api(alice_key).get(path, user_id="mallory"), 404, "not_found")
    error(Api(alice_key).get("/debug/req_unknown"), 404, "not_found")


def test_a_key_that_administers_reads_any_trace(alice: User, alice_key: str) -> None:
    path = f"/debug/{answer(Api(alice_key).get('/search', query='chess'))['request_id']}"
    admin = keys.create(name="admin", scopes=["read", "admin"])[1]
    refused(Api(admin).get(path), "user_id")
    assert answer(Api(admin).get(path, user_id="alice"))["query"] == "chess"
    root = User.objects.create_superuser("root", "a long enough one")
    of_root = keys.create(name="root's", scopes=["read", "admin"], user=root)[1]
    assert answer(Api(of_root).get(path))["query"] == "chess"
