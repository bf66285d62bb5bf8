from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.conf import settings
from django.db import connection

from conversations.models import Conversation, Message, Turn
from conversations.recording import conversation_names, turns
from conversations.recording.turns import MessageInput, RecordedTurn
from foundation.errors import Conflict, Invalid, NotFound
from memories.learning import learnability
from ops.access import as_user
from ops.accounts import users
from ops.models import Kind, Operation, User

pytestmark = pytest.mark.django_db


@pytest.fixture
def conversation(alice: User) -> Conversation:
    return conversation_names.find_or_create(user=alice, reference="c1")


def record(
    conversation: Conversation, said: str = "hi", reply: str = "hello", **ids: Any
) -> RecordedTurn:
    return turns.record_turn(
        user=conversation.user,
        conversation=conversation,
        user_message=MessageInput(said, external_id=ids.get("user_id")),
        assistant_message=MessageInput(reply, external_id=ids.get("assistant_id")),
    )


def test_a_turn_is_two_messages_in_order_with_its_operations(conversation: Conversation) -> None:
    turn = record(conversation)
    assert (turn.user_message.number, turn.assistant_message.number) == (1, 2)
    assert {one.kind for one in turn.operations} == {Kind.EXTRACT_TURN, Kind.INDEX_EPISODE}
    assert not turn.repeated


def test_operations_hold_ids_only(conversation: Conversation) -> None:
    turn = record(conversation, said="my secret plan")
    for operation in Operation.objects.all():
        assert operation.payload == {"turn": turn.turn.pk}
        assert operation.subject == conversation.user.subject


def test_repeating_a_turn_changes_nothing(conversation: Conversation) -> None:
    first = record(conversation, user_id="u1", assistant_id="a1")
    again = record(conversation, user_id="u1", assistant_id="a1")
    assert again.repeated and again.turn == first.turn and again.operations == ()
    assert Message.objects.count() == 2
    assert Operation.objects.count() == 2


def test_a_known_id_with_another_text_is_a_conflict(conversation: Conversation) -> None:
    record(conversation, user_id="u1", assistant_id="a1")
    with pytest.raises(Conflict) as caught:
        record(conversation, said="something else", user_id="u1", assistant_id="a1")
    assert "user_message_id" in caught.value.fields


def test_a_message_of_another_turn_is_a_conflict(conversation: Conversation) -> None:
    record(conversation, user_id="u1", assistant_id="a1")
    with pytest.raises(Conflict):
        record(conversation, user_id="u1", assistant_id="a2")
    assert Turn.objects.count() == 1


@pytest.mark.parametrize(
    ("said", "field"), [("", "user_message"), ("  \n", "user_message"), ("a\x00b", "user_message")]
)
def test_an_impossible_text_names_its_field(
    conversation: Conversation, said: str, field: str
) -> None:
    with pytest.raises(Invalid) as caught:
        record(conversation, said=said)
    assert list(caught.value.fields) == [field]
    assert Message.objects.count() == 0


def test_a_text_over_the_limit_is_refused(conversation: Conversation) -> None:
    with pytest.raises(Invalid) as caught:
        record(conversation, reply="x" * (settings.MAX_MESSAGE_CHARS + 1))
    assert list(caught.value.fields) == ["assistant_message"]


@pytest.mark.parametrize("wrong", ["msg_123", "", "a\nb", "x" * 201])
def test_ids_that_are_not_a_clients_are_refused(conversation: Conversation, wrong: str) -> None:
    with pytest.raises(Invalid):
        record(conversation, user_id=wrong)


def test_a_conversation_id_of_ours_must_exist(alice: User) -> None:
    with pytest.raises(NotFound):
        conversation_names.find_or_create(user=alice, reference="conv_unknown")


def test_a_strangers_conversation_is_not_found(conversation: Conversation, mallory: User) -> None:
    with pytest.raises(NotFound):
        conversation_names.resolve(user=mallory, reference=conversation.public_id)
    assert conversation_names.find_or_create(user=mallory, reference="c1") != conversation


def test_a_user_message_and_its_reply_become_a_turn(conversation: Conversation) -> None:
    def say(role: str, *, completed: bool = True) -> turns.RecordedMessage:
        return turns.record_message(
            user=conversation.user,
            conversation=conversation,
            message=MessageInput(f"by {role}", role=role, completed=completed),
        )

    assert say("user").turn is None
    reply = say("assistant")
    assert reply.turn is not None
    assert say("assistant").turn is None
    assert say("user").turn is None
    assert say("assistant", completed=False).turn is None


def test_while_memory_is_off_a_turn_is_heard_for_a_request_to_forget_alone(
    conversation: Conversation,
) -> None:
    users.change_settings(user=conversation.user, changes={"longterm_enabled": False})
    turn = record(conversation).turn
    assert turn is not None
    assert learnability.must_be_processed(turn) and learnability.was_said_while_off(turn)


def test_nothing_is_recorded_for_someone_who_is_being_forgotten(
    conversation: Conversation,
) -> None:
    User.objects.filter(pk=conversation.user_id).update(hidden_at="2026-01-01T00:00Z")
    with pytest.raises(Conflict) as caught:
        record(conversation)
    assert caught.value.code == "being_forgotten"


@pytest.mark.django_db(transaction=True)
def test_concurrent_turns_are_numbered_without_gaps_and_repeats_are_one() -> None:
    user = users.find_or_create("busy")
    with as_user(user):
        conversation = conversation_names.find_or_create(user=user, reference="c1")

    def one(number: int) -> None:
        try:
            with as_user(user):
                record(
                    conversation,
                    said=f"said {number % 10}",
                    reply=f"reply {number % 10}",
                    user_id=f"u{number % 10}",
                    assistant_id=f"a{number % 10}",
                )
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(one, range(30)))
    rows = Message.objects.filter(conversation=conversation).order_by("number")
    assert [row.number for row in rows] == list(range(1, 21))
    assert Turn.objects.count() == 10
    for turn in Turn.objects.select_related("user_message", "assistant_message"):
        assert turn.assistant_message.number == turn.user_message.number + 1
