"""Messages in many voices, half of them with nothing in them to remember."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from memories.extraction.bundled import BundledExtractor
from memories.extraction.types import Said, TurnText

MESSAGES = Path(__file__).parent / "messages"
SPOKEN_AT = datetime(2025, 6, 18, 10, 0, tzinfo=timezone(timedelta(hours=8)))


@dataclass(frozen=True)
class Expected:
    """A memory that holds each of `words` (or one of its alternatives)."""

    words: tuple[str, ...]
    optional: bool

    def fits(self, content: str) -> bool:
        return all(_holds(content.lower(), word) for word in self.words)


def _holds(content: str, word: str) -> bool:
    if word.startswith("!"):
        return word[1:].lower() not in content
    return any(part.lower() in content for part in word.split("|"))


def _expected(text: str) -> Iterator[Expected]:
    for part in filter(None, (part.strip() for part in text.split(";"))):
        yield Expected(tuple(part.removeprefix("?").split("+")), part.startswith("?"))


def _lines() -> Iterator[tuple[str, tuple[Expected, ...]]]:
    for path in sorted(MESSAGES.glob("*.txt")):
        for line in filter(None, path.read_text().splitlines()):
            said, _, expected = line.partition(" =>")
            yield said, tuple(_expected(expected))


LINES = list(_lines())


def _contents(said: str) -> list[str]:
    turn = TurnText(Said(said, SPOKEN_AT), Said("", SPOKEN_AT))
    return [candidate.content for candidate in BundledExtractor().extract(turn).candidates]


@pytest.mark.parametrize(("said", "expected"), LINES, ids=[said for said, _ in LINES])
def test_a_message_yields_what_it_says_of_the_person_and_no_more(
    said: str, expected: tuple[Expected, ...]
) -> None:
    contents = _contents(said)
    wrong = [one for one in contents if not any(memory.fits(one) for memory in expected)]
    missed = [
        memory.words
        for memory in expected
        if not memory.optional and not any(memory.fits(one) for one in contents)
    ]

    assert wrong == []
    assert missed == []


def test_half_of_the_messages_hold_nothing_to_remember() -> None:
    silent = [said for said, expected in LINES if not expected]

    assert len(LINES) >= 540
    assert 0.45 <= len(silent) / len(LINES) <= 0.55
