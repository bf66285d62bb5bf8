"""Sentences that nobody wrote break no step of learning, nor do those that once did."""

from itertools import islice

import pytest

from bench.language_steps import LanguageSteps
from bench.robustness import broken
from bench.sentences import Sentences

BROKE = [
    "Divorce lawyer",
    "Wedding singer on weekends",
    "Doesn't miss a single rehearsal",
    "My ſister lives in Oslo",
    "，" * 500,
]


@pytest.mark.parametrize("text", BROKE)
def test_a_text_that_broke_a_step_no_longer_does(text: str) -> None:
    counted, _ = broken([text, "Married to Sam", text])

    assert counted.total() == 0


def test_generated_sentences_break_no_step() -> None:
    counted, _ = broken(islice(Sentences(seed=7), 150))

    assert not counted


def test_a_broken_step_is_counted_with_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing: dict[str, str] = {}
    monkeypatch.setattr(LanguageSteps, "_extract", lambda self, text: nothing["rest"])

    counted, _ = broken(["Tea"])

    assert [place.split("/")[0] for place in counted] == ["extract: KeyError tests"]
