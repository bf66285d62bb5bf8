from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from conversations.models import Conversation, Message, Turn
from memories.models import Memory
from ops.accounts import users
from ops.models import Operation, User
from tests.factories import make_conversation
from tests.memcenter.rest.client import Api, answer, error, refused

pytestmark = pytest.mark.django_db


def turn(**changes: Any) -> dict[str, Any]:
    plain = {
        "conversation_id": "c1",
        "user_message": "I play chess.",
        "assistant_message": "Nice.",
    }
    return plain | changes


def test_a_turn_is_recorded_with_its_operations(alice: User, alice_key: str) -> None:
    made = answer(Api(alice_key).post("/turns", turn()), 201)
    row = Turn.objects.get(user=alice)
    assert set(made) == {"conversation_id", "user_message_id", "assistant_message_id", "op_ids"}
    assert made["conversation_id"] == row.conversation.public_id
    assert made["user_message_id"] == row.user_message.public_id
    assert made["assistant_message_id"] == row.assistant_message.public_id
    asked = Operation.objects.filter(subject=alice.subject).values_list("public_id", flat=True)
    assert set(made["op_ids"]) == set(asked) and made["op_ids"]


def test_repeating_a_turn_of_the_same_ids_changes_nothing(alice: User, alice_key: str) -> None:
    body = turn(user_message_id="u1", assistant_message_id="a1")
    first = answer(Api(alice_key).post("/turns", body), 201)
    second = answer(Api(alice_key).post("/turns", body), 200)
    assert second == first | {"op_ids": []}
    assert Message.objects.filter(user=alice).count() == 2


def test_an_id_with_another_text_conflicts(alice: User, alice_key: str) -> None:
    body = turn(user_message_id="u1", assistant_message_id="a1")
    answer(Api(alice_key).post("/turns", body), 201)
    found = error(Api(alice_key).post("/turns", body | {"user_message": "No."}), 409, "conflict")
    assert "user_message_id" in found["fields"]


def test_a_turn_may_name_the_conversation_by_our_id(alice: User, product_key: str) -> None:
    conversation = make_conversation(alice)
    body = turn(conversation_id=conversation.public_id)
    refused(Api(product_key).post("/turns", body), "user_id")
    made = answer(Api(product_key).post("/turns", {**body, "user_id": "alice"}), 201)
    assert made["conversation_id"] == conversation.public_id


def test_messages_may_come_with_time_and_speaker(alice: User, alice_key: str) -> None:
    said = {"content": "Hello.", "created_at": "2024-05-01T10:00:00+02:00", "speaker": "Ann"}
    answer(Api(alice_key).post("/turns", turn(user_message=said)), 201)
    message = Message.objects.get(user=alice, role="user")
    assert message.created_at.isoformat() == "2024-05-01T08:00:00+00:00"
    assert message.speaker == "Ann"


def test_the_time_of_the_turn_is_that_of_its_messages(alice: User, alice_key: str) -> None:
    answer(Api(alice_key).post("/turns", turn(occurred_at="2024-05-01T10:00:00Z")), 201)
    times = Message.objects.filter(user=alice).values_list("created_at__year", flat=True)
    assert list(times) == [2024, 2024]


def test_project_kind_and_tools_are_kept(alice: User, alice_key: str) -> None:
    tools = [{"name": "search", "input": {"q": "chess"}, "output": [1, 2], "ok": True}]
    body = turn(project_key="p", conversation_kind="group", tools=tools)
    answer(Api(alice_key).post("/turns", body), 201)
    row = Turn.objects.get(user=alice)
    assert (row.project_key, row.tools, row.conversation.kind) == ("p", tools, "group")


def test_turns_are_recorded_while_memory_is_off(alice: User, alice_key: str) -> None:
    users.change_settings(user=alice, changes={"longterm_enabled": False})
    answer(Api(alice_key).post("/turns", turn()), 201)
    assert Turn.objects.filter(user=alice).exists() and not Memory.objects.exists()


BAD: list[tuple[str, object]] = [
    ("conversation_id", None),
    ("conversation_id", 7),
    ("conversation_id", ""),
    ("conversation_id", []),
    ("conversation_id", "x" * 201),
    ("conversation_id", "a\nb"),
    ("conversation_id", "msg_ours"),
    ("conversation_id", 2**70),
    ("user_message", None),
    ("user_message", ""),
    ("user_message", "   "),
    ("user_message", 7),
    ("user_message", ["text"]),
    ("user_message", {}),
    ("user_message", {"content": 7}),
    ("user_message", {"content": "a", "speaker": 7}),
    ("user_message", {"content": "a", "created_at": "yesterday"}),
    ("user_message", "x" * 32_001),
    ("user_message", "a\x00b"),
    ("assistant_message", None),
    ("assistant_message", {"content": ["x"]}),
    ("user_message_id", 7),
    ("user_message_id", ""),
    ("user_message_id", "x" * 201),
    ("user_message_id", "a\tb"),
    ("assistant_message_id", "conv_ours"),
    ("conversation_kind", "crowd"),
    ("conversation_kind", ["main"]),
    ("project_key", 7),
    ("project_key", "x" * 101),
    ("temporary", "yes"),
    ("temporary", 1),
    ("occurred_at", "yesterday"),
    ("occurred_at", "0001-01-01T00:00:00Z"),
    ("occurred_at", "9999-12-31T23:59:59-14:00"),
    ("occurred_at", 10**18),
    ("occurred_at", True),
    ("occurred_at", []),
    ("tools", "search"),
    ("tools", {"name": "search"}),
    ("tools", ["search"]),
    ("tools", [{"name": 7}]),
    ("tools", [{"input": {}}]),
    ("tools", [{"name": "x"}] * 101),
]


@pytest.mark.parametrize(("field", "value"), BAD)
def test_a_bad_field_is_named_and_nothing_is_recorded(
    field: str, value: object, alice: User, alice_key: str
) -> None:
    refused(Api(alice_key).post("/turns", turn(**{field: value})), field)
    assert not Conversation.objects.filter(user=alice).exists()


@pytest.mark.parametrize("field", ["conversation_id", "user_message", "assistant_message"])
def test_a_missing_field_is_named(field: str, alice: User, alice_key: str) -> None:
    body = turn()
    del body[field]
    refused(Api(alice_key).post("/turns", body), field)


def test_one_id_for_both_messages_is_refused(alice: User, alice_key: str) -> None:
    body = turn(user_message_id="same", assistant_message_id="same")
    refused(Api(alice_key).post("/turns", body), "assistant_message_id")


def test_a_strangers_conversation_is_not_found(alice: User, mallory_key: str) -> None:
    theirs = make_conversation(alice).public_id
    error(Api(mallory_key).post("/turns", turn(conversation_id=theirs)), 404, "not_found")


def test_another_kind_than_the_conversations_conflicts(alice: User, alice_key: str) -> None:
    make_conversation(alice, external_id="c1")
    found = error(Api(alice_key).post("/turns", turn(conversation_kind="group")), 409, "conflict")
    assert "conversation_kind" in found["fields"]


def test_a_turn_takes_as_many_queries_in_a_long_conversation(
    alice: User, alice_key: str, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    api = Api(alice_key)
    for _ in range(3):
        answer(api.post("/turns", turn()), 201)
    # Seven of its own, and one for its event in the audit log; a transaction of the test costs two
    # for entering and two for leaving.
    with django_assert_num_queries(12):
        answer(api.post("/turns", turn()), 201)
