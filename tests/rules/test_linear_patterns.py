"""No pattern takes long over a text that somebody made for it: `re` guarantees nothing."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from types import ModuleType
from typing import Any

import pytest

from bench.patterns import Named
from memories.extraction.message_reading import habits
from memories.extraction.requests import commands
from memories.extraction.types import JointTurn, TurnText, Utterance
from tests.live import ROOT
from tests.rules.hostile_patterns import BOUNDS, slow

PATTERNS = commands._P

# Patterns that only show when they run, by their function, and why they can do no harm.
MADE_WHEN_RUN = {
    "conversations.pages.conversation_list:_excerpt": "escaped words of at most 200 characters",
    "foundation.text.richtext:_family": "the module holds what it makes, and is looked into",
    "memories.extraction.chat_model.model_calls:_list_of": "it puts in a name of ours",
    "memories.extraction.chat_model.model_calls:text_of": "it puts in a name of ours",
    "memories.extraction.corrections.contrasts:_of_person": "escaped words of a sentence",
    "memories.extraction.corrections.contrasts:_replacements": "escaped words of a sentence",
    "memories.extraction.corrections.contrasts:corrected": "one escaped name",
    "memories.extraction.corrections.contrasts:exchange": "escaped words of a sentence",
    "memories.extraction.corrections.corrected_messages:_replaced": "escaped words of a sentence",
    "memories.extraction.corrections.replaced_nouns:with_name": "one escaped word",
    "memories.extraction.corrections.corrected_messages:_with_same_noun": "two escaped words",
    "memories.extraction.wording.people:plain_names": "one escaped word",
    "memories.extraction.pattern_tables:compiled": "modules hold the results, which are tested",
    "memories.retrieval.query:_pattern": "one escaped name",
    "memories.writing.similar_memories:messages_containing": "escaped texts of memories",
    "ops.accounts.sign_ins:_first_match": "runs the rows of a table of plain words",
}


@pytest.fixture(scope="module")
def told() -> dict[str, Any]:
    ran = subprocess.run(
        [sys.executable, "-m", "tests.rules.hostile_patterns"],
        cwd=ROOT, capture_output=True, text=True,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    said: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    return said


def test_no_pattern_takes_long_over_a_text_that_is_made_for_it(told: dict[str, Any]) -> None:
    assert len(told["patterns"]) > 100
    assert told["slow"] == {}


def test_every_pattern_with_a_bound_is_still_there(told: dict[str, Any]) -> None:
    assert set(BOUNDS) <= set(told["patterns"])


class Watched:
    """A pattern that notes the length of the longest text it meets."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self._pattern, self.longest = pattern, 0

    def __getattr__(self, name: str) -> Callable[..., Any]:
        search = getattr(self._pattern, name)

        def watched(*given: Any) -> Any:
            self.longest = max(self.longest, len(given[-1]))  # `sub` is given the text last, too
            return search(*given)

        return watched


def watch(monkeypatch: pytest.MonkeyPatch, module: ModuleType) -> dict[str, Watched]:
    watched = {name: Watched(pattern) for name, pattern in vars(module)["_P"].items()}
    monkeypatch.setattr(module, "_P", watched)
    return watched


def bounds_of(module: ModuleType) -> dict[str, int]:
    start = f"{module.__name__}:_P['"
    return {
        name.removeprefix(start).removesuffix("']"): bound
        for name, bound in BOUNDS.items()
        if name.startswith(start)
    }


# Messages without an end of a sentence, so that nothing but the bounds shortens what is read.
LONG = {
    "remember": "please remember that " + "I keep bees and " * 2_000,
    "remind": "remind me to " + "keep bees and " * 2_300,
    "forget": "forget that " + "I keep bees and " * 2_000,
    "not addressed": "I am not sure whether to forget " + "bees and " * 3_500,
    "忘掉": "忘掉" + "我养蜂也养猫" * 5_300,
    "别忘了": "养蜂也养猫" * 6_000 + "，别忘了",
    "当我没说": "养蜂也养猫" * 6_000 + "你就当我没说过",
    "a brief one": "forget bees",
    "忘了吧": "把车忘掉",
}


def test_no_pattern_of_commands_meets_more_than_its_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    watched = watch(monkeypatch, commands)
    english, chinese = (watched["remember_en"], watched["remember_zh"]), commands._ZH_FORGET
    names = {pattern: name for name, pattern in PATTERNS.items()}
    monkeypatch.setattr(commands, "_REMEMBER", english)
    monkeypatch.setattr(commands, "_ZH_FORGET", tuple(watched[names[one]] for one in chinese))
    for text in LONG.values():
        list(commands.commands(text))
    for name, bound in bounds_of(commands).items():
        assert watched[name].longest <= bound, name
        assert watched[name].longest or name == "zh_tail", name
    assert watched["remember_en"].longest == watched["zh_you_forget"].longest == commands._LONGEST


def test_no_pattern_of_habits_meets_more_than_its_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    watched = watch(monkeypatch, habits)
    now = datetime.now(UTC)
    for said in ("I went " + "to the gym again " * 1_900, "我今天去" + "健身房了" * 8_000):
        text = TurnText(user=Utterance(said, now), assistant=Utterance("", now))
        list(habits.habits([JointTurn(turn=1, text=text, is_new=True)]))
    for name, bound in bounds_of(habits).items():
        assert 0 < watched[name].longest <= bound, name


def test_a_pattern_that_is_made_when_it_runs_is_known_here(told: dict[str, Any]) -> None:
    assert set(told["unseen"]) == set(MADE_WHEN_RUN)


@pytest.mark.parametrize(
    "pattern",
    [r"for (?:[\w.-]+ ?){1,6}is", r"(?:a|aa)*b", r"\s+$", r"x\s*\s*\s*y", r"(?:\w+ ?)+!"],
)
def test_a_pattern_that_is_not_linear_is_found(pattern: str) -> None:
    assert slow([Named("anywhere:IT", re.compile(pattern))])
