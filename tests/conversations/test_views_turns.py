"""What can be done to one turn: forget it, rate it, see what came of it."""

import pytest
from django.test import Client

from conversations.models import Conversation, Feedback, Message, Turn
from conversations.recording import turns
from conversations.recording.turns import MessageInput
from memories.extraction.types import OWNER_UNSURE
from memories.models import Arbitration, Memory, MemoryStatus, Refusal, SecretCategory
from ops.access import as_user
from ops.models import Operation, Status, User
from ops.queue import worker
from tests.conversations.answers import exchange
from tests.factories import make_decision, make_memory, make_message, make_turn
from tests.memories.pages import address, htmx, text_of

pytestmark = pytest.mark.django_db


def lessons(client: Client, turn: Turn, **query: str) -> str:
    url = address("turn_lessons", turn.public_id, **query)
    return text_of(client.get(url, headers=htmx(f"lessons-{turn.public_id}")))


@pytest.mark.parametrize(
    ("said", "is_withheld"), [("Don't keep this: I keep bees.", True), ("I keep bees.", False)]
)
def test_what_is_not_kept_as_asked_is_said_so(
    client: Client, conversation: Conversation, said: str, is_withheld: bool
) -> None:
    with as_user(conversation.user):
        turn = turns.record_turn(
            user=conversation.user,
            conversation=conversation,
            user_message=MessageInput(said),
            assistant_message=MessageInput("Ok."),
        ).turn
    worker.drain()
    assert ("Not kept, as you asked" in lessons(client, turn)) is is_withheld
    page = text_of(client.get(address("conversation", conversation.public_id)))
    assert ("Not kept, as you asked" in page) is is_withheld


def test_deleting_a_turn_says_what_goes_and_what_stays(
    alice: User, client: Client, conversation: Conversation, turn: Turn
) -> None:
    make_memory(alice, "Keeps bees", turns=[turn])
    make_turn(conversation, "And honey?")
    text = text_of(client.get(address("message_forget", turn.user_message.public_id)))
    assert f"the message “{turn.user_message.content}” and its reply" in text
    assert "1 memory based only on it: “Keeps bees”" in text
    assert "the rest of this conversation" in text


def test_a_turn_is_deleted_with_what_rests_on_it(
    alice: User, client: Client, conversation: Conversation, turn: Turn
) -> None:
    make_memory(alice, "Keeps bees", turns=[turn])
    other = make_turn(conversation, "And honey?")
    response = client.post(address("message_forget", turn.assistant_message.public_id))
    page = address("conversation", conversation.public_id)
    assert response["Location"].startswith(f"{page}?forgotten=op_")
    text = text_of(client.get(response["Location"]))
    assert "bees on the roof" not in text
    assert "And honey?" in text
    [toast] = text.split('<div class="toast toast--success"')[1:]
    assert "You’ll find the receipt under Data management." in toast
    assert f'href="{address("data_management")}#receipts"' in toast.split("</div>")[0]
    worker.drain()
    assert set(Message.everything.all()) == {other.user_message, other.assistant_message}
    assert not Memory.everything.exists()


def test_htmx_gets_the_messages_without_the_deleted_turn(
    client: Client, conversation: Conversation, turn: Turn
) -> None:
    make_turn(conversation, "And honey?")
    url = address("message_forget", turn.user_message.public_id)
    response = client.post(url, headers=htmx("bubbles"))
    text = text_of(response)
    assert "dialog-done" in response["HX-Trigger"]
    assert "And honey?" in text
    assert "bees on the roof" not in text
    assert "Forgotten. It’s no longer shown or used." in text


def test_a_message_without_a_reply_is_deleted_alone(
    client: Client, conversation: Conversation, turn: Turn
) -> None:
    message = make_message(conversation, "Are you there?")
    url = address("message_forget", message.public_id)
    assert "Delete and forget this message?" in text_of(client.get(url))
    client.post(url)
    assert list(Message.objects.order_by("pk").values_list("content", flat=True)) == [
        "I keep bees on the roof.",
        "How nice.",
    ]


def test_a_turn_that_was_deleted_is_not_there_any_more(client: Client, turn: Turn) -> None:
    url = address("message_forget", turn.user_message.public_id)
    assert client.post(url).status_code == 302
    assert client.get(url).status_code == 404


def test_an_answer_is_rated_and_the_rating_taken_back(client: Client, turn: Turn) -> None:
    answer = turn.assistant_message
    url = address("message_rate", answer.public_id)
    assert client.post(url, {"rating": "negative"})["Location"].endswith(f"#{answer.public_id}")
    assert Feedback.objects.get(message=answer).rating == "negative"
    text = text_of(client.post(url, {"rating": ""}, headers=htmx(f"rate-{answer.public_id}")))
    assert not Feedback.objects.exists()
    assert 'aria-pressed="true"' not in text


