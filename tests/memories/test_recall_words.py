"""Why a memory came is told in words, in both languages, and never as a share of a hundred."""

from __future__ import annotations

import re

import pytest
from django.utils import translation

from memories.pages import reason_words
from memories.recall.recall import recall
from memories.recall.search import prepare_query
from ops.access import as_user
from ops.models import User
from tests.factories import make_memory

MEANT = {"raw_relevance": 0.8, "part_dense": 0.4, "part_bias": -0.2}


@pytest.mark.parametrize(
    ("asked", "text", "words"),
    [
        ("Where do I live in Berlin?", "Lives in a flat in Berlin", "same words: live, Berlin"),
        ("我在哪里工作？", "在腾讯工作", "same words: 工作"),
        ("biscu", "The cat is called Biscuit", "same words: biscu"),
        ("Any pets?", "The cat is called Biscuit", "close in meaning"),
    ],
)
def test_words_that_both_have_are_named(asked: str, text: str, words: str) -> None:
    parts = MEANT if words == "close in meaning" else {"raw_relevance": 0.8}
    assert reason_words.why(parts, asked=asked, text=text) == words


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"concept": 0.5}, "about the same subject"),
        ({"on_date": 1.0}, "from the time you mention"),
        ({"matched": 0.4}, "linked to what you said before"),
        ({"matched": 0.4, **MEANT}, "linked to what you said before · close in meaning"),
        ({"raw_relevance": 0.7}, "close in meaning"),
        ({"raw_relevance": 0.1}, "little in common"),
    ],
)
def test_each_sign_has_words(parts: dict[str, float], words: str) -> None:
    assert reason_words.why(parts, asked="Where do I work?", text="Joined Initech") == words


def test_a_question_that_was_forgotten_is_not_quoted() -> None:
    assert reason_words.why({"matched": 0.4}, asked="", text="Joined Initech") == "same words"


def test_what_is_always_there_says_so_and_why_it_fits_too() -> None:
    film = reason_words.why({"raw_relevance": 0.0}, asked="A film?", text="No nuts", always=True)
    nuts = reason_words.why({"raw_relevance": 0.9}, asked="Any nuts?", text="No nuts", always=True)
    assert film == "always included"
    assert nuts == "always included · same words: nuts"


@pytest.mark.parametrize(
    ("share", "words"), [(0.9, "strongly linked"), (0.5, "linked"), (0.1, "loosely linked")]
)
def test_how_strongly_two_memories_are_linked_is_a_word(share: float, words: str) -> None:
    assert reason_words.strength(share) == words


def test_it_is_told_in_chinese() -> None:
    with translation.override("zh-hans"):
        said = reason_words.why(MEANT, asked="我在哪里工作？", text="在腾讯工作")
    assert said == "相同的词：工作 · 意思相近"


@pytest.mark.django_db
def test_what_a_recall_finds_is_told_by_its_own_components(alice: User) -> None:
    make_memory(alice, "Works as a nurse in Leeds")
    prepared = prepare_query("What's my profession?")
    with as_user(alice):
        [found] = recall(prepared, user=alice).memories
    said = reason_words.why(found.components, asked=prepared.text, text=found.memory.content)
    assert "about the same subject" in said
    assert not re.search(r"\d", said)
