"""One English clause that says several things, and clauses that leave their subject out."""

from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from memories.extraction.bundled import BundledExtractor
from memories.extraction.types import Said, TurnText

SPOKEN_AT = datetime(2025, 6, 18, 10, 0, tzinfo=timezone(timedelta(hours=8)))
LINES = [
    tuple(part.strip() for part in line.partition("=>")[::2])
    for line in (Path(__file__).parent / "lists" / "en.txt").read_text().splitlines()
]


def _contents(said: str, *, asked: str = "") -> list[str]:
    turn = TurnText(Said(said, SPOKEN_AT), Said("", SPOKEN_AT), before_assistant=asked)
    return [candidate.content for candidate in BundledExtractor().extract(turn).candidates]


@pytest.mark.parametrize(("said", "memories"), LINES, ids=[said for said, _ in LINES])
def test_each_part_of_a_list_is_a_memory_with_its_subject(said: str, memories: str) -> None:
    expected = [memory.strip() for memory in memories.split("|") if memory]

    assert sorted(_contents(said)) == sorted(expected)


def test_an_age_is_answered_in_a_word_or_two() -> None:
    assert _contents("Just turned nine.", asked="How old is your niece?") == [
        "Niece is nine (as of 2025-06)"
    ]


def test_an_answer_ends_where_a_new_clause_begins() -> None:
    contents = _contents("A poodle, she's called Juno.", asked="What breed of dog do you have?")

    assert contents[0] == "Dog is a poodle"


@pytest.mark.parametrize(
    "said",
    [
        "I hope to try some local food",
        "I want to visit new places",
        "I started learning how to shoot",
        "My family came over. It really does feel helpful",
    ],
)
def test_hopes_without_content_and_lost_context_are_left(said: str) -> None:
    assert [one for one in _contents(said) if "came" not in one] == []


@pytest.mark.parametrize(
    ("asked", "said", "expected"),
    [
        ("Where do you live?", "just outside Lyon", ["Lives outside Lyon"]),
        ("你住在哪里？", "在厦门", ["住在厦门"]),
        ("Do you drink alcohol?", "no, pregnant", ["Doesn't drink alcohol", "Pregnant"]),
        ("Do you eat meat?", "nope", ["Doesn't eat meat"]),
        ("Do you want to continue?", "no", []),
        ("You have one sister, right?", "no, two", ["Has two sisters"]),
        ("So you have two dogs?", "three now", ["Has three dogs"]),
        ("So you have two questions?", "three actually", []),
        ("你养了一只猫对吧？", "两只", ["养了两只猫"]),
        ("你有两个女儿？", "不是，三个", ["有三个女儿"]),
    ],
)
def test_an_answer_is_put_into_its_question(asked: str, said: str, expected: list[str]) -> None:
    assert _contents(said, asked=asked)[: len(expected) or None] == expected
