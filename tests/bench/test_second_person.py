"""How labels of two persons are joined, and how the second one is measured."""

from typing import Any

from bench import reader as bench

TEXT = "my sister Ada is a vet and I had soup and we live in Leeds"


def row() -> dict[str, Any]:
    spans = [
        {"quote": quote, "keep": keep, "said": "asserted", "whose": "self"}
        for quote, keep in (
            ("my sister Ada is a vet", "yes"),
            ("I had soup", "no"),
            ("we live in Leeds", "yes"),
        )
    ]
    labels = {"spans": spans, "secrets": [], "second": ["Ada is a vet", "I had soup"]}
    return {"voice": "v", "lang": "en", "conversation": "c", "n": 1, "text": TEXT} | labels


def test_only_what_both_would_keep_is_wanted() -> None:
    keeps = [span["keep"] for span in bench.agreed(row())["spans"]]
    assert keeps == ["yes", "by one of two", "by one of two"]


def test_what_the_first_person_has_not_labelled_is_added_in_order() -> None:
    one = row()
    one["spans"] = one["spans"][2:]
    found = bench.agreed(one)["spans"]
    assert [span["quote"] for span in found] == ["Ada is a vet", "I had soup", "we live in Leeds"]
    assert {span["keep"] for span in found} == {"by one of two"}


def test_the_second_person_is_measured_against_the_first() -> None:
    figures = bench.second_person([row()])["en"]
    assert (figures["wanted"], figures["matter P"], figures["matter R"]) == (2, 0.5, 0.5)
