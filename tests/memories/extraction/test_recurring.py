"""Times that come again stay as they were said; only times that come once become dates."""

from datetime import date

import pytest

from memories.extraction.rules import en_dates, zh_dates

WEDNESDAY = date(2025, 6, 18)


@pytest.mark.parametrize(
    "said",
    [
        "runs every Tuesday and Thursday evening",
        "meets at 2 pm on the first Tuesday of every month",
        "works Monday to Friday",
        "is free on Tuesdays and Thursdays",
        "pays rent on the 1st of each month",
        "has the kids every other Friday",
        "trains Saturday mornings",
        "goes home each September",
    ],
)
def test_english_times_that_come_again_are_no_dates(said: str) -> None:
    assert en_dates.resolve(said, today=WEDNESDAY, past=False) == (said, None)


@pytest.mark.parametrize(
    "said",
    [
        "每周二和周四晚上跑五公里",
        "每个月第一个周六回老家",
        "每年五月去体检",
        "周一到周五上班",
        "每周一三五练琴",
        "每月15号发工资",
        "周三和周六早上跑步",
        "每两周的周五打球",
    ],
)
def test_chinese_times_that_come_again_are_no_dates(said: str) -> None:
    assert zh_dates.resolve(said, today=WEDNESDAY, past=False) == (said, None)


def test_a_time_that_comes_once_beside_one_that_comes_again_is_a_date() -> None:
    english = en_dates.resolve("plays on Mondays until Friday", today=WEDNESDAY, past=False)
    chinese = zh_dates.resolve("下周三起每周五练琴", today=WEDNESDAY, past=False)

    assert english == ("plays on Mondays until 2025-06-20", date(2025, 6, 20))
    assert chinese == ("2025年6月25日起每周五练琴", date(2025, 6, 25))


def test_signs_that_hide_a_time_never_stay_in_the_text() -> None:
    said = " and ".join(["every Monday"] * 80) + " until Friday"
    text, _ = en_dates.resolve(said, today=WEDNESDAY, past=False)

    assert "every Monday" in text
    assert not any("\ue100" <= sign <= "\ue1ff" for sign in text)


def test_a_holiday_of_a_fixed_day_gets_its_year() -> None:
    assert zh_dates.resolve("元旦去滑雪", today=WEDNESDAY, past=False) == (
        "2026年元旦去滑雪",
        date(2026, 1, 1),
    )


def test_the_end_of_next_week_is_its_sunday() -> None:
    said = en_dates.resolve("needs it by the end of next week", today=WEDNESDAY, past=False)

    assert said == ("needs it by 2025-06-29", date(2025, 6, 29))
