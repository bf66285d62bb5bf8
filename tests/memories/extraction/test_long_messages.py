"""A message of which the reader reads only the first and the last part."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memories import language_steps
from memories.extraction.message_reading.heard_message import ReadParts
from memories.extraction.types import Candidate, Extraction, TurnText, Utterance
from memories.reader import reader
from memories.screening.secret_search import Span

NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
LONG = {
    "en": (
        "I am allergic to hazelnuts.\n\n",
        "It rained a lot. ",
        "\nMy sister Wilma lives in Utrecht.",
        ("hazelnuts", "Wilma"),
    ),
    "zh": (
        "我对榛子过敏，我妹妹叫朵朵。\n\n",
        "天气不错，路上车很多。",
        "\n另外我妹妹现在住在无锡。",
        ("榛子", "无锡"),
    ),
}


@pytest.mark.parametrize("language", LONG)
def test_both_ends_are_learned_and_quoted_where_they_stand(language: str) -> None:
    first, middle, last, words = LONG[language]
    text = first + middle * 600 + last
    extractor = language_steps.bundled_extractor()
    found = extractor.extract(TurnText(Utterance(text, NOW), Utterance("", NOW)))
    for one in found.candidates:
        assert text[one.quote_start :].startswith(one.quote)
    for word in words:
        assert any(word in one.content for one in found.candidates)


def test_a_secret_is_found_in_the_part_that_is_not_read() -> None:
    middle = "The minutes follow, point by point. " * 300
    text = f"{middle}My bank password is kR7vvq29Lx. {middle}"
    found = language_steps.bundled_extractor().extract(
        TurnText(Utterance(text, NOW), Utterance("", NOW))
    )
    assert any(text[start:end] == "kR7vvq29Lx" for start, end in found.secrets)
    assert [one.category for one in found.refused] == ["password"]


@pytest.mark.parametrize("text", ["a " * 16_000, "一二" * 16_000, "a b. " * 3_000])
def test_what_is_not_read_lies_between_what_is(text: str) -> None:
    start, end = reader().unread(text)
    assert 0 < start < end < len(text)
    assert reader().unread(text[:1_000]) == (0, 0)


def test_positions_are_those_of_the_whole_message() -> None:
    text = "first part ```code [secret] ``` left out, last part"
    at, until = text.index("code"), text.index("last part")
    hidden = Span(text.index("[secret]"), text.index("[secret]") + 8, "password")
    parts = ReadParts.of(text, (at, until), (hidden,))
    assert parts.text == "first part ```\n```\nlast part"  # the code ends in the part left out

    def quoted(words: str) -> Candidate:
        return Candidate("fact", words, 0.5, 0.9, words, parts.text.index(words))

    across = Candidate("fact", "x", 0.5, 0.9, parts.text[6:24], 6)
    found = parts.in_message(
        Extraction(
            candidates=(quoted("first"), quoted("last part"), across),
            outside_real_life=((parts.second, parts.second + 4),),
        )
    )
    assert [text[one.quote_start :][:4] for one in found.candidates] == ["firs", "last"]
    assert found.outside_real_life == ((until, until + 4),)
    assert found.secrets == ((hidden.start, hidden.end),)
    assert [(one.category, one.redacted) for one in found.refused] == [("password", False)]
