from datetime import UTC, datetime

import pytest

from memories.retrieval.query import Date, matches_date, mentioned_dates


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What did I do on May 8th, 2023?", Date(2023, 5, 8)),
        ("the trip of 8 May 2023", Date(2023, 5, 8)),
        ("on 2023-05-08", Date(2023, 5, 8)),
        ("What happened in June 2022?", Date(2022, 6)),
        ("What happened in July?", Date(None, 7)),
        ("Where did I live in 2019?", Date(2019)),
        ("我5月6号读了什么书", Date(None, 5, 6)),
        ("2023年5月6日那天", Date(2023, 5, 6)),
        ("五月二十三号去了哪里", Date(None, 5, 23)),
        ("十二月份的计划", Date(None, 12)),
        ("2022年我在哪里", Date(2022)),
    ],
)
def test_a_date_is_read_as_far_as_it_is_said(text: str, expected: Date) -> None:
    assert mentioned_dates(text) == (expected,)


@pytest.mark.parametrize("text", ["Who may go?", "last week", "room 2023B", "13月", "上周"])
def test_what_is_no_date_is_not_taken_for_one(text: str) -> None:
    assert mentioned_dates(text) == ()


def test_a_moment_matches_whatever_was_left_unsaid() -> None:
    moments = [datetime(2023, 5, 8, tzinfo=UTC), datetime(2022, 5, 8, tzinfo=UTC), None]
    assert matches_date([Date(None, 5, 8)], moments).tolist() == [1, 1, 0]
    assert matches_date([Date(2023, 5)], moments).tolist() == [1, 0, 0]
    assert matches_date([], moments).tolist() == [0, 0, 0]
