"""A statement becomes a memory in the person's own words, spoken on 25 November 2026."""

import json
import re
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.extraction.wording.chinese_subjects import is_noun_phrase
from memories.extraction.wording.own_words import LONGEST, OwnWords, own_words
from memories.extraction.wording.people import lacks_name
from memories.reader import reader
from tests.memories.extraction.scored import (
    Floors,
    Row,
    assert_floor,
    groups,
    listed,
    missed,
    table,
)

SPOKEN = datetime(2026, 11, 25, 10, tzinfo=UTC)


def kept(
    message: str,
    quote: str = "",
    *,
    language: str = "en",
    whose: str = "self",
    before: tuple[str, ...] = (),
    assistant: str = "",
    others: tuple[str, ...] = (),
) -> OwnWords:
    """The own words of `quote` in `message`, or of all of it."""
    start = message.index(quote)
    spans = [(message.index(one), message.index(one) + len(one)) for one in others]
    return own_words(
        message,
        start,
        start + len(quote or message),
        others=spans,
        before=before,
        assistant=assistant,
        spoken_at=SPOKEN,
        language=language,
        whose=whose,
        referents=partial(
            reader().referents, message, before=[*reversed(before)], assistant=assistant
        ),
    )


def test_a_long_statement_is_cut_on_a_word_boundary() -> None:
    text = kept("I like " + "strawberries " * 60).text
    assert len(text) <= LONGEST
    assert text.endswith("strawberries")


def own_text(row: Row) -> str:
    """The result for a row of the table: the text, the data, or whether a name is missing."""
    if row["subject"] == "lacks_name":
        return "yes" if lacks_name(row["message"], row["language"]) else "no"
    own = kept(
        row["message"],
        row["quote"],
        language=row["language"],
        whose=row["whose"] or "self",
        before=tuple(listed(row["before"])),
        assistant=row["assistant"],
        others=tuple(listed(row["others"])),
    )
    if row["subject"] == "data":
        return json.dumps(own.data, ensure_ascii=False, sort_keys=True)
    return own.text + (f" = {own.occurred or ''}" if row["subject"] == "dates" else "")


FLOORS: Floors = {}


@pytest.mark.parametrize(("subject", "language"), groups("own_words"))
def test_own_words_reach_their_floor(subject: str, language: str) -> None:
    assert_floor("own_words", subject, language, own_text, FLOORS)


def test_a_negation_beside_the_statement_is_taken_in() -> None:
    assert not missed(table("negations"), own_text)


_NEGATIONS = (
    *(
        "not",
        "never",
        "no longer",
        "don't",
        "used to",
        "if",
        "maybe",
        "no",
        "不",
        "没",
        "别",
        "以前",
    ),
    *("可能", "nicht", "kein", "pas", "ない", "jamais", "nunca"),
)
_WORDS = st.sampled_from(
    [
        *_NEGATIONS, "so", "um,", "and", "but", "well,", "I", "she", "my aunt Zofia", "like", "tea",
        "please", "嗯", "然后", "就是", "我", "她", "吃", "香菜", "，", ". ", "? can you help",
        "pues", "also", "next friday", "下周三", "quoi", "ben", "えっと", "です", "\n", "[", "]",
        "(", "y", "und", "thanks",
    ]
)  # fmt: skip
_TEXTS = st.lists(_WORDS, min_size=1, max_size=12).map(" ".join)


@given(
    message=_TEXTS, cut=st.tuples(st.integers(0, 99), st.integers(0, 99)), data=st.data(),
    language=st.sampled_from(["en", "zh", "es", "de", "fr", "ja", "pt"]),
    whose=st.sampled_from(["self", "related", "others"]),
)  # fmt: skip
def test_no_negation_is_ever_lost(
    message: str, cut: tuple[int, int], data: st.DataObject, language: str, whose: str
) -> None:
    start, end = sorted(min(one, len(message)) for one in cut)
    own = own_words(
        message,
        start,
        end,
        others=[],
        before=[data.draw(_TEXTS)],
        assistant=data.draw(_TEXTS),
        spoken_at=SPOKEN,
        language=language,
        whose=whose,
    )
    padded = f" {message[start:end]} ".replace("\n", " ")
    for word in _NEGATIONS:
        if f" {word} " in padded:
            assert word in own.text


_BORDER = {
    "en": re.compile(r"(?i)\b(?:not|used to|if|never)\s+"),
    "zh": re.compile(r"不(?![过错])|以前|从前|如果"),
}
_ROWS = [
    (row["lang"], row["text"], span["quote"], span["whose"])
    for file in sorted((Path(__file__).parents[3] / "training/data/messages").glob("*.jsonl"))
    for row in map(json.loads, file.read_text("utf-8").splitlines())
    for span in row["spans"]
    if row["lang"] in _BORDER and span["keep"] == "yes"
    if row["text"].count(span["quote"]) == 1 and _BORDER[row["lang"]].search(span["quote"])
]


def test_a_span_that_begins_behind_a_negation_takes_it_in() -> None:
    lost = [
        (found[0], message[begin:end])
        for language, message, quote, whose in _ROWS
        for start, end in [(message.index(quote), message.index(quote) + len(quote))]
        for found in _BORDER[language].finditer(quote)
        for begin in {start, start + found.end()} - {end}
        if found[0].strip().lower()
        not in own_words(
            message,
            begin,
            end,
            others=[],
            before=[],
            assistant="",
            spoken_at=SPOKEN,
            language=language,
            whose=whose,
        ).text.lower()
    ]
    assert len(_ROWS) > 500
    assert not lost


@given(message=st.text(max_size=60), before=st.lists(st.text(max_size=30), max_size=2))
def test_no_message_raises(message: str, before: list[str]) -> None:
    for language in ("en", "zh", "de", "ja"):
        own = own_words(
            message,
            0,
            len(message),
            others=[(0, 1)],
            before=before,
            assistant="".join(before),
            spoken_at=SPOKEN,
            language=language,
            whose="related",
        )
        assert len(own.text) <= LONGEST


@pytest.mark.parametrize("text", ["对虾过敏", "對蝦過敏", "鞋开胶了", "戒烟三年了", "乳糖不耐受"])
def test_a_predicate_is_no_part_of_the_clause_before(text: str) -> None:
    assert not is_noun_phrase(text)
