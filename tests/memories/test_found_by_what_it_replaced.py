"""A memory is also found by what it came in the place of, until that is forgotten."""

from __future__ import annotations

import pytest

from conversations.forgetting import message_forgets as forgetting_messages
from conversations.models import Conversation, Message
from memories.forgetting import memory_forgets
from memories.indexing import search_index
from memories.indexing.earlier_texts import MOST
from memories.models import Change, Fragment, LexicalEntry, Memory, TargetKind, Vector
from memories.recall.search import prepare_query, search
from memories.writing import memory_writes, verdict_effects
from memories.writing.memory_writes import Draft
from ops.access import as_user
from ops.models import User
from ops.queue import worker
from tests.factories import make_memory
from tests.memories.test_ingest import say

pytestmark = pytest.mark.django_db


def found(user: User, question: str) -> dict[str, float]:
    """The memories that a search finds, with their relevance."""
    with as_user(user):
        results = search(prepare_query(question), user=user, types=["memory"]).results
    return {one.text: one.score for one in results}


def replace(memory: Memory, content: str) -> Memory:
    vectors, pieces = search_index.embed_memory(content)
    draft = Draft(content, memory.kind, vectors, pieces)
    with as_user(memory.user):
        return memory_writes.rewrite(memory, draft, source=None, change=Change.REPLACED)


def earlier_texts(user: User) -> list[str]:
    rows = Fragment.objects.filter(user=user, version__isnull=False).order_by("pk")
    return list(rows.values_list("text", flat=True))


def nothing_is_left(user: User) -> bool:
    indexed = {"user": user, "target_kind": TargetKind.FRAGMENT}
    rows = (Fragment.objects.filter(user=user), Vector.objects.filter(**indexed))
    return not any(one.exists() for one in (*rows, LexicalEntry.objects.filter(**indexed)))


@pytest.mark.parametrize(
    ("said", "questions", "wanted"),
    [
        (
            ("我在华为工作。", "我上周从华为离职，加入了腾讯。"),
            ("我在哪里工作？", "我在哪家公司上班？"),
            "腾讯",
        ),
        (
            ("I work at Acme.", "I quit Acme last week and joined Initech."),
            ("Where do I work?", "Who is my employer?"),
            "Initech",
        ),
        (
            (
                "I learn Spanish with Duolingo.",
                "I gave up Duolingo and switched to Babbel.",
            ),
            ("Which app do I learn Spanish with?",),
            "Babbel",
        ),
        (
            ("I bank with Chase.", "I left Chase and moved over to Ally."),
            ("Which bank am I with?",),
            "Ally",
        ),
        (
            ("我的猫叫咪咪。", "我把咪咪改名叫团团了。"),
            ("我的猫叫什么名字？",),
            "团团",
        ),
    ],
)
def test_what_was_changed_is_found_by_what_it_was_before(
    conversation: Conversation,
    alice: User,
    learned_pairs: None,
    said: tuple[str, str],
    questions: tuple[str, ...],
    wanted: str,
) -> None:
    for text in said:
        say(conversation, text)
        worker.drain()

    for question in questions:
        scores = [score for text, score in found(alice, question).items() if wanted in text]
        assert scores and max(scores) > 0.5, question


def test_the_words_of_an_earlier_text_find_what_took_its_place(alice: User) -> None:
    memory = make_memory(alice, "Rents a flat on Vexhal Street")
    make_memory(alice, "Likes green tea")
    assert found(alice, "Vexhal")[memory.content] > 0.5

    replace(memory, "Bought a houseboat")

    assert found(alice, "Vexhal")["Bought a houseboat"] > 0.5
    assert earlier_texts(alice) == ["Rents a flat on Vexhal Street"]


def test_the_texts_of_a_long_memory_are_cut_anew_and_earlier_ones_stay(alice: User) -> None:
    memory = replace(make_memory(alice, "Rents a flat"), "Bought a houseboat")

    replace(memory, "Lives on a houseboat. " * 300)

    assert Fragment.objects.filter(memory=memory, version=None).exists()
    assert earlier_texts(alice) == ["Rents a flat", "Bought a houseboat"]


def test_who_takes_the_place_of_another_memory_is_found_by_its_text(alice: User) -> None:
    loser = make_memory(alice, "Rents a flat on Vexhal Street")
    winner = make_memory(alice, "Bought a houseboat")
    with as_user(alice):
        verdict_effects.supersede(loser, by=winner)

    assert found(alice, "Vexhal")["Bought a houseboat"] > 0.5

    with as_user(alice):
        memory_forgets.forget_memory(user=alice, memory=loser)
    assert found(alice, "Vexhal")["Bought a houseboat"] < 0.5
    worker.drain()
    assert nothing_is_left(alice)
    assert Memory.objects.get() == winner


def test_a_forgotten_message_takes_the_earlier_text_along(
    conversation: Conversation, alice: User, learned_pairs: None
) -> None:
    for text in ("I bank with Chase.", "I bank with Ally now."):
        say(conversation, text)
        worker.drain()
    assert earlier_texts(alice) == ["I bank with Chase"]
    assert found(alice, "Chase")["I bank with Ally now"] >= 0.5
    first = Message.objects.filter(role="user").order_by("pk")[0]

    with as_user(alice):
        forgetting_messages.forget_message(user=alice, message=first)
    at_once = found(alice, "Chase").get("I bank with Ally now", 0)
    worker.drain()

    assert at_once < 0.5
    assert nothing_is_left(alice)
    assert found(alice, "Chase").get("I bank with Ally now", 0) < 0.5


def test_a_memory_keeps_a_few_earlier_texts_the_oldest_ones(alice: User) -> None:
    memory = make_memory(alice, "Works at employer 0")
    for number in range(1, MOST + 3):
        memory = replace(memory, f"Joined employer {number}")

    texts = earlier_texts(alice)
    assert len(texts) == MOST
    assert texts[0] == "Works at employer 0"


def test_what_is_written_again_word_for_word_has_no_earlier_text(alice: User) -> None:
    replace(make_memory(alice, "Rents a flat"), "Rents a flat")
    assert earlier_texts(alice) == []


def test_another_persons_earlier_texts_find_nothing(alice: User, mallory: User) -> None:
    replace(make_memory(alice, "Rents a flat on Vexhal Street"), "Bought a houseboat")
    make_memory(mallory, "Likes green tea")
    assert set(found(mallory, "Vexhal")) == {"Likes green tea"}
