"""What is asked for in so many words: remember, correct, forget, in the chat and by `/turns`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from conversations.models import Conversation
from conversations.recording import conversation_names
from memories.models import Memory, MemoryStatus, MemoryVersion, Origin
from memories.writing import direct_writes
from memories.writing.direct_writes import MemoryInput
from ops.accounts import users
from ops.models import Receipt, User
from ops.queue import worker
from tests.conversations.answers import exchange
from tests.memcenter.rest.client import Api, answer
from tests.memories.extraction.readings import statement
from tests.memories.plain_reader import PlainReader
from tests.pair_reader import FakePairs

pytestmark = pytest.mark.django_db


@dataclass(frozen=True)
class Words:
    remember: str
    remembered: str
    told: str
    before: str
    correct: str
    after: str
    forget: str


WORDS = {
    "en": Words(
        "Please remember that I am allergic to penicillin.", "I am allergic to penicillin",
        "I live in Leeds.", "I live in Leeds",
        "No, that's wrong: I live in York.", "I live in York",
        "Forget that I live in York.",
    ),
    "zh": Words(
        "请记住，我对青霉素过敏。", "我对青霉素过敏",
        "我住在杭州。", "我住在杭州",
        "不对，我住在苏州。", "我住在苏州",
        "请忘掉我住在苏州这件事。",
    ),
}  # fmt: skip
Say = Callable[[str], None]


@pytest.fixture(params=["chat", "turns"])
def say(request: pytest.FixtureRequest, alice: User, alice_key: str) -> Say:
    """Say it there, and let all be done that follows."""
    if request.param == "chat":
        conversation: Conversation = conversation_names.create(user=alice, external_id=None)

        def in_the_chat(text: str) -> None:
            exchange(text, user=alice, conversation=conversation)
            worker.drain()

        return in_the_chat
    api = Api(alice_key)

    def by_turns(text: str) -> None:
        said = {"conversation_id": "c1", "user_message": text, "assistant_message": "OK."}
        answer(api.post("/turns", said), 201)
        worker.drain()

    return by_turns


@pytest.fixture(params=WORDS)
def words(request: pytest.FixtureRequest, pairs: FakePairs, plain_reader: PlainReader) -> Words:
    found = WORDS[request.param]
    remembered = statement(found.remember, found.remembered)
    plain_reader.hears(found.remember, remembered, flags=["remember"])
    plain_reader.hears(found.correct, statement(found.correct, found.after, change="corrects"))
    plain_reader.hears(found.forget, flags=["forget"])
    pairs.says(found.before, found.after, "contradicts")
    pairs.means(found.after)
    return found


def texts() -> list[str]:
    return list(Memory.objects.filter(status=MemoryStatus.ACTIVE).values_list("content", flat=True))


def test_what_is_to_be_remembered_is_and_counts_much(say: Say, words: Words) -> None:
    say(words.remember)
    memory = Memory.objects.get()
    assert (memory.content, memory.status) == (words.remembered, MemoryStatus.ACTIVE)
    assert memory.importance >= 0.8


def test_a_correction_wins_and_the_old_text_is_a_version(say: Say, words: Words) -> None:
    say(words.told)
    assert texts() == [words.before]
    say(words.correct)
    assert texts() == [words.after]
    versions = MemoryVersion.objects.order_by("number").values_list("content", flat=True)
    assert list(versions) == [words.before, words.after]


def test_a_correction_wins_over_what_they_wrote_themselves(
    alice: User, say: Say, words: Words
) -> None:
    prepared = direct_writes.prepare(MemoryInput(words.before), origin=Origin.USER)
    direct_writes.remember(prepared, user=alice)
    say(words.correct)
    assert texts() == [words.after]


def test_what_is_to_be_forgotten_is_with_a_receipt_and_nothing_else(say: Say, words: Words) -> None:
    say(words.remember)
    say(words.correct)
    say(words.forget)
    assert [one.content for one in Memory.everything.all()] == [words.remembered]
    assert Receipt.objects.count() == 1
    say(words.told)  # the same person may tell it anew
    assert words.before in texts()


def test_while_memory_is_off_it_is_forgotten_as_well_and_nothing_is_learned(
    say: Say, words: Words, alice: User
) -> None:
    say(words.after)
    assert texts() == [words.after]
    users.change_settings(user=alice, changes={"longterm_enabled": False})
    say(words.remember)
    say(words.forget)
    users.change_settings(user=alice, changes={"longterm_enabled": True})

    assert list(Memory.everything.all()) == []
    assert Receipt.objects.count() == 1
