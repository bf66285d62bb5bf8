"""Find the days and months that a question names, and check whether a moment lies in them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_MONTHS = "january february march april may june july august september october november december"
_NUMBER = {name: number for number, name in enumerate(_MONTHS.split(), 1)}
_NUMBER |= {name[:3]: number for name, number in _NUMBER.items()} | {"sept": 9}
_CHINESE = dict(zip("一二三四五六七八九", range(1, 10), strict=True))

_MONTH = "|".join(sorted(_NUMBER, key=len, reverse=True))
_DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?(?!\d)"
_YEAR = r"(?P<year>(?:19|20)\d\d)(?!\d)"
_CHINESE_NUMBER = "[0-3]?\\d|[一二三四五六七八九十]{1,3}"
_PATTERNS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b{_YEAR}[-/.](?P<month>[01]?\d)[-/.](?P<day>[0-3]?\d)(?!\d)",
        rf"\b(?P<month>{_MONTH})\.? {_DAY}(?:,? {_YEAR})?",
        rf"\b{_DAY}(?: of)? (?P<month>{_MONTH})\b\.?(?:,? {_YEAR})?",
        rf"\b(?P<month>{_MONTH})\b\.?,? {_YEAR}",
        rf"\b(?:in|since|during|last|this|of|mid|early|late) (?P<month>{_MONTH})\b",
        rf"(?:{_YEAR}年)?(?P<month>{_CHINESE_NUMBER})月(?:份|(?P<day>{_CHINESE_NUMBER})[日号]?)?",
        rf"\b(?:in|of|during|since) {_YEAR}|{_YEAR.replace('year', 'year2')}年(?!\d)",
    )
)


@dataclass(frozen=True)
class Date:
    """A day, a month or a year; parts that were not given are None."""

    year: int | None = None
    month: int | None = None
    day: int | None = None

    def holds(self, moment: datetime) -> bool:
        return all(
            said is None or said == true
            for said, true in (
                (self.year, moment.year),
                (self.month, moment.month),
                (self.day, moment.day),
            )
        )


def mentioned(text: str) -> tuple[Date, ...]:
    """Return the dates in a text; each part of it is read once, by the most complete pattern."""
    dates: list[Date] = []
    for pattern in _PATTERNS:
        for match in pattern.finditer(text):
            if (date := _date(match)) is not None:
                dates.append(date)
        text = pattern.sub(" ", text)
    return tuple(dict.fromkeys(dates))


def matches(dates: Sequence[Date], moments: Sequence[datetime | None]) -> Floats:
    """Return 1 for each moment that lies in one of the dates, otherwise 0."""
    hit = [at is not None and any(date.holds(at) for date in dates) for at in moments]
    return np.array(hit, dtype=float)


def _date(match: re.Match[str]) -> Date | None:
    said = match.groupdict()
    year = said.get("year") or said.get("year2")
    date = Date(
        year=int(year) if year else None,
        month=_number(said.get("month")),
        day=_number(said.get("day")),
    )
    plausible = 1 <= (date.month or 1) <= 12 and 1 <= (date.day or 1) <= 31
    return date if plausible else None


def _number(text: str | None) -> int | None:
    if not text:
        return None
    if text.isdigit():
        return int(text)
    if (month := _NUMBER.get(text.lower())) is not None:
        return month
    tens, ten, ones = text.rpartition("十")
    return (_CHINESE.get(tens, 1) * 10 if ten else 0) + _CHINESE.get(ones, 0)
