"""What an English time means on the day of speaking: each function reads one kind of match."""

import re
from dataclasses import dataclass
from datetime import date, timedelta

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
_SHORT = {name[:3]: index for index, name in enumerate(MONTHS, start=1)} | {"sept": 9}
_NUMBERS = {
    word: index
    for index, word in enumerate(
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
        ]
    )
} | {"a": 1, "an": 1, "a couple of": 2, "couple of": 2}


@dataclass(frozen=True)
class When:
    """A computed time: its words, the preposition it takes, and the day it begins."""

    words: str
    preposition: str
    day: date


def month_on(year: int, month: int) -> date:
    """The first day of a month, counting past either end of the year."""
    years, index = divmod(month - 1, 12)
    return date(year + years, index + 1, 1)


def _day(day: date) -> When:
    return When(words=day.isoformat(), preposition="on", day=day)


def _month(day: date) -> When:
    return When(words=f"{day:%Y-%m}", preposition="in", day=day)


def _year(year: int, season: str = "") -> When:
    return When(words=f"{season} {year}".strip(), preposition="in", day=date(year, 1, 1))


def _count(word: str) -> int:
    return int(word) if word.isdigit() else _NUMBERS[word.lower()]


_RELATIVE_DAYS = {
    "today": 0,
    "this morning": 0,
    "this afternoon": 0,
    "this evening": 0,
    "tonight": 0,
    "tomorrow": 1,
    "the day after tomorrow": 2,
    "day after tomorrow": 2,
    "yesterday": -1,
    "last night": -1,
    "the day before yesterday": -2,
    "day before yesterday": -2,
    "the other day": 0,
}


def relative_day(match: re.Match[str], today: date, past: bool) -> When | None:
    return _day(today + timedelta(days=_RELATIVE_DAYS[match["day"].lower()]))


def weekday(match: re.Match[str], today: date, past: bool) -> When | None:
    name, which = match["weekday"].lower(), (match["which"] or "").lower()
    if not name.endswith("day") and not which:  # "sat", "sun": words of their own
        return None
    wanted = [day[:3] for day in WEEKDAYS].index(name[:3])
    monday = today - timedelta(days=today.weekday())
    if which in ("last", "past"):
        return _day(today - timedelta(days=(today.weekday() - wanted) % 7 or 7))
    if which == "next":
        return _day(monday + timedelta(days=7 + wanted))
    if past:
        return _day(today - timedelta(days=(today.weekday() - wanted) % 7))
    return _day(today + timedelta(days=(wanted - today.weekday()) % 7))


_STEP = {"last": -1, "past": -1, "this": 0, "this coming": 0, "the coming": 0, "next": 1}


def span(match: re.Match[str], today: date, past: bool) -> When | None:
    step, unit = _STEP[match["which"].lower()], match["unit"].lower()
    monday = today - timedelta(days=today.weekday())
    if unit == "week":
        return _week(monday + timedelta(days=7 * step))
    if unit == "weekend":
        saturday = monday + timedelta(days=5 + 7 * step)
        return When(words=f"the weekend of {saturday}", preposition="on", day=saturday)
    if unit == "month":
        return _month(month_on(today.year, today.month + step))
    return _year(today.year + step, "" if unit == "year" else unit)


def _week(monday: date) -> When:
    return When(words=f"the week of {monday}", preposition="in", day=monday)


def distance(match: re.Match[str], today: date, past: bool) -> When | None:
    sign = -1 if match["ago"] else 1
    count, unit = sign * _count(match["n"]), match["unit"].lower()
    if unit == "day":
        return _day(today + timedelta(days=count))
    if unit in ("week", "weekend"):
        return _week(today - timedelta(days=today.weekday()) + timedelta(days=7 * count))
    if unit == "month":
        return _month(month_on(today.year, today.month + count))
    return _year(today.year + count)


def some_ago(match: re.Match[str], today: date, past: bool) -> When | None:
    unit = match["unit"].lower()
    before = str(today.year) if unit == "year" else today.isoformat()
    return When(words=f"{match['some'].lower()} {unit}s before {before}", preposition="", day=today)


def year_for(month: int, day: int, today: date, past: bool) -> int:
    """The nearest year in which that day lies behind today or, without `past`, ahead of it."""
    if past:
        return today.year - 1 if (month, day) > (today.month, today.day) else today.year
    return today.year + 1 if (month, day) < (today.month, today.day) else today.year


def calendar_day(match: re.Match[str], today: date, past: bool) -> When | None:
    month, day = _SHORT[match["month"].lower().rstrip(".")[:3]], int(match["date"])
    year = int(match["year"]) if match["year"] else year_for(month, day, today, past)
    return _safe_day(year, month, day)


def _safe_day(year: int, month: int, day: int) -> When | None:
    try:
        return _day(date(year, month, day))
    except ValueError:  # February 30
        return None


def bare_month(match: re.Match[str], today: date, past: bool) -> When | None:
    month = _SHORT[match["month"].lower().rstrip(".")[:3]]
    which = (match["which"] or "").lower()
    if not (which or match["prep"] or match["year"]):  # "may", "march": more often verbs
        return None
    year = int(match["year"]) if match["year"] else year_for(month, 28, today, past)
    if which in ("last", "next") and not match["year"]:
        year = year_for(month, 28, today, which == "last")
    return _month(date(year, month, 1))


def day_of_month(match: re.Match[str], today: date, past: bool) -> When | None:
    step = {"next": 1, "last": -1}.get((match["which"] or "").lower(), 0)
    day = int(match["date"])
    if not match["which"] and ((day < today.day) != past) and day != today.day:
        step = -1 if past else 1
    month = month_on(today.year, today.month + step)
    return _safe_day(month.year, month.month, day)


def month_end(match: re.Match[str], today: date, past: bool) -> When | None:
    step = 1 if match["which"].lower() == "next" else 0
    if match["unit"].lower() == "week":
        return _day(today + timedelta(days=6 - today.weekday() + 7 * step))
    if match["unit"].lower() == "year":
        return When(f"the end of {today.year + step}", "at", date(today.year + step, 12, 31))
    month = month_on(today.year, today.month + step)
    return When(words=f"the end of {month:%Y-%m}", preposition="at", day=month)
