"""Two memories that speak for each other are linked when the second one is learned."""

from __future__ import annotations

import pytest

from conversations.models import Conversation
from memories import language_steps
from memories.models import Memory, Origin, Relation, RelationKind
from memories.reader import reader
from memories.writing import direct_writes
from memories.writing.direct_writes import MemoryInput
from ops.access import as_user
from ops.models import User
from ops.queue import worker
from tests.memcenter.rest.client import Api, answer
from tests.memories.pages import address, signed_in
from tests.memories.test_ingest import Scripted, candidate, say
from tests.memories.test_ingest import extractor as extractor
from tests.pair_reader import FakePairs

pytestmark = pytest.mark.django_db

MOVES = ("Moves to Lisbon in spring", "I move to Lisbon in spring")
FLAT = ("Looks for a flat in Lisbon", "I look for a flat in Lisbon")


@pytest.fixture(autouse=True)
def heard(extractor: Scripted, pairs: FakePairs) -> None:
    extractor.candidates = [candidate(*MOVES, kind="fact"), candidate(*FLAT, kind="fact")]
    pairs.says(MOVES[0], FLAT[0], "unrelated", 0.6)


def told(conversation: Conversation, *texts: str) -> list[Relation]:
    for text in texts:
        say(conversation, f"{text}.")
        worker.drain()
    return list(Relation.objects.select_related("memory", "other"))


def test_what_different_messages_say_supports_one_another(conversation: Conversation) -> None:
    (link,) = told(conversation, MOVES[1], FLAT[1])
    assert (link.memory.content, link.kind, link.other.content) == (
        FLAT[0],
        RelationKind.SUPPORTS,
        MOVES[0],
    )
    assert 0.35 <= link.strength < 1


def test_two_halves_of_one_message_prove_nothing(conversation: Conversation) -> None:
    assert told(conversation, f"{MOVES[1]}. {FLAT[1]}") == []
    assert Memory.objects.count() == 2


def test_what_merely_is_of_the_same_topic_is_not_linked(
    conversation: Conversation, pairs: FakePairs
) -> None:
    pairs.says(MOVES[0], FLAT[0], "unrelated", 0.95)
    found = told(conversation, MOVES[1], FLAT[1])
    assert [one for one in found if one.kind == RelationKind.SUPPORTS] == []


def test_said_once_more_the_link_stays_the_only_one(conversation: Conversation) -> None:
    assert len(told(conversation, MOVES[1], FLAT[1], FLAT[1])) == 1


def test_what_a_program_writes_is_linked_as_well(alice: User) -> None:
    for text in (MOVES[0], FLAT[0]):
        prepared = direct_writes.prepare(MemoryInput(text), origin=Origin.API)
        with as_user(alice):
            direct_writes.remember(prepared, user=alice)
    assert Relation.objects.get().kind == RelationKind.SUPPORTS


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Moves to Lisbon in spring", "Looks for a flat in Lisbon"),
        ("准备跑北京马拉松", "每周跑六十公里"),
    ],
)
def test_the_learned_pair_head_sees_that_one_supports_the_other(
    alice: User, monkeypatch: pytest.MonkeyPatch, first: str, second: str
) -> None:
    monkeypatch.setattr(language_steps, "pair_reader", reader)
    language_steps.bundled_arbiter.cache_clear()
    for text in (first, second):
        prepared = direct_writes.prepare(MemoryInput(text), origin=Origin.API)
        with as_user(alice):
            direct_writes.remember(prepared, user=alice)
    link = Relation.objects.get(kind=RelationKind.SUPPORTS)
    assert (link.memory.content, link.other.content) == (second, first)


def test_both_show_the_link_in_the_api_and_on_their_pages(
    alice: User, alice_key: str, conversation: Conversation
) -> None:
    (link,) = told(conversation, MOVES[1], FLAT[1])
    for one, other in ((link.memory, link.other), (link.other, link.memory)):
        found = answer(Api(alice_key).get(f"/memory/long_term/{one.public_id}/relations"))
        assert [(row["kind"], row["content"]) for row in found["results"]] == [
            ("supports", other.content)
        ]
        url = address("memory_page", one.public_id, show="related")
        page = signed_in(alice).get(url).content.decode()
        assert "Both memories agree." in page and other.content in page
