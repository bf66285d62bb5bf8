"""Calendar arithmetic for relative dates: the next Friday, next month, two weeks ago."""

from __future__ import annotations

import calendar
from dataclasses import dataclass
from datetime import date, timedelta

Days = tuple[date, date]  # the first and the last day
_EARLY = ("early", "beginning", "start", "anfang", "princ", "com", "déb", *"初头頭上")
_MIDDLE = ("mid", "mitte", "med", "mi", "中")


@dataclass(frozen=True)
class DateMention:
    """A date in a text: `text[start:end]` names the days from `first` to `last`.

    `relative` means that the wording counts from the day of speaking, as "tomorrow" does. `kind` is
    "on", "since" (something begins then) or "until" (something ends or is due then). `loose` marks
    a weekday without a date and without a word such as "next".
    """

    start: int
    end: int
    first: date
    last: date
    relative: bool
    kind: str = "on"
    loose: bool = False


def month_of(year: int, month: int, edge: str = "") -> Days:
    """Return the first and last day of a month, or of its beginning, middle or end.

    `edge` is a word for one of these parts ("early", "mid"), or empty for the whole month. Month
    numbers below 1 or above 12 roll over into earlier or later years.
    """
    years, index = divmod(month - 1, 12)
    first = date(year + years, index + 1, 1)
    last = first.replace(day=calendar.monthrange(first.year, first.month)[1])
    if edge.startswith(_EARLY):
        return first, first.replace(day=10)
    if edge.startswith(_MIDDLE):
        return first.replace(day=11), first.replace(day=20)
    return (first.replace(day=21) if edge else first), last


def year_days(year: int, edge: str = "") -> Days:
    """Return the first and last day of a year, or of the month at its beginning, middle or end.

    These months are January, June and December. `edge` is a Chinese word for one of these parts.
    """
    if edge:
        return month_of(year, {"初": 1, "头": 1, "頭": 1, "中": 6}.get(edge[0], 12))
    return date(year, 1, 1), date(year, 12, 31)


def monday_of(today: date, step: int) -> date:
    """Return the Monday of the week that is `step` weeks after the week of `today`."""
    return today - timedelta(days=today.weekday() - 7 * step)


@dataclass(frozen=True)
class Sentence:
    """A text, and the context that is needed to interpret its dates."""

    text: str
    today: date
    language: str
    past: bool
    habit: bool  # the statement recurs, so a weekday, or a month without a year, isn't a date
    yearly: bool
    before: str = ""  # the text before the match that is parsed
    after: str = ""  # the text after this match
    # The type of the word before a match: every, since, moved, from, until, prep, or none.
    lead: str = ""

    def year_of(self, month: int, day: int) -> int:
        """Return the year in which the day occurs next or, in a past statement, occurred last.

        Raise `ValueError` if the statement recurs, since no single year is meant.
        """
        if self.habit or self.yearly:
            raise ValueError("no one year")
        today = (self.today.month, self.today.day)
        if self.past:
            return self.today.year - ((month, day) > today)
        return self.today.year + ((month, day) < today)

    def weekday(self, wanted: int, step: int | None) -> date:
        """Return the date of a weekday.

        `step` is 1 for "next", 0 for "this", -1 for "last", 2 for "the coming", and None if the
        text has none of these words.
        """
        if step == 1 or (step == 0 and wanted >= self.today.weekday()):
            return monday_of(self.today, step) + timedelta(days=wanted)
        if step == -1 or (step is None and self.past):
            return self.today - timedelta(days=(self.today.weekday() - wanted) % 7 or 7)
        ahead = (wanted - self.today.weekday()) % 7
        return self.today + timedelta(days=ahead or (7 if step == 2 else 0))

    def nth(self, day: int) -> Days:
        """Return the next date with this day of the month, or the last date in a past statement.

        The date is both the first and the last day of the result. Raise `ValueError` if the month
        has no such day.
        """
        step = 0 if day == self.today.day or (day < self.today.day) == self.past else 1
        first, _ = month_of(self.today.year, self.today.month + (-step if self.past else step))
        return (first.replace(day=day),) * 2

    def distance(self, count: int, unit: str) -> Days:
        """Return the first and last day of the day, week, month or year `count` units after today.

        `unit` is one of these four words. A negative `count` means units before today.
        """
        if unit == "day":
            day = self.today + timedelta(days=count)
            return day, day
        if unit == "week":
            monday = monday_of(self.today, count)
            return monday, monday + timedelta(days=6)
        if unit == "month":
            return month_of(self.today.year, self.today.month + count)
        return year_days(self.today.year + count)
