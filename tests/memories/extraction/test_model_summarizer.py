from __future__ import annotations

import json

import pytest

from foundation.text import tokens
from memories.extraction.chat_model.model_calls import UnreadableAnswer
from tests.chat_server import Answer, refused, said
from tests.memories.extraction.modelling import (
    Model,
)

TALK = [("user", "I plan a trip to Kyoto in May."), ("assistant", "Lovely!")]


def summarized(model: Model, answer: Answer, *, most: int = 60) -> str:
    model.answers(answer)
    return model.summarizer.summarize("", TALK, max_tokens=most)


def test_a_summary_is_what_the_model_says(model: Model) -> None:
    text = "The user plans a trip to Kyoto in May."
    assert summarized(model, said({"summary": text})) == text
    assert [message["text"] for message in model.server.material()["messages"]] == [
        text for _, text in TALK
    ]
    assert model.uses[0].step == "summarize"


def test_a_summary_never_takes_more_than_its_tokens(model: Model) -> None:
    sentences = " ".join(f"The user plans trip number {n} to Kyoto." for n in range(50))
    text = summarized(model, said({"summary": sentences}))
    assert 0 < tokens.count(text) <= 60
    assert text.endswith("Kyoto.")


def test_a_summary_that_goes_round_in_circles_says_each_thing_once(model: Model) -> None:
    text = summarized(model, said({"summary": "The user plans a trip. " * 40}), most=300)
    assert text == "The user plans a trip."


def test_a_summary_that_was_cut_off_is_kept_as_far_as_it_goes(model: Model) -> None:
    answer = said('{"summary": "The user plans a \\"trip\\". They wa', finish="length")
    assert summarized(model, answer).startswith('The user plans a "trip".')


@pytest.mark.parametrize("text", ["A summary.", '{"summary": ""}', '{"summary": 5}', "{}"])
def test_a_summary_that_says_nothing_may_be_asked_for_again(model: Model, text: str) -> None:
    with pytest.raises(UnreadableAnswer):
        summarized(model, said(text))


def test_secrets_are_neither_sent_to_be_summarized_nor_kept(model: Model) -> None:
    model.answers(said({"summary": "The user's password is hunter2x99 and they like Kyoto."}))
    talk = [("user", "My password is swordfish77 for the bank.")]
    text = model.summarizer.summarize("The PIN code is 4711.", talk, max_tokens=60)
    assert "hunter2x99" not in text
    assert "Kyoto" in text
    assert "swordfish77" not in json.dumps(model.server.asked)


def test_a_long_talk_is_rolled_up_piece_by_piece(model: Model) -> None:
    talk = [("user", f"Point {n}. " + "More words are said here. " * 150) for n in range(6)]
    model.answers(said({"summary": "First."}), said({"summary": "First and second."}))
    assert model.summarizer.summarize("Before.", talk, max_tokens=60) == "First and second."
    before = [model.server.material(n)["previous"] for n in range(2)]
    assert before == ["Before.", "First."]
    shown = [len(model.server.material(n)["messages"]) for n in range(len(model.server.asked))]
    assert sum(shown) == 6


def test_a_talk_too_long_for_the_model_is_cut_smaller(model: Model) -> None:
    model.answers(refused(400, code="context_length_exceeded"), said({"summary": "Kyoto."}))
    assert model.summarizer.summarize("", TALK, max_tokens=60) == "Kyoto."
