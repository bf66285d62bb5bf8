"""English times that depend on the day of speaking, as dates that stay true."""

import re
from collections.abc import Callable
from datetime import date

from memories.extraction.rules import en_calendar, recurring
from memories.extraction.rules.en_calendar import When

_NUMBER = (
    r"(?P<n>\d{1,3}|an?|one|two|three|four|five|six|seven"
    r"|eight|nine|ten|eleven|twelve|(?:a )?couple of)"
)
_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|"
    r"aug(?:ust)?|"
    r"sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_WEEKDAY = r"(?P<weekday>(?:mon|tues?|wed(?:nes)?|thur?s?|fri|sat(?:ur)?|sun)(?:day)?)"
_PREPOSITION = (
    r"(?:\b(?P<prep>since|until|till|by|before|after|from|to|on|in|at|during|starting)\s+)?"
)
_PART = r"(?:\s+(?:morning|afternoon|evening|night))?"

_Resolver = Callable[[re.Match[str], date, bool], When | None]


def _row(pattern: str, resolver: _Resolver) -> tuple[re.Pattern[str], _Resolver]:
    return re.compile(_PREPOSITION + pattern, re.IGNORECASE), resolver


_ROWS: tuple[tuple[re.Pattern[str], _Resolver], ...] = (
    _row(
        rf"{_MONTH}\s+(?:the\s+)?(?P<date>\d{{1,2}})(?:st|nd|rd|"
        r"th)?\b(?!:\d|\s?(?:am|pm|a\.m|p\.m)\b)(?:,?\s+(?P<year>(?:19|20)\d\d))?",
        en_calendar.calendar_day,
    ),
    _row(
        rf"(?:the\s+)?(?P<date>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH}(?:,"
        r"?\s+(?P<year>(?:19|20)\d\d))?",
        en_calendar.calendar_day,
    ),
    _row(
        r"(?P<day>(?:the )?day (?:after tomorrow|before yesterday)|today|tonight|tomorrow|"
        rf"yesterday|last night|this (?:morning|afternoon|evening))\b{_PART}",
        en_calendar.relative_day,
    ),
    _row(
        r"(?:the\s+)?(?P<date>\d{1,2})(?:st|nd|rd|th)\s+of\s+(?P<which>this|next|last)"
        r"\s+month\b",
        en_calendar.day_of_month,
    ),
    _row(
        r"the\s+(?P<date>\d{1,2})(?:st|nd|rd|th)(?:\s+of\s+(?P<which>this|next|last)"
        r"\s+month)?\b"
        r"(?!\s+(?!(?:at|in|with|for|to|from|and|or|but|because|if|around|by|until)\b)\w+)",
        en_calendar.day_of_month,
    ),
    _row(
        r"(?:the )?end of (?P<which>the|this|next) (?P<unit>week|month|year)\b",
        en_calendar.month_end,
    ),
    _row(
        rf"(?:(?P<which>this coming|this|next|last|past)\s+)?{_WEEKDAY}\b{_PART}(?!s)",
        en_calendar.weekday,
    ),
    _row(
        r"(?P<which>this coming|the coming|this|next|last|past) (?P<unit>weekend|week|"
        r"month|year|summer|spring|autumn|fall|winter)\b",
        en_calendar.span,
    ),
    _row(
        rf"(?:(?:about|around|over|almost|nearly|like) )?{_NUMBER} (?P<unit>day|week|"
        r"weekend|month|year)s? (?P<ago>ago|back)\b",
        en_calendar.distance,
    ),
    _row(
        r"(?P<some>a few|several|many|some) (?P<unit>day|week|month|year)s? (?:ago|back)\b",
        en_calendar.some_ago,
    ),
    _row(
        rf"(?:in|within) {_NUMBER} (?P<unit>day|week|month|"
        r"year)s?(?:' time)?(?P<ago>\bago)?\b(?! of\b)",
        en_calendar.distance,
    ),
    _row(
        r"(?:(?P<which>this|next|last)\s+)?(?:early |late |"
        rf"mid-?)?{_MONTH}(?:,?\s+(?P<year>(?:19|20)\d\d))?",
        en_calendar.bare_month,
    ),
)

HINT = re.compile(
    r"day\b|morrow|\btonight|\bthis (?:morning|after|even|week|month|year|s|autumn|"
    r"fall|winter|com)|"
    r"\b(?:last|next|past|coming)\b|\bago\b|\bback\b|\bin (?:a|an|\d|[a-z]+ (?:day|"
    r"week|month|year))|"
    r"\d(?:st|nd|rd|th)|\bend of\b|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|"
    r"dec)",
    re.IGNORECASE,
)
_YEAR = re.compile(r"\b(?:in|since|by) ((?:19|20)\d\d)\b")
LEFT_OVER = re.compile(
    r"\b(?:today|tomorrow|yesterday|tonight|this (?:morning|evening|afternoon|week|"
    r"weekend|month|"
    r"year)|(?:last|next) (?:week|month|year|time|night)|days? ago|the other day)\b",
    re.IGNORECASE,
)
_KEPT = ("since", "until", "till", "by", "before", "after", "from", "to", "starting")


def resolve(text: str, *, today: date, past: bool) -> tuple[str, date | None]:
    """`text` with each time that depends on `today` as a date, and the first such day."""
    if not HINT.search(text):
        return _with_year(text)
    text, repeated = recurring.hidden(text, chinese=False)
    text, first = _dated(text, today=today, past=past)
    return recurring.restored(text, repeated), first


def _with_year(text: str) -> tuple[str, date | None]:
    year = _YEAR.search(text)
    return text, date(int(year[1]), 1, 1) if year else None


def _dated(text: str, *, today: date, past: bool) -> tuple[str, date | None]:
    first: date | None = None
    for pattern, resolver in _ROWS:

        def dated(match: re.Match[str], resolver: _Resolver = resolver) -> str:
            nonlocal first
            when = _safely(resolver, match, today, past)
            if when is None:
                return match[0]
            first = first or when.day
            said = (match["prep"] or "").lower()
            preposition = said if said in _KEPT else when.preposition
            return f"{preposition} {when.words}".strip()

        text = pattern.sub(dated, text)
    return text, first


def _safely(resolver: _Resolver, match: re.Match[str], today: date, past: bool) -> When | None:
    """A count that leads out of the calendar ("999 years ago") isn't a date."""
    try:
        return resolver(match, today, past)
    except (ValueError, OverflowError):
        return None
