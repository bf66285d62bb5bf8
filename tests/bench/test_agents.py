"""The made-up project of the agents' benchmark, and how an answer is judged."""

from collections import Counter

import pytest

from bench.agents import Matter, matters, writings


def test_fifty_matters_change_and_no_edition_says_what_another_says() -> None:
    rows = matters()
    assert Counter(one.kind for one in rows) == dict.fromkeys(
        ("requirement", "plan", "development", "testing", "insight"), 10
    )
    for one in rows:
        assert len(one.values) >= 2
        assert [one.judged(page) for page in one.pages()[:-1]] == ["outdated"] * (
            len(one.values) - 1
        )
        assert one.judged(one.pages()[-1]) == "current"
        assert one.values[-1] not in one.question


def test_other_matters_are_written_between_two_editions() -> None:
    written = [matter for matter, _, _ in writings()]
    gaps = [written.index(one, written.index(one) + 1) - written.index(one) for one in matters()]
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
