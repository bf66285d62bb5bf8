"""What only shows over several turns, by the bundled reader and by a model."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from memories.extraction.message_reading.habits import BundledJointReader
from memories.extraction.types import JointCandidate, JointTurn, TurnText, Utterance

MOMENT = datetime(2026, 3, 10, 9, tzinfo=UTC)


def hear(*said: str | tuple[str, str], block: str = "", stale: int = 0) -> list[JointTurn]:
    """Turns in their order; a pair has the assistant's reply, which the next turn answers."""
    heard: list[JointTurn] = []
    before: list[Utterance] = []
    reply = ""
    for number, one in enumerate(said, start=1):
        text, answer = one if isinstance(one, tuple) else (one, "I see.")
        spoken = Utterance(text, MOMENT)
        turn = TurnText(spoken, Utterance(answer, MOMENT), tuple(before[-2:]), reply, block)
        heard.append(JointTurn(number, turn, is_new=number > stale))
        before.append(spoken)
        reply = answer
    return heard


def read(turns: Sequence[JointTurn]) -> list[JointCandidate]:
    return BundledJointReader().read(turns)


def told(found: Sequence[JointCandidate]) -> list[tuple[Any, ...]]:
    return [(one.candidate.content, one.turn, one.needs) for one in found]


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
        ["I went for a run.", "I went for a swim.", "I went for a walk."],
    ],
)
def test_nothing_is_put_together_that_does_not_belong_together(turns: list[str]) -> None:
    assert read(hear(*turns)) == []


def test_what_was_read_together_before_gives_nothing_new() -> None:
    assert read(hear(*["I went for a run."] * 3, stale=3)) == []


def test_our_own_block_is_never_learned_back() -> None:
    runs = ["I went for a run."] * 3
    assert read(hear(*runs, block="- Often goes for a run")) == []


def test_secrets_and_quotations_are_no_habits() -> None:
    assert read(hear(*['He wrote "I went for a run this morning".'] * 3)) == []
