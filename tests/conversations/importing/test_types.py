from datetime import UTC, datetime, timedelta

from conversations.importing.formats.values import (
    ImportedConversation,
    ImportedMessage,
    ImportedTurn,
)
from tests.conversations.importing.parts import unpaired

START = datetime(2026, 3, 2, 9, tzinfo=UTC)


def conversation(script: str) -> ImportedConversation:
    """`u` a user's message, `a` a reply, `A` a reply that was cut off, `U` an unsent question."""
    messages = tuple(
        ImportedMessage(
            client_id=str(number),
            role="user" if letter in "uU" else "assistant",
            speaker="",
            content=letter,
            created_at=START + timedelta(minutes=number),
            completed=letter.islower(),
        )
        for number, letter in enumerate(script)
    )
    return ImportedConversation("c", "", "main", START, messages)


def shape(script: str) -> list[str]:
    return [
        part.user.client_id + part.assistant.client_id
        if isinstance(part, ImportedTurn)
        else part.client_id
        for part in conversation(script).parts()
    ]


def test_a_question_with_the_reply_right_after_it_is_a_turn() -> None:
    assert shape("uaua") == ["01", "23"]


def test_a_reply_without_a_question_stays_a_message() -> None:
    assert shape("aua") == ["0", "12"]


def test_of_two_questions_the_reply_belongs_to_the_second() -> None:
    assert shape("uua") == ["0", "12"]


def test_a_second_reply_stays_a_message() -> None:
    assert shape("uaa") == ["01", "2"]


def test_a_question_at_the_end_stays_a_message() -> None:
    assert shape("uau") == ["01", "2"]


def test_a_reply_that_was_cut_off_makes_no_turn() -> None:
    assert shape("uAua") == ["0", "1", "23"]


def test_an_unsent_question_makes_no_turn() -> None:
    assert shape("Ua") == ["0", "1"]


def test_every_message_is_in_exactly_one_turn_or_alone() -> None:
    told = conversation("auuaaUauAu")

    paired = [m for turn in told.turns for m in (turn.user, turn.assistant)]

    assert {*paired, *unpaired(told)} == set(told.messages)
    assert len(paired) + len(unpaired(told)) == len(told.messages)


def test_a_conversation_without_messages_has_no_parts() -> None:
    assert shape("") == []
