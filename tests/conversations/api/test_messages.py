import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from conversations.models import Message, Turn
from conversations.recording import turns
from ops.models import Operation, User
from tests.factories import make_conversation, make_message, make_turn
from tests.memcenter.rest.client import Api, answer, error, refused

pytestmark = pytest.mark.django_db
PATH = "/conversations/c1/messages"
SHAPE = {
    "id",
    "external_id",
    "conversation_id",
    "role",
    "speaker",
    "content",
    "completed",
    "created_at",
    "token_count",
    "in_window",
    "feedback",
}


def test_a_message_is_recorded_and_its_conversation_appears(alice: User, alice_key: str) -> None:
    body = {"role": "user", "content": "Hello.", "message_id": "m1", "speaker": "Ann"}
    made = answer(Api(alice_key).post(PATH, body), 201)
    assert set(made) == SHAPE
    assert (made["external_id"], made["role"], made["speaker"]) == ("m1", "user", "Ann")
    assert made["in_window"] is True and made["feedback"] is None
    assert answer(Api(alice_key).get("/conversations/c1"))["message_count"] == 1


def test_the_same_message_again_changes_nothing(alice: User, alice_key: str) -> None:
    body = {"role": "user", "content": "Hello.", "message_id": "m1"}
    first = answer(Api(alice_key).post(PATH, body), 201)
    assert answer(Api(alice_key).post(PATH, body), 200) == first


def test_a_completed_reply_makes_a_turn(alice: User, alice_key: str) -> None:
    api = Api(alice_key)
    answer(api.post(PATH, {"role": "user", "content": "Hello."}), 201)
    answer(api.post(PATH, {"role": "assistant", "content": "Hi.", "completed": False}), 201)
    assert not Turn.objects.exists()
    answer(api.post(PATH, {"role": "user", "content": "And?"}), 201)
    answer(api.post(PATH, {"role": "assistant", "content": "Well."}), 201)
    assert Turn.objects.get().user_message.content == "And?"


def test_messages_are_listed_oldest_first_with_what_was_thought_of_them(
    alice: User, alice_key: str
) -> None:
    row = make_conversation(alice, external_id="c1")
    made = make_turn(row, "Hello.", "Hi.")
    turns.rate_message(
        user=alice, message=made.assistant_message, rating="positive", comment="kind"
    )
    found = answer(Api(alice_key).get(PATH))["results"]
    assert [one["content"] for one in found] == ["Hello.", "Hi."]
    assert [one["feedback"] for one in found] == [None, {"rating": "positive", "comment": "kind"}]


def test_what_has_left_the_window_is_marked(alice: User, alice_key: str) -> None:
    row = make_conversation(alice, external_id="c1")
    for number in range(22):
        make_message(row, f"message {number}")
    found = answer(Api(alice_key).get(PATH, limit=100))["results"]
    assert [one["in_window"] for one in found] == [False] * 2 + [True] * 20


def test_one_message(alice: User, alice_key: str) -> None:
    message = make_message(make_conversation(alice), "Hello.")
    found = answer(Api(alice_key).get(f"/messages/{message.public_id}"))
    assert set(found) == SHAPE and found["content"] == "Hello."


@pytest.mark.parametrize("cascade", [True, False])
def test_deleting_a_message_forgets_it(cascade: bool, alice: User, alice_key: str) -> None:
    made = make_turn(make_conversation(alice), "Hello.", "Hi.")
    api = Api(alice_key)
    path = f"/messages/{made.assistant_message.public_id}"
    accepted = answer(api.delete(path, cascade=str(cascade).lower()), 202)
    assert Operation.objects.get(public_id=accepted["op_id"]).kind == "forget_message"
    error(api.get(path), 404)
    asked = api.get(f"/messages/{made.user_message.public_id}")
    assert asked.status_code == (404 if cascade else 200)


@pytest.mark.parametrize("query", [{"cascade": "perhaps"}, {"casacde": "true"}])
def test_a_doubtful_deletion_deletes_nothing(
    query: dict[str, str], alice: User, alice_key: str
) -> None:
    message = make_message(make_conversation(alice), "Hello.")
    refused(Api(alice_key).delete(f"/messages/{message.public_id}", **query), next(iter(query)))
    assert Message.objects.filter(pk=message.pk).exists()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("role", "narrator"),
        ("role", None),
        ("role", 7),
        ("content", ""),
        ("content", "  "),
        ("content", None),
        ("content", ["x"]),
        ("content", "x" * 32_001),
        ("content", "a\x00b"),
        ("message_id", "msg_ours"),
        ("message_id", 7),
        ("message_id", "x" * 201),
        ("created_at", "yesterday"),
        ("created_at", {}),
        ("speaker", "x" * 101),
        ("speaker", 7),
        ("completed", "yes"),
    ],
)
def test_a_bad_field_is_named(field: str, value: object, alice: User, alice_key: str) -> None:
    body = {"role": "user", "content": "Hello.", field: value}
    refused(Api(alice_key).post(PATH, body), field)
    assert not Message.objects.exists()


def test_an_impossible_id_in_the_path_is_refused(alice: User, alice_key: str) -> None:
    body = {"role": "user", "content": "Hello."}
    api = Api(alice_key)
    refused(api.post("/conversations/msg_ours/messages", body), "conversation_id")
    refused(api.post(f"/conversations/{'x' * 201}/messages", body), "conversation_id")
    error(api.post("/conversations/conv_unknown/messages", body), 404)


def test_a_long_list_takes_as_many_queries_as_a_short_one(alice: User, alice_key: str) -> None:
    row = make_conversation(alice, external_id="c1")
    make_message(row, "the first")
    api = Api(alice_key)
    answer(api.get(PATH))
    counts = []
    for _ in range(2):
        with CaptureQueriesContext(connection) as queries:
            answer(api.get(PATH))
        counts.append(len(queries))
        for number in range(10):
            make_message(row, f"message {number}")
    assert counts[0] == counts[1]
