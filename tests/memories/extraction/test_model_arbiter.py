from __future__ import annotations

import json
from datetime import timedelta

import pytest

from memories.extraction.chat_model.model_calls import UnreadableAnswer
from memories.extraction.types import Candidate, KnownMemory, Verdict
from tests.chat_server import refused, said
from tests.memories.extraction.modelling import (
    LEEDS,
    NOW,
    YORK,
    Model,
    candidate,
    known,
)


def leans(model: Model, relation: str) -> None:
    """The pair head takes it for this, and isn't sure."""
    model.head.says(LEEDS.content, YORK.content, relation, 0.55)


def test_the_models_verdict_is_about_the_memory_it_was_shown(model: Model) -> None:
    other = known("Plays the cello", id="mem_other", similarity=0.3)
    decision = model.decides(
        {"verdict": "REPLACE", "id": "m2", "content": None}, YORK, other, LEEDS
    )
    assert (decision.verdict, decision.target_id) == (Verdict.REPLACE, "mem_secret_id")
    assert decision.reasons == ("model",)
    assert "mem_secret_id" not in json.dumps(model.server.asked)
    assert model.uses[0].prompt_version == "arbitrate-2"


@pytest.mark.parametrize(
    "answer",
    [
        {"verdict": "REPLACE", "id": "mem_secret_id"},
        {"verdict": "REPLACE", "id": "m9"},
        {"verdict": "REPLACE", "id": None},
        {"verdict": "REPLACE", "id": ["m1"]},
        {"verdict": "ERASE", "id": "m1"},
        {"verdict": 3, "id": "m1"},
    ],
)
def test_an_id_or_verdict_that_wasnt_offered_leaves_it_to_the_pair_head(
    model: Model, answer: object
) -> None:
    leans(model, "newer")
    decision = model.decides(answer, YORK, LEEDS)
    assert (decision.verdict, decision.target_id) == (Verdict.REVIEW, LEEDS.id)
    assert "model_unclear" in decision.reasons


@pytest.mark.parametrize(
    ("relation", "verdict"),
    [("same", Verdict.SKIP), ("newer", Verdict.REPLACE), ("contradicts", Verdict.REVIEW)],
)
def test_where_the_pair_head_is_sure_nobody_is_asked(
    model: Model, relation: str, verdict: Verdict
) -> None:
    model.head.says(LEEDS.content, YORK.content, relation, 0.7)
    unclear = known("Plays the cello", id="mem_other")
    assert model.decides({}, YORK, unclear, LEEDS).verdict is verdict
    assert model.server.asked == []


def test_only_what_the_pair_head_is_unsure_of_is_shown(model: Model) -> None:
    chess = known("Plays chess", id="mem_chess")
    model.head.says(chess.content, YORK.content, "unrelated", 0.9)
    decision = model.decides({"verdict": "SKIP", "id": "m1"}, YORK, chess, LEEDS)
    assert (decision.verdict, decision.target_id) == (Verdict.SKIP, LEEDS.id)
    assert len(model.server.material()["known"]) == 1


@pytest.mark.parametrize("verdict", ["SKIP", "KEEP_BOTH", "ADD", "MERGE"])
def test_a_contradiction_is_never_kept_or_dropped_silently(model: Model, verdict: str) -> None:
    leans(model, "contradicts")
    decision = model.decides({"verdict": verdict, "id": "m1"}, YORK, LEEDS)
    assert (decision.verdict, decision.target_id) == (Verdict.REVIEW, LEEDS.id)


@pytest.mark.parametrize("verdict", ["SKIP", "KEEP_BOTH", "ADD", "MERGE"])
def test_what_the_person_corrected_is_replaced_though_the_model_says_otherwise(
    model: Model, verdict: str
) -> None:
    leans(model, "contradicts")
    new = candidate("Lives in York", corrects=True)
    decision = model.decides({"verdict": verdict, "id": "m1"}, new, LEEDS)
    assert (decision.verdict, decision.target_id) == (Verdict.REPLACE, LEEDS.id)
    assert "model_overruled" in decision.reasons


def test_an_unrelated_memory_is_never_replaced(model: Model) -> None:
    cello = known("Plays the cello", similarity=0.21)
    decision = model.decides({"verdict": "REPLACE", "id": "m1"}, YORK, cello)
    assert decision.verdict == Verdict.ADD