def test_htmx_gets_the_thumb_that_is_pressed(client: Client, turn: Turn) -> None:
    url = address("message_rate", turn.assistant_message.public_id)
    text = text_of(client.post(url, {"rating": "positive"}, headers=htmx("x")))
    assert text.count('aria-pressed="true"') == 1
    assert "<html" not in text


def test_a_very_bad_answer_is_offered_to_be_forgotten_with_one_tap(
    client: Client, turn: Turn
) -> None:
    answer = turn.assistant_message
    url = address("message_rate", answer.public_id)
    forget = f'action="{address("message_forget", answer.public_id)}"'
    text = text_of(client.post(url, {"rating": "negative"}, headers=htmx("x")))
    assert 'value="very_negative"' in text and forget not in text
    text = text_of(client.post(url, {"rating": "very_negative"}, headers=htmx("x")))
    assert forget in text and "Forget this exchange and everything learned from it?" in text
    page = text_of(client.get(address("conversation", turn.conversation.public_id)))
    assert forget in page
    client.post(address("message_forget", answer.public_id))
    assert not Message.objects.exists()


def test_an_unknown_rating_is_refused(client: Client, turn: Turn) -> None:
    url = address("message_rate", turn.assistant_message.public_id)
    assert client.post(url, {"rating": "splendid"}).status_code == 422
    assert not Feedback.objects.exists()


def test_only_answers_are_rated(client: Client, turn: Turn) -> None:
    url = address("message_rate", turn.user_message.public_id)
    assert client.post(url, {"rating": "positive"}).status_code == 422


def test_the_page_asks_again_until_the_turn_was_learned_from(
    alice: User, client: Client, conversation: Conversation
) -> None:
    said = exchange("I'm allergic to penicillin.", user=alice, conversation=conversation).turn
    assert 'hx-trigger="every 2s"' in lessons(client, said, **{"try": "1"})
    worker.drain()
    text = lessons(client, said, **{"try": "2"})
    assert "hx-trigger" not in text
    assert "1 memory learned" in text
    assert address("memory_page", Memory.objects.get().public_id) in text


def test_the_panel_is_told_when_the_learning_is_done(client: Client, turn: Turn) -> None:
    url = address("turn_lessons", turn.public_id)
    assert client.get(url, headers=htmx("x"))["HX-Trigger"] == "memories-learned"


def test_the_page_stops_asking_in_the_end(
    alice: User, client: Client, conversation: Conversation
) -> None:
    said = exchange("I live in Leeds.", user=alice, conversation=conversation).turn
    text = lessons(client, said, **{"try": "20"})
    assert "hx-trigger" not in text
    assert "Check back later" in text


@pytest.mark.parametrize("tries", ["x", "-1", "9999999999"])
def test_a_number_of_tries_that_makes_no_sense_is_the_last(
    alice: User, client: Client, conversation: Conversation, tries: str
) -> None:
    said = exchange("I live in Leeds.", user=alice, conversation=conversation).turn
    assert "hx-trigger" not in lessons(client, said, **{"try": tries})


def test_what_failed_for_good_is_not_waited_for(
    alice: User, client: Client, conversation: Conversation
) -> None:
    said = exchange("I live in Leeds.", user=alice, conversation=conversation).turn
    Operation.objects.update(status=Status.FAILED)
    assert "Learning" not in lessons(client, said)


def test_without_javascript_the_chips_are_on_the_page(
    client: Client, conversation: Conversation, turn: Turn
) -> None:
    response = client.get(address("turn_lessons", turn.public_id))
    page = address("conversation", conversation.public_id)
    assert response["Location"] == f"{page}#{turn.assistant_message.public_id}"


def test_learned_and_updated_memories_are_told_apart(
    alice: User, client: Client, turn: Turn
) -> None:
    made, changed = make_memory(alice, "Keeps bees"), make_memory(alice, "Lives in Leeds")
    known = make_memory(alice, "Likes honey")
    make_decision(turn, made, "ADD")
    make_decision(turn, changed, "REPLACE", changed)
    make_decision(turn, known, "SKIP", known)
    text = lessons(client, turn)
    assert "1 memory learned" in text
    assert "1 memory updated" in text
    assert known.public_id not in text


def test_the_card_of_an_updated_memory_shows_the_old_text_too(
    alice: User, client: Client, turn: Turn
) -> None:
    changed = make_memory(alice, "Teaches the middle class this year")
    decision = make_decision(turn, changed, "REPLACE", changed)
    Arbitration.objects.filter(pk=decision.pk).update(target_text="Is 36 years old")
    assert '<del dir="auto">Is 36 years old</del>' in lessons(client, turn)


def test_what_waits_for_review_leads_to_the_inbox(alice: User, client: Client, turn: Turn) -> None:
    make_decision(turn, make_memory(alice, "Keeps wasps", status=MemoryStatus.CANDIDATE), "REVIEW")
    text = lessons(client, turn)
    assert "1 to review" in text
    assert address("memory_review") in text


