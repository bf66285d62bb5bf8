import pytest

from conversations.models import Feedback, Message
from ops.models import User
from tests.factories import make_conversation, make_memory, make_message, make_turn
from tests.memcenter.rest.client import Api, answer, error, refused

pytestmark = pytest.mark.django_db


def test_a_message_is_rated_and_the_rating_changed_and_taken_back(
    alice: User, alice_key: str
) -> None:
    message = make_message(make_conversation(alice), "Hello.")
    api = Api(alice_key)

    def rate(rating: str | None, comment: str = "") -> object:
        body = {"message_id": message.public_id, "rating": rating, "comment": comment}
        return answer(api.post("/feedback", body))

    assert rate("positive", "kind") == {
        "id": message.public_id,
        "rating": "positive",
        "comment": "kind",
        "forget": None,
    }
    rate("very_negative", "rude")
    assert Feedback.objects.get().comment == "rude"
    assert rate(None) == {"id": message.public_id, "rating": None, "comment": "", "forget": None}
    assert not Feedback.objects.exists()


def test_a_memory_is_rated(alice: User, alice_key: str) -> None:
    memory = make_memory(alice, "Plays chess.")
    body = {"memory_id": memory.public_id, "rating": "negative", "comment": "wrong"}
    answer(Api(alice_key).post("/feedback", body))
    memory.refresh_from_db()
    assert (memory.feedback, memory.feedback_reason) == ("negative", "wrong")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"rating": "positive"}, "message_id"),
        ({"rating": "positive", "message_id": "a", "memory_id": "b"}, "message_id"),
        ({"message_id": "msg_x"}, "rating"),
        ({"message_id": "msg_x", "rating": "superb"}, "rating"),
        ({"message_id": "msg_x", "rating": 5}, "rating"),
        ({"message_id": 7, "rating": "positive"}, "message_id"),
        ({"message_id": "msg_x", "rating": "positive", "comment": 7}, "comment"),
        ({"message_id": "msg_x", "rating": "positive", "comment": "x" * 2_001}, "comment"),
    ],
)
def test_a_bad_field_is_named(
    body: dict[str, object], field: str, alice: User, alice_key: str
) -> None:
    refused(Api(alice_key).post("/feedback", body), field)


def test_a_stranger_rates_nothing(alice: User, mallory_key: str) -> None:
    message = make_message(make_conversation(alice), "Hello.")
    memory = make_memory(alice, "Plays chess.")
    for body in ({"message_id": message.public_id}, {"memory_id": memory.public_id}):
        error(Api(mallory_key).post("/feedback", {**body, "rating": "negative"}), 404)
    assert not Feedback.objects.exists()


def test_a_very_bad_answer_is_offered_to_be_forgotten(alice: User, alice_key: str) -> None:
    turn = make_turn(make_conversation(alice), "I play chess.", "You never win.")
    api = Api(alice_key)
    body = {"message_id": turn.assistant_message.public_id, "rating": "very_negative"}
    offer = answer(api.post("/feedback", body))["forget"]
    assert offer["scope"] == "message"
    assert answer(api.post("/memory/forget", offer), 202)["status"] == "accepted"
    assert not Message.objects.exists()
