"""The made-up project of the agents' benchmark, and how an answer is judged."""

from collections import Counter

import pytest

from bench.agents import Matter, matters, writings

KINDS = ("requirement", "plan", "development", "testing", "insight")


@pytest.mark.parametrize(
    ("name", "each"), [("first", (10, 10, 10, 10, 10)), ("second", (5, 5, 6, 5, 4))]
)
def test_matters_change_and_no_edition_says_what_another_says(
    name: str, each: tuple[int, ...]
) -> None:
    rows = matters(name)
    assert Counter(one.kind for one in rows) == dict(zip(KINDS, each, strict=True))
    for one in rows:
        assert len(one.pages()) == len(one.values) >= 2
        assert [one.judged(page) for page in one.pages()[:-1]] == ["outdated"] * (
            len(one.values) - 1
        )
        assert one.judged(one.pages()[-1]) == "current"
        assert one.values[-1] not in one.question


@pytest.mark.parametrize("name", ["first", "second"])
def test_other_matters_are_written_between_two_editions(name: str) -> None:
    rows = matters(name)
    written = [matter for matter, _, _ in writings(rows)]
    gaps = [written.index(one, written.index(one) + 1) - written.index(one) for one in rows]
    assert min(gaps) >= 10


@pytest.mark.parametrize(
    ("text", "judged"),
    [
        ("It ships in June.", "current"),
        ("It ships in May.", "outdated"),
        ("It was May, and is June.", "mixed"),
        ("We hire a tester.", "other"),
    ],
)
def test_an_answer_is_judged_by_what_holds_now(text: str, judged: str) -> None:
    assert Matter("plan", "It ships in {}.", ("May", "June"), "When?").judged(text) == judged