@pytest.mark.parametrize(
    ("new", "old"),
    [
        (candidate("Lives in York", confidence=0.3), LEEDS),
        (candidate("Lives in York", occurred_at=NOW - timedelta(days=90)), LEEDS),
        (YORK, known("Lives in Leeds", origin="user")),
    ],
)
def test_a_doubtful_change_is_asked_about(model: Model, new: Candidate, old: KnownMemory) -> None:
    decision = model.decides({"verdict": "REPLACE", "id": "m1"}, new, old)
    assert (decision.verdict, decision.target_id) == (Verdict.REVIEW, old.id)


def test_a_correction_wins_over_what_they_wrote_themselves(model: Model) -> None:
    new = candidate("Lives in York", corrects=True)
    decision = model.decides(
        {"verdict": "REPLACE", "id": "m1"}, new, known("Lives in Leeds", origin="user")
    )
    assert decision.verdict == Verdict.REPLACE


def test_a_disabled_memory_neither_grows_nor_comes_back(model: Model) -> None:
    off = known("Plays the cello", status="disabled")
    new = candidate("Plays the cello on Sundays")
    assert model.decides({"verdict": "MERGE", "id": "m1"}, new, off).verdict == Verdict.ADD


def test_memories_that_are_gone_are_not_shown(model: Model) -> None:
    gone = known("Lives in Leeds", status="archived")
    decision = model.decides({"verdict": "REPLACE", "id": "m1"}, YORK, gone)
    assert decision.verdict == Verdict.ADD
    assert model.server.asked == []


def test_a_merge_says_what_both_say(model: Model) -> None:
    old, new = known("Plays the cello"), candidate("Plays the cello on Sundays with Anna")
    text = "Plays the cello with Anna on Sundays"
    decision = model.decides({"verdict": "MERGE", "id": "m1", "content": text}, new, old)
    assert (decision.verdict, decision.content) == (Verdict.MERGE, text)


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        5,
        "Plays",
        "周日拉大提琴",
        "Plays the cello with Anna on Sundays since 1999",
        "Plays the cello with Anna on Sundays" + " on Sundays" * 9,
    ],
)
def test_a_merge_that_loses_or_invents_is_joined_without_the_model(
    model: Model, text: object
) -> None:
    old, new = known("Plays the cello"), candidate("Plays the cello on Sundays with Anna")
    decision = model.decides({"verdict": "MERGE", "id": "m1", "content": text}, new, old)
    assert decision.verdict == Verdict.MERGE
    assert "joined" in decision.reasons
    assert decision.content
    assert "Sundays" in decision.content
    assert "1999" not in decision.content


def test_a_merge_with_a_constraint_stays_a_constraint(model: Model) -> None:
    old = known("Allergic to nuts", kind="constraint")
    new = candidate("Allergic to nuts and pollen")
    text = "Allergic to nuts and pollen"
    decision = model.decides({"verdict": "MERGE", "id": "m1", "content": text}, new, old)
    assert decision.kind == "constraint"


def test_fewer_memories_are_shown_where_they_are_too_much(model: Model) -> None:
    model.answers(
        refused(400, code="context_length_exceeded"), said({"verdict": "REPLACE", "id": "m1"})
    )
    cello = known("Plays the cello", id="mem_other")
    decision = model.arbiter.arbitrate(YORK, [LEEDS, cello], now=NOW)
    assert decision.target_id == LEEDS.id
    assert len(model.server.material()["known"]) == 1


def test_a_verdict_in_prose_may_be_asked_for_again(model: Model) -> None:
    with pytest.raises(UnreadableAnswer):
        model.decides("I would replace it.", YORK, LEEDS)


@pytest.mark.parametrize(
    "text", ["Mi hermana y yo vivimos en York con el perro", "Ich wohne mit meinem Hund in York"]
)
def test_what_is_neither_english_nor_chinese_is_asked_about_too(model: Model, text: str) -> None:
    decision = model.decides({"verdict": "REPLACE", "id": "m1"}, candidate(text), LEEDS)
    assert (decision.verdict, decision.target_id) == (Verdict.REPLACE, LEEDS.id)
