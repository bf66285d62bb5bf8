"""What only shows over several turns, by the bundled reader and by a model."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from memories.extraction.bundled import BundledExtractor
from memories.extraction.joint.bundled import BundledJointReader
from memories.extraction.joint.types import Gathered, Heard
from memories.extraction.types import Extraction, Said, TurnText

MOMENT = datetime(2026, 3, 10, 9, tzinfo=UTC)


def hear(*said: str | tuple[str, str], block: str = "", stale: int = 0) -> list[Heard]:
    """Turns in their order; a pair has the assistant's reply, which the next turn answers."""
    heard: list[Heard] = []
    before: list[Said] = []
    reply = ""
    for number, one in enumerate(said, start=1):
        text, answer = one if isinstance(one, tuple) else (one, "I see.")
        spoken = Said(text, MOMENT)
        turn = TurnText(spoken, Said(answer, MOMENT), tuple(before[-2:]), reply, block)
        heard.append(Heard(number, turn, fresh=number > stale))
        before.append(spoken)
        reply = answer
    return heard


def read(turns: Sequence[Heard]) -> list[Gathered]:
    return BundledJointReader(BundledExtractor()).read(turns)


def told(found: Sequence[Gathered]) -> list[tuple[Any, ...]]:
    return [(one.candidate.content, one.turn, one.needs) for one in found]


@pytest.mark.parametrize(
    ("turns", "expected"),
    [
        (
            ["My sister is called Anna.", "I like tea.", "Nice day.", "She lives in Leeds."],
            ("Sister lives in Leeds", 4, (1,)),
        ),
        (
            ["我有个妹妹叫小雨。", "我喜欢喝茶。", "天气不错。", "她住在成都。"],
            ("妹妹住在成都", 4, (1,)),
        ),
        (
            [("I'm planning a trip to Kyoto.", "When do you leave?"), "May 3rd."],
            ("Is planning a trip to Kyoto on 2026-05-03", 2, (1,)),
        ),
        (
            ["I'm planning a trip to Kyoto.", "I like tea.", "It's on May 3rd."],
            ("Is planning a trip to Kyoto on 2026-05-03", 3, (1,)),
        ),
        (
            [("我打算去京都旅行。", "什么时候出发？"), "五月三号出发。"],
            ("打算去京都旅行，时间是2026年5月3日", 2, (1,)),
        ),
    ],
)
def test_a_fact_whose_pieces_stand_in_two_turns(
    turns: list[str | tuple[str, str]], expected: tuple[Any, ...]
) -> None:
    assert told(read(hear(*turns))) == [expected]


def test_what_is_told_again_and_again_is_a_habit_of_each_of_its_turns() -> None:
    found = read(
        hear(
            "I went for a run this morning.",
            "I like tea.",
            "Oh, I went for a run again today, 5 km.",
            "I just went for a run.",
        )
    )
    assert told(found) == [("Often goes for a run", turn, ()) for turn in (1, 3, 4)]
    assert {one.candidate.kind for one in found} == {"pattern"}


def test_chinese_habits_too() -> None:
    found = read(hear("今天又加班了。", "我昨晚加班。", "唉，今天加班了"))
    assert told(found) == [("经常加班", turn, ()) for turn in (1, 2, 3)]


@pytest.mark.parametrize(
    "turns",
    [
        ["I went for a run.", "I went for a run."],
        ["I'm planning a trip to Kyoto.", "May 3rd is my birthday."],
        ["I'm planning a trip to Kyoto.", "Maybe on May 3rd."],
        ["I'm planning a trip to Kyoto on May 3rd.", "It's on May 4th."],
        ["What a day.", "It's on May 3rd."],
        ["我打算去京都旅行。", "五月三号可能不行。"],
        ["She lives in Leeds.", "The weather is nice."],
        ["I like tea.", "I live in Leeds.", "My sister is called Anna."],
    ],
)
def test_nothing_is_put_together_that_does_not_belong_together(turns: list[str]) -> None:
    assert read(hear(*turns)) == []


def test_what_was_read_together_before_gives_nothing_new() -> None:
    turns = ["My sister is called Anna.", "I like tea.", "Nice day.", "She lives in Leeds."]
    assert read(hear(*turns, stale=4)) == []


class Counting(BundledExtractor):
    def __init__(self) -> None:
        super().__init__()
        self.read: list[str] = []

    def extract(self, turn: TurnText) -> Extraction:
        self.read.append(turn.user.text)
        return super().extract(turn)


@pytest.mark.parametrize(
    ("last", "times"),
    [
        ("She lives in Leeds.", 13),  # by itself, and with each of twelve earlier turns
        ("She is nice. " * 100, 4),  # 1,300 characters: 4,000 hold it three times
        ("She is nice. " * 2_000, 2),
    ],
)
def test_a_long_turn_is_read_with_fewer_earlier_ones(last: str, times: int) -> None:
    extractor = Counting()

    BundledJointReader(extractor).read(hear(*["Nice day."] * 14, last))

    assert extractor.read.count(last) == times


def test_our_own_block_is_never_learned_back() -> None:
    runs = ["I went for a run."] * 3
    assert read(hear(*runs, block="- Often goes for a run")) == []


def test_secrets_and_quotations_are_no_habits() -> None:
    assert read(hear(*['He wrote "I went for a run this morning".'] * 3)) == []
