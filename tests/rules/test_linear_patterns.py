"""No pattern takes long over a text that somebody made for it: `re` guarantees nothing."""

import json
import re
import subprocess
import sys
from typing import Any

import pytest

from bench.patterns import Named
from tests.live import ROOT
from tests.rules.hostile_patterns import slow

# Patterns that only show when they run, by their function, and why they can do no harm.
MADE_WHEN_RUN = {
    "conversations.pages.conversation_list:_place": "escaped words of at most 200 characters",
    "foundation.text.richtext:_family": "the module holds what it makes, and is looked into",
    "memories.extraction.chat_model.questions:_list_of": "it puts in a name of ours",
    "memories.extraction.chat_model.questions:text_of": "it puts in a name of ours",
    "memories.extraction.corrections.contrasts:_of_person": "escaped words of a sentence",
    "memories.extraction.corrections.contrasts:_replacements": "escaped words of a sentence",
    "memories.extraction.corrections.contrasts:corrected": "one escaped name",
    "memories.extraction.corrections.contrasts:exchange": "escaped words of a sentence",
    "memories.extraction.corrections.corrected_messages:_replaced": "escaped words of a sentence",
    "memories.extraction.corrections.corrected_messages:_with_name": "one escaped word",
    "memories.extraction.corrections.corrected_messages:_with_same_noun": "two escaped words",
    "memories.extraction.wording.people:plain_names": "one escaped word",
    "memories.extraction.word_tables:compiled": "modules hold what it makes, and are looked into",
    "memories.retrieval.query:_pattern": "one escaped name",
    "memories.writing.similar_memories:messages_containing": "escaped texts of memories",
    "ops.accounts.sign_ins:_first": "runs the rows of a table of plain words",
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
    assert told["patterns"] > 100
    assert told["slow"] == {}


def test_a_pattern_that_is_made_when_it_runs_is_known_here(told: dict[str, Any]) -> None:
    assert set(told["unseen"]) == set(MADE_WHEN_RUN)


@pytest.mark.parametrize(
    "pattern",
    [r"for (?:[\w.-]+ ?){1,6}is", r"(?:a|aa)*b", r"\s+$", r"x\s*\s*\s*y", r"(?:\w+ ?)+!"],
)
def test_a_pattern_that_is_not_linear_is_found(pattern: str) -> None:
    assert slow([Named("anywhere:IT", re.compile(pattern))])
