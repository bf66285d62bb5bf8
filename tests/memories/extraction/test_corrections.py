"""What overrules something known: a correction before a colon or dash, and a new home."""

from datetime import UTC, datetime

import pytest

from memories.extraction.bundled import BundledExtractor
from memories.extraction.types import Candidate, Said, TurnText

SPOKEN_AT = datetime(2026, 11, 21, 10, tzinfo=UTC)


def _candidates(text: str) -> tuple[Candidate, ...]:
    turn = TurnText(Said(text, SPOKEN_AT), Said("", SPOKEN_AT))
    return BundledExtractor().extract(turn).candidates


@pytest.mark.parametrize(
    ("said", "content"),
    [
        ("Actually, I moved: I live in Lisbon now.", "Lives in Lisbon"),
        ("Sorry, I was wrong: my sister is called Eva.", "Sister is called Eva"),
        ("Correction - my flight is on Friday", "Flight is on 2026-11-27"),
        ("I live in Lisbon these days.", "Lives in Lisbon"),
        ("I moved to Porto", "Moved to Porto"),
        ("更正一下：我妹妹叫小雅", "妹妹叫小雅"),
        ("说错了，我是属蛇的", "是属蛇的"),
        ("我搬到北京了", "搬到北京了"),
        ("现在住在上海，不住杭州了", "住在上海"),
    ],
)
def test_a_correction_keeps_the_new_truth_and_says_that_it_corrects(
    said: str, content: str
) -> None:
    assert [(row.content, row.corrects) for row in _candidates(said)] == [(content, True)]


@pytest.mark.parametrize("said", ["I live in Lisbon.", "I moved to Porto in 2009", "我住在上海"])
def test_a_home_that_is_not_news_corrects_nothing(said: str) -> None:
    assert [row.corrects for row in _candidates(said)] == [False]
