import pytest

from conversations.models import Conversation
from memories.models import RecallTrace
from ops.accounts import users
from ops.models import User
from tests.factories import (
    make_conversation,
    make_episode,
    make_memory,
    make_message,
    make_summary,
    make_turn,
)
from tests.memcenter.rest.client import Api, answer, error, refused

pytestmark = pytest.mark.django_db
ASK = {"message": "What must I not eat?"}


def test_the_block_holds_what_is_remembered(alice: User, alice_key: str) -> None:
    make_memory(alice, "Alice is allergic to peanuts.", kind="constraint")
    row = make_conversation(alice, external_id="c1")
    message = make_message(row, "Hello.")
    found = answer(Api(alice_key).post("/memory/context", {**ASK, "conversation_id": "c1"}))
    assert set(found) == {
        "request_id",
        "block",
        "tokens",
        "sections",
        "window",
        "items",
        "took_ms",
    }
    assert "allergic to peanuts" in found["block"] and found["tokens"] > 0
    assert found["sections"][0]["name"] == "constraints"
    assert found["window"] == [
        {"role": "user", "content": "Hello.", "message_id": message.public_id}
    ]
    item = found["items"][0]
    assert set(item) == {"type", "id", "text", "score", "rank", "components"}
    assert {"relevance", "recency", "importance"} <= set(item["components"])


def test_the_call_leaves_a_trace_by_its_request_id(alice: User, alice_key: str) -> None:
    found = answer(Api(alice_key).post("/memory/context", ASK))
    assert RecallTrace.objects.get(user=alice).request_id == found["request_id"]
    assert answer(Api(alice_key).get(f"/debug/{found['request_id']}"))["query"] == ASK["message"]


def test_nothing_of_anybody_else_is_recalled(alice: User, mallory: User, alice_key: str) -> None:
    make_memory(mallory, "Mallory is allergic to nuts.", kind="constraint")
    assert answer(Api(alice_key).post("/memory/context", ASK))["items"] == []


def test_a_new_users_block_is_empty(product_key: str) -> None:
    found = answer(Api(product_key).post("/memory/context", {**ASK, "user_id": "bob"}))
    assert found["items"] == [] and found["window"] == []


def test_a_conversation_that_is_not_there_yet_does_not_appear(alice: User, alice_key: str) -> None:
    answer(Api(alice_key).post("/memory/context", {**ASK, "conversation_id": "new"}))
    assert not Conversation.objects.exists()


def test_the_window_can_be_left_out(alice: User, alice_key: str) -> None:
    make_message(make_conversation(alice, external_id="c1"), "Hello.")
    body = {**ASK, "conversation_id": "c1", "include_window": False}
    assert answer(Api(alice_key).post("/memory/context", body))["window"] == []


def test_a_group_recalls_nothing_of_the_user(alice: User, alice_key: str) -> None:
    make_memory(alice, "Alice is allergic to peanuts.", kind="constraint")
    body = {**ASK, "conversation_kind": "group"}
    assert answer(Api(alice_key).post("/memory/context", body))["items"] == []


def test_a_project_that_nobody_has_adds_nothing(alice: User, alice_key: str) -> None:
    found = answer(Api(alice_key).post("/memory/context", {**ASK, "project_name": "New thing"}))
    assert found["items"] == []


@pytest.mark.parametrize("kinds", [["constraint"], ["PROFILE"], []])
def test_kinds_may_be_named(kinds: list[str], alice: User, alice_key: str) -> None:
    make_memory(alice, "Alice is allergic to peanuts.", kind="constraint")
    found = answer(Api(alice_key).post("/memory/context", {**ASK, "kinds": kinds}))
    assert len(found["items"]) == (0 if kinds == ["PROFILE"] else 1)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("message", None),
        ("message", ""),
        ("message", " \n"),
        ("message", 7),
        ("message", ["x"]),
        ("message", "x" * 32_001),
        ("message", "a\x00b"),
        ("conversation_id", 7),
        ("conversation_id", "x" * 201),
        ("conversation_kind", "crowd"),
        ("kinds", "fact"),
        ("kinds", [7]),
        ("kinds", ["gossip"]),
        ("kinds", {"fact": 1}),
        ("token_budget", 0),
        ("token_budget", 10**30),
        ("token_budget", "many"),
        ("token_budget", 1.5),
        ("token_budget", True),
        ("top_k", 0),
        ("top_k", 51),
        ("top_k", "6"),
        ("include_window", "no"),
        ("project_key", 7),
        ("language", 7),
    ],
)
def test_a_bad_field_is_named(field: str, value: object, alice: User, alice_key: str) -> None:
    refused(Api(alice_key).post("/memory/context", {**ASK, field: value}), field)


def test_a_strangers_conversation_is_not_found(alice: User, mallory_key: str) -> None:
    row = make_conversation(alice)
    body = {**ASK, "conversation_id": row.public_id}
    error(Api(mallory_key).post("/memory/context", body), 404, "not_found")


