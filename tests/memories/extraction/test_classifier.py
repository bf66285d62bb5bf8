"""The clause classifier, with vectors made by hand: its arithmetic, and what extraction asks it."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from memories.extraction.bundled import BundledExtractor
from memories.extraction.classifier.features import BUCKETS, NAMES, Clause, Vectors, matrix
from memories.extraction.classifier.model import (
    ClauseClassifier,
    Judgement,
    Weights,
    load,
    probabilities,
)
from memories.extraction.types import Candidate, Said, TurnText

AT = datetime(2025, 6, 18, 10, tzinfo=UTC)
WIDTH = 512
OPEN = "My boss Ingrid wants reports on blue paper"
# The rules know a plan for a holiday, but not very surely.
WEAK = "We're planning to repaint the conservatory"


class Judge:
    """Gives every clause the same answer and remembers what it was asked."""

    def __init__(self, keep: float, kind: str = "preference") -> None:
        self.answer = Judgement(keep=keep, kind=kind, why_not="chitchat")
        self.asked: list[list[Clause]] = []

    def judge(self, clauses: Sequence[Clause]) -> list[Judgement]:
        self.asked.append(list(clauses))
        return [self.answer for _ in clauses]


def _extract(
    text: str, judge: Judge | None, *, rules: bool = True, speaker: str = "", reply: str = ""
) -> tuple[Candidate, ...]:
    other = "Ben" if speaker else ""
    turn = TurnText(Said(text, AT, speaker), Said(reply, AT, other))
    return BundledExtractor(judge, rules=rules).extract(turn).candidates


# --- what extraction makes of its judgements


def test_without_a_judge_what_no_rule_takes_is_left() -> None:
    assert _extract(OPEN, None) == ()


def test_a_clause_that_it_is_sure_of_becomes_a_memory_that_says_so() -> None:
    (found,) = _extract(OPEN, Judge(0.97))

    assert found.content == "Boss Ingrid wants reports on blue paper"
    assert found.kind == "preference"
    assert found.reasons == ("classifier.preference",)
    assert 0.5 < found.confidence <= 0.85


def test_a_clause_that_it_is_unsure_of_is_left() -> None:
    assert _extract(OPEN, Judge(0.6)) == ()


def test_a_sure_rule_is_not_asked_about() -> None:
    judge = Judge(0.0)
    (found,) = _extract("I'm allergic to peanuts", judge)

    assert found.content == "Allergic to peanuts"
    assert judge.asked == [[]]


def test_a_weak_rule_is_overruled_by_a_judge_who_is_sure() -> None:
    assert _extract(WEAK, None) != ()
    assert _extract(WEAK, Judge(0.01)) == ()


def test_a_weak_rule_stands_where_the_judge_only_doubts() -> None:
    assert _extract(WEAK, Judge(0.3)) == _extract(WEAK, None)


def test_what_was_asked_to_be_remembered_is_never_overruled() -> None:
    asked = f"Remember that {WEAK}"

    assert [one.content for one in _extract(asked, Judge(0.0))] == [
        one.content for one in _extract(asked, None)
    ]


def test_a_message_is_judged_in_one_batch() -> None:
    judge = Judge(0.97)
    _extract(f"{OPEN}. My aunt Rosa wants hers on green paper.", judge)

    assert len(judge.asked) == 1
    assert len(judge.asked[0]) == 2


@pytest.mark.parametrize(
    "said",
    [
        "Would my boss Ingrid want reports on blue paper?",
        "If I had a boss, I'd want reports on blue paper",
        'The sign says "My boss wants reports on blue paper"',
        "```\nMy boss Ingrid wants reports on blue paper\n```",
        "She wants it there tomorrow",
        "thanks, that's great",
        "I painted that lake sunrise",
        "We raised money for the cause",
        "I was preparing equipment for rock climbing",
        "I'm so excited about the weekend",
        "I often feel like I'm not up to my position",
        "We play every weekend",
    ],
)
def test_the_guards_stand_before_it(said: str) -> None:
    assert _extract(said, Judge(1.0)) == ()


def test_a_secret_is_kept_from_it_and_from_the_memory() -> None:
    judge = Judge(0.97)
    _extract("My boss Ingrid opens the safe with password: hunter2hunter2", judge)

    assert "hunter2" not in repr(judge.asked)


def test_both_named_sides_are_judged() -> None:
    reply = "My aunt Rosa wants pages on green paper"
    found = _extract(OPEN, Judge(0.97), speaker="Ann", reply=reply)

    assert [one.content for one in found] == [
        "Ann's boss Ingrid wants reports on blue paper",
        "Ben's aunt Rosa wants pages on green paper",
    ]


def test_alone_it_words_what_the_rules_would_have_taken() -> None:
    (found,) = _extract("I'm allergic to peanuts", Judge(0.97, "constraint"), rules=False)

    assert found.content == "Allergic to peanuts"
    assert found.reasons == ("classifier.constraint",)


def test_chinese_is_judged_as_chinese() -> None:
    judge = Judge(0.97, "fact")
    _extract("我上司要求周报都打印在蓝色的纸上", judge, rules=False)

    assert {clause.language for clause in judge.asked[0]} == {"zh"}


def test_what_is_told_as_past_is_no_task() -> None:
    (found,) = _extract("I got to volunteer at a lighthouse", Judge(0.97, "task"), rules=False)

    assert found.kind == "event"


# --- its arithmetic


def _weights(*, bias: tuple[float, float, float]) -> Weights:
    classes = ("fact", "none:joke", "none:quote")
    table = np.zeros((WIDTH + len(NAMES) + BUCKETS + 1, 3), dtype=np.float32)
    table[-1] = bias
    return Weights(classes, table, scaling={"en": (1.0, 0.0), "zh": (2.0, 1.0)})


def _embed(texts: Sequence[str]) -> Vectors:
    return np.zeros((len(texts), WIDTH), dtype=np.float32)


def test_the_chance_to_keep_is_that_of_all_kinds_together() -> None:
    judge = ClauseClassifier(_embed, weights=_weights(bias=(1.0, 1.0, 0.0)))
    (judged,) = judge.judge([Clause("a", "en")])

    e = float(np.e)
    assert judged.keep == pytest.approx(e / (2 * e + 1), abs=1e-5)
    assert (judged.kind, judged.why_not) == ("fact", "joke")


def test_each_language_has_its_own_scaling() -> None:
    judge = ClauseClassifier(_embed, weights=_weights(bias=(0.0, 0.0, -20.0)))
    (judged,) = judge.judge([Clause("你", "zh")])

    assert judged.keep == pytest.approx(1 / (1 + np.exp(-1.0)), abs=1e-5)


def test_nothing_asked_embeds_nothing() -> None:
    def refuse(texts: Sequence[str]) -> Vectors:
        raise AssertionError(texts)

    assert ClauseClassifier(refuse, weights=_weights(bias=(0, 0, 0))).judge([]) == []


def test_large_scores_stay_finite() -> None:
    shares = probabilities(np.ones((1, 1), np.float32), np.array([[1e4, -1e4], [0, 0]], np.float32))

    assert shares.tolist() == [[1.0, 0.0]]


def test_features_are_bounded_and_the_same_every_time() -> None:
    clauses = [Clause("I never eat olives!", "en"), Clause("我从不吃橄榄", "zh"), Clause("…", "en")]
    first, second = (matrix(clauses, _embed(["", "", ""])) for _ in range(2))

    assert first.shape == (3, WIDTH + len(NAMES) + BUCKETS)
    assert np.array_equal(first, second)
    assert first.min() >= 0 and first.max() <= 3


# --- what came with the product


def test_the_stored_weights_fit_the_features_and_know_every_kind() -> None:
    weights = load()

    assert weights.table.shape == (WIDTH + len(NAMES) + BUCKETS + 1, len(weights.classes))
    assert {weights.classes[at] for at in weights.kept} == {
        "constraint",
        "event",
        "fact",
        "pattern",
        "preference",
        "task",
    }
    assert set(weights.scaling) == {"en", "zh"}


def test_weights_are_read_without_unpickling(tmp_path: Path) -> None:
    path = tmp_path / "evil.npz"
    np.savez(path, classes=np.array([{"a": 1}], dtype=object))

    with pytest.raises(ValueError, match="allow_pickle"):
        load(path)
