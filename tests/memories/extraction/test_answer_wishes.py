"""Wishes about answers, by their words, the reader's topics and the vector of the text."""

import json
from collections.abc import Sequence

import numpy as np
import pytest

from bench import block, train_wishes
from foundation.providers.embedders import BundledEmbedder
from memories.extraction.requests import answer_wishes
from memories.extraction.requests.answer_wishes import Floats, is_wish
from memories.reader import Statement, reader
from tests.memories.extraction.readings import statement

FLOOR = {"found": 0.9, "mistaken": 0.03}  # on people that the weights were not trained on


class Elsewhere:
    """An embedder whose vectors the weights don't know."""

    model = "another"

    def embed(self, texts: Sequence[str]) -> Floats:
        raise AssertionError("its vectors mean nothing here")


def read(text: str) -> tuple[Statement, ...]:
    return reader().read(text).statements


@pytest.mark.parametrize("kind", answer_wishes.NEVER)
def test_a_skill_an_event_or_a_task_is_never_a_wish(kind: str) -> None:
    text = "Short answers, please"
    about = [statement(text, text, topic="answers")]
    assert is_wish(text, about, embedder=None, kind="preference")
    assert not is_wish(text, about, embedder=None, kind=kind)


def test_the_topics_decide_where_the_vectors_are_of_another_embedder() -> None:
    text = "Short answers, please"
    for topic, wish in (("answers", True), ("work", False)):
        about = [statement(text, text, topic=topic)]
        assert is_wish(text, about, embedder=Elsewhere()) is wish


@pytest.mark.parametrize("text", ["Call me Mr. Thapa", "称呼我林老师", "Kilometres, not miles"])
def test_forms_of_address_and_units_are_known_by_their_words(text: str) -> None:
    assert is_wish(text, [], embedder=None)


def test_a_long_text_says_more_than_how_to_answer() -> None:
    text = "Call me Mr. Thapa" + " and so on" * 40
    assert not is_wish(text, [], embedder=None)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_wishes_of_people_who_were_not_in_the_training_are_told_from_other_memories(
    language: str,
) -> None:
    path = block.DATA / f"second_{language}.jsonl"
    rows = list(train_wishes.memories_of(path))
    embedder = BundledEmbedder()
    called = np.array(
        [is_wish(text, read(text), embedder=embedder, kind=kind) for text, kind, _ in rows]
    )
    wishes = np.array([wish for *_, wish in rows])
    assert called[wishes].mean() >= FLOOR["found"]
    assert called[~wishes].mean() <= FLOOR["mistaken"]


def test_no_text_of_the_training_is_among_those_that_are_measured() -> None:
    trained = {json.loads(line)["text"] for line in train_wishes.CONTRASTS.read_text().splitlines()}
    measured = {
        text for path in block.DATA.glob("*.jsonl") for text, *_ in train_wishes.memories_of(path)
    }
    assert trained.isdisjoint(measured)
