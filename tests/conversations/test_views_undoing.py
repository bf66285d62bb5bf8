"""Taking back what a turn taught, and saying why an answer was rated so."""

import pytest
from django.test import Client

from conversations.models import Conversation, Feedback, Turn
from memories.models import Change, Memory
from ops.models import User
from tests.factories import make_decision, make_memory, make_turn, make_version
from tests.memories.pages import address, htmx, queries_of, signed_in, text_of

pytestmark = pytest.mark.django_db


def undo(client: Client, turn: Turn, memory: Memory, *, part: bool = False) -> str:
    url, given = address("turn_undo", turn.public_id), {"memory": memory.public_id}
    if part:
        return text_of(client.post(url, given, headers=htmx("used-here")))
    client.post(url, given)
    return text_of(client.get(address("conversation", turn.conversation.public_id)))


def test_what_a_turn_taught_goes_to_the_bin_and_can_come_back(
    alice: User, client: Client, turn: Turn
) -> None:
    memory = make_memory(alice, "Keeps bees", turns=[turn])
    make_decision(turn, memory, "ADD")
    text = undo(client, turn, memory)
    memory.refresh_from_db()
    assert memory.deleted_at is not None
    assert "Moved to the recycle bin." in text
    assert address("memory_restore", memory.public_id) in text
    assert "1 memory learned" not in text


def test_what_a_turn_changed_is_again_as_before(alice: User, client: Client, turn: Turn) -> None:
    memory = make_memory(alice, "Lives in Leeds")
    make_version(memory, "Lives in York", change=Change.REPLACED, turns=[turn])
    make_decision(turn, memory, "REPLACE", memory)
    text = undo(client, turn, memory, part=True)
    memory.refresh_from_db()
    assert (memory.content, memory.deleted_at) == ("Lives in Leeds", None)
    assert "Undone: the memory is as it was before. The message stays." in text
    assert "<html" not in text


def test_what_a_turn_retired_is_used_again(alice: User, client: Client, turn: Turn) -> None:
    newer = make_memory(alice, "My birthday is the 4th of May", turns=[turn])
    older = make_memory(alice, "He had his birthday", status="superseded", superseded_by=newer)
    make_decision(turn, newer, "ADD")
    undo(client, turn, older)
    older.refresh_from_db()
    newer.refresh_from_db()
    assert (older.status, older.superseded_by, older.deleted_at) == ("active", None, None)
    assert (newer.status, newer.deleted_at) == ("active", None)


def test_what_has_changed_since_is_left_as_it_is(alice: User, client: Client, turn: Turn) -> None:
    memory = make_memory(alice, "Lives in Leeds", turns=[turn])
    make_decision(turn, memory, "ADD")
    make_version(memory, "Lives in York", change=Change.EDITED)
    assert "It has changed since then" in undo(client, turn, memory)
    memory.refresh_from_db()
    assert (memory.content, memory.deleted_at) == ("Lives in York", None)


def test_only_what_the_turn_taught_is_taken_back(
    alice: User, mallory: User, client: Client, turn: Turn
) -> None:
    url = address("turn_undo", turn.public_id)
    for memory in (make_memory(alice, "Likes tea"), make_memory(mallory, "Likes tea")):
        assert client.post(url, {"memory": memory.public_id}).status_code == 404
        memory.refresh_from_db()
        assert memory.deleted_at is None
    own = make_memory(alice, "Keeps bees", turns=[turn])
    assert signed_in(mallory).post(url, {"memory": own.public_id}).status_code == 404
    assert client.get(url).status_code == 405


def test_a_rating_takes_a_comment_and_keeps_it(client: Client, turn: Turn) -> None:
    url = address("message_rate", turn.assistant_message.public_id)
    pressed = text_of(client.post(url, {"rating": "negative"}, headers=htmx("x")))
    assert "What was wrong with it?" in pressed
    client.post(url, {"rating": "negative", "comment": "Too long. 太长了"})
    client.post(url, {"rating": "positive"})
    found = Feedback.objects.get()
    assert (found.rating, found.comment) == ("positive", "Too long. 太长了")
    page = text_of(client.get(address("conversation", turn.conversation.public_id)))
    assert "Too long. 太长了" in page
    assert client.post(url, {"rating": "positive", "comment": "x" * 2_001}).status_code == 422


def test_a_visitor_who_was_signed_out_has_the_text_given_back(turn: Turn) -> None:
    for name in ("conversation", "conversation_edit"):
        url = address(name, turn.conversation.public_id)
        response = Client().post(url, {"text": "A long <thought>"})
        assert response.status_code == 401
        assert "A long &lt;thought&gt;" in text_of(response)
        assert address("sign_in") in text_of(response)


def test_a_page_of_the_chat_stays_small(alice: User, conversation: Conversation) -> None:
    for number in range(60):
        said = make_turn(conversation, f"What about colour {number}?", "It is **fine**. " * 12)
        make_memory(alice, f"Likes colour {number}", turns=[said])
    url = address("conversation", conversation.public_id)
    assert len(signed_in(alice).get(url).content) <= 100_000
    assert queries_of(alice, url) <= 21  # one of them looks for a forget that failed