def test_a_secret_that_was_not_kept_is_mentioned(alice: User, client: Client, turn: Turn) -> None:
    Refusal.objects.create(user=alice, turn=turn, category=SecretCategory.PASSWORD)
    text = lessons(client, turn)
    assert "Not kept: looks like a password or code" in text
    assert "The message itself is still here." in text
    assert address("message_forget", turn.user_message.public_id) in text


def test_a_memory_that_is_being_forgotten_has_no_chip(
    alice: User, client: Client, turn: Turn
) -> None:
    memory = make_memory(alice, "Keeps bees")
    make_decision(turn, memory, "ADD")
    memory.hidden_at = turn.created_at
    memory.save()
    assert "learned" not in lessons(client, turn)


@pytest.fixture
def limit(alice: User, turn: Turn) -> Memory:
    """A limit that was heard in the turn, of which it is unclear whose it is."""
    memory = make_memory(
        alice, "allergic to walnuts", kind="constraint", status=MemoryStatus.CANDIDATE
    )
    memory.versions.update(reason=OWNER_UNSURE)
    make_decision(turn, memory, "ADD")
    return memory


def test_a_limit_that_may_be_somebody_elses_is_asked_about(
    client: Client, turn: Turn, limit: Memory
) -> None:
    text = lessons(client, turn)
    assert "“allergic to walnuts”: is this about you?" in text
    assert "to review" not in text


@pytest.mark.parametrize(("mine", "status"), [("yes", MemoryStatus.ACTIVE), ("no", None)])
def test_the_answer_keeps_the_limit_or_forgets_it(
    client: Client, turn: Turn, limit: Memory, mine: str, status: str | None
) -> None:
    url = address("turn_owner", turn.public_id)
    given = {"memory": limit.public_id, "mine": mine}
    text = text_of(client.post(url, given, headers=htmx(f"lessons-{turn.public_id}")))
    assert "is this about you?" not in text
    found = Memory.objects.filter(pk=limit.pk).first()
    assert (found.status if found else None) == status


def test_somebody_elses_limit_is_said_to_be_in_the_bin_and_can_be_put_back(
    client: Client, turn: Turn, limit: Memory
) -> None:
    url = address("turn_owner", turn.public_id)
    given = {"memory": limit.public_id, "mine": "no"}
    text = text_of(client.post(url, given, headers=htmx(f"lessons-{turn.public_id}")))
    restore = address("memory_restore", limit.public_id)
    assert "Moved to the recycle bin, as it’s not about you." in text and restore in text
    assert not Operation.objects.filter(kind__startswith="forget").exists()
    client.post(restore)
    assert "is this about you?" in lessons(client, turn)


@pytest.mark.parametrize("mine", ["yes", "no"])
def test_what_another_tab_answered_is_shown_as_it_is_now(
    client: Client, turn: Turn, limit: Memory, mine: str
) -> None:
    url = address("turn_owner", turn.public_id)
    for first in (mine, "no"):
        given = {"memory": limit.public_id, "mine": first}
        response = client.post(url, given, headers=htmx(f"lessons-{turn.public_id}"))
    assert response.status_code == 200
    assert "You have answered this already" in text_of(response)
    assert Memory.objects.filter(pk=limit.pk).exists() is (mine == "yes")


def test_what_another_tab_took_back_can_be_put_back(
    alice: User, client: Client, turn: Turn
) -> None:
    memory = make_memory(alice, "Keeps bees", turns=[turn])
    make_decision(turn, memory, "ADD")
    url = address("turn_undo", turn.public_id)
    for _ in range(2):
        response = client.post(url, {"memory": memory.public_id}, headers=htmx("used-here"))
        assert response.status_code == 200
    page = text_of(response)
    assert "It is in the recycle bin." in page
    assert address("memory_restore", memory.public_id) in page


def test_all_memories_that_a_correction_retires_are_named(
    alice: User, client: Client, turn: Turn
) -> None:
    won = make_memory(alice, "Off the inhaler", turns=[turn])
    make_decision(turn, won, "ADD")
    for text in ("On the inhaler", "Finn is 13"):
        lost = make_memory(alice, text, status=MemoryStatus.SUPERSEDED)
        Memory.objects.filter(pk=lost.pk).update(superseded_by=won)
    text = lessons(client, turn)
    assert "2 memories no longer used" in text
    assert "On the inhaler" in text and "Finn is 13" in text
    card = text.split("Finn is 13")[1].split("</li>")[0]
    assert "no longer used" in card and "Undo" in card and "learned" not in card


def test_only_what_is_asked_about_can_be_answered(
    alice: User, client: Client, turn: Turn, limit: Memory
) -> None:
    other = make_memory(alice, "Keeps wasps", status=MemoryStatus.CANDIDATE)
    url = address("turn_owner", turn.public_id)
    response = client.post(url, {"memory": other.public_id, "mine": "no"})
    assert response.status_code == 404
    assert Memory.objects.filter(pk=other.pk).exists()
