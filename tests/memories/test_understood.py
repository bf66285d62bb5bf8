"""What the reader understood of a message stays with it: not to be kept, and where secrets are."""

from __future__ import annotations

import pytest
from django.utils import timezone

from conversations.models import Conversation, Message, Withheld
from conversations.recording.episodes import IndexInput
from memories import language_steps
from memories.extraction import masking
from memories.extraction.bundled import BundledExtractor
from memories.forgetting import spoken_requests
from memories.indexing.conversation_texts import masked_message, masked_turn
from memories.models import Memory, RecallTrace
from memories.reader import Secret
from memories.screening import learned_secrets
from memories.screening.secret_search import PositionCache
from ops.access import as_user
from ops.models import User
from ops.queue import worker
from tests.factories import make_memory, make_trace
from tests.memories.extraction.readings import FakeReader, statement
from tests.memories.test_ingest import say
from tests.pair_reader import FakePairs

pytestmark = pytest.mark.django_db


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> FakeReader:
    """What the reader of learning and of screening hears."""
    fake = FakeReader()
    monkeypatch.setattr(language_steps, "bundled_extractor", lambda: BundledExtractor(fake))
    monkeypatch.setattr(learned_secrets, "reader", lambda: fake)
    monkeypatch.setattr(learned_secrets, "_known", PositionCache())
    return fake


def heard(conversation: Conversation, text: str) -> Message:
    say(conversation, text)
    worker.drain()
    return Message.objects.get(role="user")


@pytest.mark.parametrize(
    ("flags", "withheld"), [(["dont_keep_this"], Withheld.ASKED), ([], Withheld.NO)]
)
def test_a_message_that_is_not_to_be_kept_is_marked(
    conversation: Conversation, told: FakeReader, flags: list[str], withheld: Withheld
) -> None:
    text = "between us, I'm seeing somebody"
    told.hears(text, statement(text, "I'm seeing somebody"), flags=flags)
    trace = make_trace(conversation.user, text)
    other = make_trace(conversation.user, "What is my cat called?")

    assert heard(conversation, text).withheld == withheld
    queries = RecallTrace.objects.in_bulk([trace.pk, other.pk])
    assert queries[trace.pk].query == ("" if flags else text)
    assert queries[other.pk].query == other.query
    assert Memory.objects.exists() == (not flags)


def test_a_topic_that_is_not_to_be_kept_stays_out_of_later_messages(
    conversation: Conversation, told: FakeReader, pairs: FakePairs
) -> None:
    asked, later = "remember nothing about my divorce", "my lawyer is Ms Kane, I live in Leeds"
    told.hears(asked, flags=["dont_keep_topic"])
    told.hears(later, statement(later, "my lawyer is Ms Kane"), statement(later, "I live in Leeds"))
    alone = "the divorce is final"
    told.hears(alone, statement(alone, alone))
    pairs.means("my lawyer is Ms Kane")
    pairs.means(alone)
    for text in (asked, later, alone):
        say(conversation, text)
        worker.drain()

    assert [one.content for one in Memory.objects.all()] == ["I live in Leeds"]
    own = Message.objects.filter(role="user").order_by("number")
    marks = list(own.values_list("withheld", flat=True))
    assert marks == [Withheld.ASKED, Withheld.NO, Withheld.ASKED]


def test_a_topic_is_told_apart_without_the_added_subject(
    conversation: Conversation, told: FakeReader, pairs: FakePairs
) -> None:
    asked, later = "别记我前夫的事", "已经搬到成都了"
    told.hears(asked, flags=["dont_keep_topic"])
    told.hears(later, statement(later, later))
    pairs.means("[我]已经搬到成都了")
    for text in (asked, later):
        say(conversation, text)
        worker.drain()
    assert [one.content for one in Memory.objects.all()] == ["[我]已经搬到成都了"]


def test_a_message_that_is_gone_keeps_no_topic_out(
    conversation: Conversation, told: FakeReader, pairs: FakePairs
) -> None:
    asked, later = "remember nothing about my divorce", "I am seeing a lawyer"
    told.hears(asked, flags=["dont_keep_topic"])
    told.hears(later, statement(later, later))
    pairs.means(later)
    say(conversation, asked)
    worker.drain()
    Message.objects.filter(role="user").update(hidden_at=timezone.now())
    say(conversation, later)
    worker.drain()

    assert [one.content for one in Memory.objects.all()] == [later]


def test_a_secret_that_only_the_reader_sees_is_in_nothing_derived(
    conversation: Conversation, told: FakeReader
) -> None:
    text = "at the shed it's heron then otter then the year, I tend bees"
    hidden = "heron then otter then the year"
    start = text.index(hidden)
    told.hears(
        text,
        statement(text, "I tend bees"),
        secrets=[Secret(start, start + len(hidden), 0.9)],
    )

    message = heard(conversation, text)

    assert message.content == text
    assert message.secrets == [start, start + len(hidden)]
    assert "heron" not in masked_message(message)
    assert "heron" not in masked_turn(message.turn_as_question)[0]
    derived = IndexInput((message,), None).texts
    assert all("heron" not in one for one in derived)
    assert "heron" not in conversation_title(message)
    assert "heron" not in masking.screen(text).text
    assert [one.content for one in Memory.objects.all()] == ["I tend bees"]


def conversation_title(message: Message) -> str:
    message.conversation.refresh_from_db()
    return message.conversation.title


def test_messages_that_say_it_without_being_its_source_are_offered(
    alice: User, conversation: Conversation, told: FakeReader, pairs: FakePairs
) -> None:
    memory = make_memory(alice, "I live in Brno")
    again = say(conversation, "as I said, I live in Brno by the river").turn.user_message
    say(conversation, "Brno has good trams, I hear")
    worker.drain()
    pairs.means(memory.content)
    pairs.says(memory.content, again.content, "refines")

    asked = spoken_requests.requests_of_api_text("that I live in Brno")
    with as_user(alice):
        found = spoken_requests.find(asked, user=alice)

    assert [one.public_id for one in found.messages] == [again.public_id]
