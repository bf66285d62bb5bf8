"""Long conversations: learned from, summarized, dropped from the window, and said to be."""

import re
from typing import Any

import pytest
from pytest_django import Settings

from conversations.models import Conversation, Summary, Turn
from conversations.recording import conversation_names, turns
from conversations.recording.turns import MessageInput
from memories.learning import joint_learning
from memories.models import Memory
from ops.accounts import users
from ops.models import User
from ops.queue import worker
from tests.factories import make_conversation, make_summary, make_turn
from tests.memories.pages import address, htmx, signed_in, text_of

pytestmark = pytest.mark.django_db
LINE = "what matters is kept as memories"


@pytest.fixture
def long(alice: User, settings: Settings) -> Conversation:
    settings.WINDOW_MESSAGES = 4
    conversation = make_conversation(alice)
    for number in range(5):
        make_turn(conversation, f"Remark {number}.", f"Noted {number}.")
    return conversation


def page_of(conversation: Conversation) -> str:
    return text_of(
        signed_in(conversation.user).get(address("conversation", conversation.public_id))
    )


def said_around(page: str) -> tuple[list[str], list[str]]:
    """What was remarked above the line, and what below it."""
    above, below = page.split(LINE)
    return re.findall(r"(?:Remark|Noted) \d", above), re.findall(r"(?:Remark|Noted) \d", below)


def test_each_compaction_flushes_once_and_rolls_the_summary_once(
    alice: User, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.WINDOW_MESSAGES, settings.SUMMARY_EVERY = 4, 4
    flushed: list[int] = []
    flush = joint_learning.flush

    def flushing(run: Any, *, through: int, **rest: Any) -> Any:
        flushed.append(through)
        return flush(run, through=through, **rest)

    monkeypatch.setattr(joint_learning, "flush", flushing)
    conversation = conversation_names.find_or_create(user=alice, reference="long")
    for number in range(6):
        said = "I am allergic to peanuts." if number == 0 else f"Remark {number}."
        question, answer = MessageInput(said), MessageInput("I see.")
        turns.record_turn(
            user=alice, conversation=conversation, user_message=question, assistant_message=answer
        )
        worker.drain()
    versions = Summary.objects.order_by("version").values_list("version", "through_number")
    assert list(versions) == [(1, 4), (2, 8)] and flushed == [4, 8]
    conversation.refresh_from_db()
    assert conversation.examined_through == 8
    assert Memory.objects.get(user=alice).content.endswith("llergic to peanuts")


def test_a_line_stands_where_the_window_begins_and_leads_to_the_summary(long: Conversation) -> None:
    assert LINE not in page_of(long)
    make_summary(long, "They talked about remarks.", through=6)
    page = page_of(long)
    assert said_around(page)[1] == ["Remark 3", "Noted 3", "Remark 4", "Noted 4"]
    assert f"?conversation={long.public_id}#layer-summary" in page


def test_a_page_without_the_line_has_the_place_that_an_answer_clears(long: Conversation) -> None:
    place = '<li id="summarized" hidden></li>'
    assert place in page_of(long)
    make_summary(long, "They talked about remarks.", through=6)
    assert page_of(long).count('id="summarized"') == 1 and place not in page_of(long)


def test_without_summaries_nothing_is_said_to_be_summarized(long: Conversation) -> None:
    make_summary(long, "They talked about remarks.", through=6)
    users.change_settings(user=long.user, changes={"summary_enabled": False})
    assert LINE not in page_of(long)


def test_the_line_moves_on_with_each_answer(long: Conversation) -> None:
    make_summary(long, "They talked about remarks.", through=6)
    url = address("conversation", long.public_id)
    page = text_of(signed_in(long.user).post(url, {"text": "Remark 5."}, headers=htmx("bubbles")))
    first = long.messages.get(content="Remark 4.").public_id
    assert f'hx-swap-oob="beforebegin:#{first}"' in page and page.count(LINE) == 1


@pytest.mark.parametrize(
    ("asked", "word"), [("Don't keep this: I keep bees.", "bees"), ("这个别记：我在养蜂。", "养蜂")]
)
def test_what_must_not_be_kept_is_in_no_episode_and_in_no_summary(
    alice: User, settings: Settings, asked: str, word: str
) -> None:
    settings.WINDOW_MESSAGES, settings.SUMMARY_EVERY = 4, 2
    conversation = conversation_names.find_or_create(user=alice, reference="c")
    for said in ("I live in Leeds.", asked, "I play the cello.", "I work as a nurse.", "Hello."):
        turns.record_turn(
            user=alice,
            conversation=conversation,
            user_message=MessageInput(said),
            assistant_message=MessageInput("Noted."),
        )
    worker.drain()
    told = [turn.user_message.content for turn in Turn.objects.filter(episode__isnull=False)]
    assert "I live in Leeds." in told and asked not in told
    texts = [one.text for one in Summary.objects.all()]
    assert texts and any("Leeds" in text for text in texts)
    assert not any(word in text for text in texts)
