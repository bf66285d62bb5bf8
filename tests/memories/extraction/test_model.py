"""Extracting by a model, at a real server that answers whatever a model might."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from foundation.errors import ProviderError
from foundation.providers.base import TooLong
from foundation.text import tokens
from memories.extraction.chat_model.model_calls import UnreadableAnswer
from memories.extraction.types import OWNER_UNSURE
from tests.chat_server import Answer, completion, refused, said
from tests.memories.extraction.modelling import (
    SAYS_TEA,
    TEA,
    Model,
    contents,
    tea,
)
from tests.memories.extraction.readings import statement


def test_a_proposal_becomes_a_candidate_that_knows_its_words(model: Model) -> None:
    model.proposes(TEA)
    (found,) = model.hears(SAYS_TEA).candidates
    assert (found.content, found.kind) == ("Adores oolong tea", "preference")
    assert SAYS_TEA[found.quote_start :].startswith("I really adore oolong tea")
    assert (found.importance, found.confidence, found.tags) == (0.5, 0.9, ("food",))
    assert not found.explicit
    assert found.reasons == ("model",)


def test_each_question_is_accounted_for(model: Model) -> None:
    model.proposes(TEA)
    model.hears(SAYS_TEA)
    (use,) = model.uses
    assert (use.step, use.provider, use.model) == ("extract", "openai_compatible", "tiny")
    assert (use.prompt_version, use.outcome) == ("extract-3", "ok")
    assert (use.input_tokens, use.output_tokens) == (7, 5)


def test_what_a_server_doesnt_count_is_counted_here(model: Model) -> None:
    model.answers(said({"memories": []}, usage=None))
    model.hears(SAYS_TEA)
    sent = model.server.asked[0]["messages"]
    assert model.uses[0].input_tokens == sum(tokens.count(one["content"]) for one in sent)
    assert model.uses[0].output_tokens == tokens.count('{"memories": []}')


def test_chinese_is_asked_about_and_remembered_in_chinese(model: Model) -> None:
    model.proposes(tea(quote="特别喜欢喝乌龙茶", content="特别喜欢喝乌龙茶"))
    (found,) = model.hears("我特别喜欢喝乌龙茶，你呢？").candidates
    assert found.content == "特别喜欢喝乌龙茶"
    assert "中文" in model.server.asked[0]["messages"][0]["content"]


def test_what_the_reader_would_keep_is_shown_as_a_hint_and_decides_nothing(model: Model) -> None:
    model.told.hears(SAYS_TEA, statement(SAYS_TEA, "I really adore oolong tea"))
    model.answers(said({"memories": []}))
    assert not model.hears(SAYS_TEA).candidates
    [span] = model.server.material()["spans"]
    assert span in SAYS_TEA and span in model.server.material()["message"]


@pytest.mark.parametrize(
    ("message", "quote", "content"),
    [
        ("我特别喜欢喝乌龙茶。", "特别喜欢喝乌龙茶", "Loves oolong tea"),
        ("I really adore oolong tea.", "I really adore oolong tea", "特别喜欢喝乌龙茶"),
    ],
)
def test_a_memory_in_another_language_gives_way_to_their_own_words(
    model: Model, message: str, quote: str, content: str
) -> None:
    model.proposes(tea(quote=quote, content=content))
    assert contents(model.hears(message)) == [quote]


def test_a_foreign_name_in_a_chinese_memory_is_not_another_language(model: Model) -> None:
    model.proposes(tea(quote="我住在 New York City", content="住在 New York City"))
    assert contents(model.hears("我住在 New York City 好几年了")) == ["住在 New York City"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (10**15, 1.0),
        (-4, 0.0),
        ("0.8", 0.8),
        ("very", 0.5),
        (None, 0.5),
        (True, 0.5),
        ([0.9], 0.5),
        (10**400, 1.0),
        (float("inf"), 1.0),
        (float("nan"), 0.5),
    ],
)
def test_numbers_out_of_range_are_brought_back(
    model: Model, value: object, expected: float
) -> None:
    model.proposes(tea(importance=value))
    assert model.hears(SAYS_TEA).candidates[0].importance == expected


@pytest.mark.parametrize(
    ("kind", "expected"), [("Preference", "preference"), ("hobby", "fact"), (7, "fact")]
)
def test_unknown_kinds_are_facts(model: Model, kind: object, expected: str) -> None:
    model.proposes(tea(kind=kind))
    assert model.hears(SAYS_TEA).candidates[0].kind == expected


def test_tags_are_topics_in_the_language_of_the_statement(model: Model) -> None:
    model.proposes(tea(tags=["饮食", "Health", "oolong"]))
    assert model.hears(SAYS_TEA).candidates[0].tags == ("food", "health")


def test_what_the_quotation_names_becomes_data(model: Model) -> None:
    said = "My sister Zofia pays $900 rent since 2019"
    model.proposes(tea(content="Sister Zofia pays $900 rent since 2019", quote=said))
    assert model.hears(said).candidates[0].data == {
        "since": "2019-01-01",
        "amounts": ["$900"],
        "names": ["Zofia"],
        "relation": "sister",
    }


def test_a_limit_whose_owner_the_reader_doubts_is_asked_about(model: Model) -> None:
    said = "no walnuts in it"
    unsure = statement(said, "no walnuts", kind="constraint")
    shares = {**unsure.shares, "whose": {"self": 0.5, "related": 0.3, "others": 0.2}}
    model.told.hears(said, replace(unsure, shares=shares))
    model.proposes(tea(kind="constraint", content="Avoids walnuts", quote="no walnuts", tags=[]))
    (found,) = model.hears(said).candidates
    assert found.content == "no walnuts" and found.confidence == 0.4
    assert OWNER_UNSURE in found.reasons and found.tags


@pytest.mark.parametrize("tags", [None, "tea", {"a": 1}, [1, None, "", "x" * 80]])
def test_strange_tags_are_no_tags(model: Model, tags: object) -> None:
    model.proposes(tea(tags=tags))
    assert model.hears(SAYS_TEA).candidates[0].tags == ()


@pytest.mark.parametrize("item", [None, 3, "x", [], {}, {"content": 5, "quote": []}])
def test_items_of_the_wrong_shape_are_left_out(model: Model, item: object) -> None:
    model.proposes(item, TEA)
    assert contents(model.hears(SAYS_TEA)) == ["Adores oolong tea"]


@pytest.mark.parametrize(
    "item", [{"content": 5, "quote": "tea"}, {"content": "Adores tea"}, {"text": "tea"}, None]
)
def test_an_answer_without_one_usable_item_is_no_answer(model: Model, item: object) -> None:
    model.proposes(item, item)
    with pytest.raises(UnreadableAnswer):
        model.hears(SAYS_TEA)
    assert model.uses[0].outcome == "unreadable"


def test_signs_that_no_store_takes_are_removed(model: Model) -> None:
    model.proposes(tea(content="Adores\x00 oolong\ud800\n tea\ue000"))
    assert contents(model.hears(SAYS_TEA)) == ["Adores oolong tea"]


def test_a_list_without_end_is_cut_off_and_what_is_whole_is_kept(model: Model) -> None:
    items = [tea(content="Adores " + "very " * n + "good oolong tea") for n in range(90)]
    whole = json.dumps({"memories": items})
    model.answers(said(whole[: len(whole) // 2], finish="length"))
    assert len(model.hears(SAYS_TEA).candidates) == 20
    assert model.uses[0].outcome == "truncated"


@pytest.mark.parametrize("left_off", [2, 1, 40])
def test_a_truncated_answer_gives_its_whole_items(model: Model, left_off: int) -> None:
    answer = json.dumps({"memories": [TEA, tea(content="Adores oolong", quote="oolong tea")]})
    model.answers(said(answer[:-left_off], finish="length"))
    assert contents(model.hears(SAYS_TEA))[0] == "Adores oolong tea"


@pytest.mark.parametrize(
    "around",
    ["{}", "```json\n{}\n```", "Sure! {{not}} here: {}", "<think>{{x}}</think>{}", "{}   "],
)
def test_json_is_found_among_other_things(model: Model, around: str) -> None:
    inner = json.dumps({"memories": [TEA]})
    model.answers(said(around.replace("{{", "{").replace("}}", "}").replace("{}", inner)))
    assert contents(model.hears(SAYS_TEA)) == ["Adores oolong tea"]


@pytest.mark.parametrize(
    "answer",
    ["The user likes tea.", "[" * 5000, '{"memories": ', '{"memories": [{"quote": "I', "{}", "7"],
)
def test_an_answer_without_json_may_be_asked_for_again(model: Model, answer: str) -> None:
    model.answers(said(answer))
    with pytest.raises(UnreadableAnswer) as caught:
        model.hears(SAYS_TEA)
    assert caught.value.retryable
    assert model.uses[0].outcome == "unreadable"


@pytest.mark.parametrize("answer", [refused(500), completion([]), said("")])
def test_a_failed_call_is_raised_and_accounted_for(model: Model, answer: Answer) -> None:
    model.answers(answer)
    with pytest.raises(ProviderError) as caught:
        model.hears(SAYS_TEA)
    assert caught.value.retryable
    assert [use.outcome for use in model.uses] == ["failed"]


def test_a_message_too_long_for_the_model_is_read_in_pieces(model: Model) -> None:
    long = "\n".join(f"Word number {n} is here." for n in range(150)) + f"\n{SAYS_TEA}"
    too_much = refused(400, type="exceed_context_size_error")
    nothing = said({"memories": []})
    model.answers(too_much, too_much, nothing, nothing, said({"memories": [TEA]}))
    assert contents(model.hears(long)) == ["Adores oolong tea"]
    around = ["earlier" in model.server.material(n) for n in range(3)]
    assert around == [True, False, False]
    pieces = [model.server.material(n)["message"] for n in range(2, len(model.server.asked))]
    assert all(f"Word number {n} is" in "".join(pieces) for n in range(150))


def test_a_model_that_can_read_nothing_fails_for_good(model: Model) -> None:
    model.answers(refused(400, type="exceed_context_size_error"))
    with pytest.raises(TooLong):
        model.hears(SAYS_TEA)