def test_the_summary_names_the_messages_that_it_covers(alice: User, alice_key: str) -> None:
    row = make_conversation(alice, external_id="c1")
    messages = [make_message(row, f"message {number}") for number in range(4)]
    make_summary(row, "They spoke.", through=3)
    found = answer(Api(alice_key).get("/memory/summary", conversation_id="c1"))
    assert found.pop("updated_at")
    assert found == {
        "text": "They spoke.",
        "version": 1,
        "covered_message_count": 3,
        "covered_from_message_id": messages[0].public_id,
        "covered_through_message_id": messages[2].public_id,
    }


def test_a_conversation_without_summary_is_not_found(alice: User, alice_key: str) -> None:
    make_conversation(alice, external_id="c1")
    error(Api(alice_key).get("/memory/summary", conversation_id="c1"), 404, "not_found")


@pytest.mark.parametrize("path", ["/memory/summary", "/memory/episodes"])
def test_the_conversation_must_be_named(path: str, alice: User, alice_key: str) -> None:
    refused(Api(alice_key).get(path), "conversation_id")


@pytest.mark.parametrize("path", ["/memory/summary", "/memory/episodes"])
def test_a_stranger_finds_no_session_memory(path: str, alice: User, mallory_key: str) -> None:
    row = make_conversation(alice, external_id="c1")
    make_summary(row, "They spoke.", through=1)
    for name in ("c1", row.public_id):
        error(Api(mallory_key).get(path, conversation_id=name), 404, "not_found")


def test_episodes_are_listed_newest_first(alice: User, alice_key: str) -> None:
    row = make_conversation(alice, external_id="c1")
    for said in ("I play chess.", "I drink tea."):
        make_episode(make_turn(row, said, "Nice."))
    found = answer(Api(alice_key).get("/memory/episodes", conversation_id="c1"))["results"]
    assert [one["user_message"] for one in found] == ["I drink tea.", "I play chess."]
    assert set(found[0]) == {
        "id",
        "user_message_id",
        "assistant_message_id",
        "similarity",
        "created_at",
        "user_message",
        "assistant_message",
    }


def test_episodes_are_found_by_likeness(alice: User, alice_key: str) -> None:
    row = make_conversation(alice, external_id="c1")
    for said in ("I drink tea every morning.", "I play chess with my sister."):
        make_episode(make_turn(row, said, "Nice."))
    query = {"conversation_id": "c1", "query": "chess with my sister", "limit": 1}
    found = answer(Api(alice_key).get("/memory/episodes", **query))["results"]
    assert [one["user_message"] for one in found] == ["I play chess with my sister."]
    assert 0 < found[0]["similarity"] <= 1


def test_a_query_finds_no_episode_while_they_are_off(alice: User, alice_key: str) -> None:
    make_episode(make_turn(make_conversation(alice, external_id="c1"), "I play chess."))
    users.change_settings(user=alice, changes={"episodic_enabled": False})
    api = Api(alice_key)
    query = {"conversation_id": "c1", "query": "chess"}
    assert answer(api.get("/memory/episodes", **query))["results"] == []
    assert len(answer(api.get("/memory/episodes", conversation_id="c1"))["results"]) == 1


def test_how_to_be_answered_and_what_is_pinned_stand_in_every_block(
    alice: User, alice_key: str
) -> None:
    wish = make_memory(alice, "希望助手用中文回答", kind="preference", standing=True)
    pinned = make_memory(alice, "Keeps bees", pinned=True)
    make_memory(alice, "偏好使用蓝色配色方案", kind="preference")
    found = answer(Api(alice_key).post("/memory/context", {"message": "Explain TCP to me"}))
    assert {one["id"] for one in found["items"]} == {wish.public_id, pinned.public_id}
    found = answer(
        Api(alice_key).post(
            "/memory/context", {"message": "Explain TCP to me", "kinds": ["preference"]}
        )
    )
    assert [one["id"] for one in found["items"]] == [wish.public_id]


def test_what_stands_in_every_block_counts_as_used_only_where_it_bears_on_the_question(
    alice: User, alice_key: str
) -> None:
    pinned = make_memory(alice, "Keeps bees", pinned=True)
    answer(Api(alice_key).post("/memory/context", {"message": "Explain TCP to me"}))
    pinned.refresh_from_db()
    assert pinned.access_count == 0
    answer(Api(alice_key).post("/memory/context", {"message": "Which bees do I keep?"}))
    pinned.refresh_from_db()
    assert pinned.access_count == 1


@pytest.mark.parametrize("confirms", [False, True])
def test_a_limit_that_waits_for_the_review_protects_already(
    alice: User, alice_key: str, confirms: bool
) -> None:
    users.change_settings(user=alice, changes={"confirm_before_remembering": confirms})
    make_memory(alice, "No lactose", kind="constraint", status="candidate")
    make_memory(alice, "Likes oats", kind="preference", status="candidate", pinned=True)
    found = answer(Api(alice_key).post("/memory/context", {"message": "What's for breakfast?"}))
    assert ("- No lactose (to be confirmed)" in found["block"]) is not confirms
    assert "oats" not in found["block"]
