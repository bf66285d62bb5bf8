"""Copies of training rows as they would be typed carelessly: labels stay with their words."""

import random

from training.careless import careless_pair, careless_row
from training.labels import Pair, Row, Span

TEXT = "Hi! I'm allergic to nuts, and my PIN is 48.21, don't tell. 我住在天水，真的。"
WORDS = ("I'm allergic to nuts", "我住在天水")


def row() -> Row:
    spans = tuple(Span(TEXT.index(w), TEXT.index(w) + len(w), {"keep": "yes"}) for w in WORDS)
    secret = TEXT.index("48.21")
    return Row("v", "en", TEXT, spans=spans, secrets=((secret, secret + 5),))


def letters(text: str) -> str:
    return "".join(sign for sign in text.lower() if sign.isalnum())


def test_the_labels_stay_with_their_words_whatever_the_spelling() -> None:
    copies = [careless_row(row(), random.Random(seed)) for seed in range(60)]
    assert len({copy.text for copy in copies}) > 20
    for copy in copies:
        for span, words in zip(copy.spans, WORDS, strict=True):
            shown = letters(copy.text[span.start : span.end])
            assert abs(len(shown) - len(letters(words))) <= 3, shown
        (start, end) = copy.secrets[0]
        assert copy.text[start:end] == "48.21"


def test_some_copies_lose_capitals_apostrophes_and_punctuation() -> None:
    texts = {careless_row(row(), random.Random(seed)).text for seed in range(60)}
    assert any(text == text.lower() for text in texts)
    assert any("im allergic" in text.lower() for text in texts)
    assert any("," not in text and "，" not in text for text in texts)


def test_a_pair_changes_in_one_text_or_both_and_keeps_its_relation() -> None:
    pair = Pair("g", "en", "I don't eat fish.", "I'm a Pisces, that's all!", "unrelated")
    copies = [careless_pair(pair, random.Random(seed)) for seed in range(40)]
    assert {copy.relation for copy in copies} == {"unrelated"}
    assert {(copy.first != pair.first, copy.second != pair.second) for copy in copies} >= {
        (True, False),
        (False, True),
        (True, True),
    }
