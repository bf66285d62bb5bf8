from collections import Counter
from datetime import datetime
from typing import Any

import pytest

from bench.labelled import LANGUAGES, PARTS, Label, read_rows, says
from memories.extraction.types import Verdict
from memories.models import Kind

SETS = [(name, language) for name in ("extraction", "arbitration") for language in LANGUAGES]
CATEGORIES = {"password", "api_key", "card", "bank_account", "identity_number", "address"}
RELATIONS = {
    "same",
    "paraphrase",
    "update",
    "correction",
    "contradiction",
    "refinement",
    "different",
}


def labels(language: str) -> list[tuple[str, dict[str, Any]]]:
    rows = read_rows("extraction", language)
    return [(row["id"], label) for row in rows for label in row["labels"]]


@pytest.mark.parametrize(("name", "language"), SETS)
def test_ids_are_unique_and_the_parts_take_turns(name: str, language: str) -> None:
    rows = read_rows(name, language)

    assert [row["id"] for row in rows] == [f"{language}-{n:03}" for n in range(1, len(rows) + 1)]
    assert [row["part"] for row in rows] == [PARTS[n % 2] for n in range(len(rows))]


@pytest.mark.parametrize(("name", "language", "fewest"), [(*one, 150) for one in SETS])
def test_the_sets_are_as_large_as_the_targets_ask(name: str, language: str, fewest: int) -> None:
    assert len(read_rows(name, language)) >= fewest + (10 if name == "extraction" else 0)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_category_of_turns_is_in_both_parts(language: str) -> None:
    rows = read_rows("extraction", language)

    seen = {part: {row["category"] for row in rows if row["part"] == part} for part in PARTS}

    assert seen["dev"] == seen["report"]
    assert len(seen["dev"]) >= 20


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_turn_and_no_pair_is_there_twice(language: str) -> None:
    turns = Counter(
        (row["turn"]["user"], row["turn"]["before_assistant"], *row["turn"]["before"])
        for row in read_rows("extraction", language)
    )
    pairs = Counter(
        (row["known"]["text"], row["candidate"]["text"])
        for row in read_rows("arbitration", language)
    )

    assert [one for one, count in (turns + pairs).items() if count > 1] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_turn_was_said_at_a_moment_with_a_zone(language: str) -> None:
    for row in read_rows("extraction", language):
        assert datetime.fromisoformat(row["turn"]["spoken_at"]).tzinfo is not None, row["id"]
        assert row["turn"]["user"].strip() and row["turn"]["assistant"].strip(), row["id"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_labels_have_kinds_that_exist_and_keywords(language: str) -> None:
    for name, label in labels(language):
        assert label["kinds"] and set(label["kinds"]) <= set(Kind.values), name
        assert label["must"] and all(group and all(group) for group in label["must"]), name
        assert all(label.get("must_not", ["-"])), name


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_a_label_must_say_is_never_what_it_must_not(language: str) -> None:
    for name, row in labels(language):
        label = Label.of(row)
        for group in label.must:
            free = [word for word in group if not any(says(word, bad) for bad in label.must_not)]
            assert free, (name, group)


@pytest.mark.parametrize("language", LANGUAGES)
def test_some_text_fits_every_label(language: str) -> None:
    for name, row in labels(language):
        label = Label.of(row)
        text = "; ".join(
            next(word for word in group if not any(says(word, bad) for bad in label.must_not))
            for group in label.must
        ).replace("*", "")
        assert label.fits(text), (name, text)


@pytest.mark.parametrize("language", LANGUAGES)
def test_many_turns_hold_nothing_to_remember(language: str) -> None:
    rows = read_rows("extraction", language)

    nothing = sum(not row["labels"] for row in rows)

    assert nothing >= len(rows) / 5


@pytest.mark.parametrize("language", LANGUAGES)
def test_secrets_stand_in_their_turn_and_in_no_label(language: str) -> None:
    for row in read_rows("extraction", language):
        for secret in row.get("secrets", ()):
            assert secret in row["turn"]["user"], row["id"]
            assert not any(
                secret in word
                for label in row["labels"]
                for group in label["must"]
                for word in group
            ), row["id"]
        named = {category for any_of in row.get("refused", ()) for category in any_of}
        assert named <= CATEGORIES, row["id"]
        assert bool(named) == bool(row.get("secrets")), row["id"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_relation_of_pairs_is_in_both_parts(language: str) -> None:
    rows = read_rows("arbitration", language)

    for part in PARTS:
        counts = Counter(row["class"] for row in rows if row["part"] == part)
        assert set(counts) == RELATIONS
        assert min(counts.values()) >= 10


@pytest.mark.parametrize("language", LANGUAGES)
def test_pairs_expect_verdicts_that_exist_of_kinds_that_exist(language: str) -> None:
    for row in read_rows("arbitration", language):
        assert row["expected"] and set(row["expected"]) <= {one.value for one in Verdict}, row["id"]
        assert {row["known"]["kind"], row["candidate"]["kind"]} <= set(Kind.values), row["id"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_only_what_the_speaker_overrules_is_a_correction(language: str) -> None:
    for row in read_rows("arbitration", language):
        decided = row["candidate"].get("corrects") or row["candidate"].get("explicit")
        assert bool(decided) == (row["class"] == "correction"), row["id"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_contradiction_may_never_be_kept_as_both(language: str) -> None:
    for row in read_rows("arbitration", language):
        if row["class"] == "contradiction":
            assert not {"ADD", "KEEP_BOTH", "SKIP"} & set(row["expected"]), row["id"]
