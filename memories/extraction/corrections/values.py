"""Find days, dates, times and amounts in texts, and replace a value by one of the same type."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from itertools import takewhile
from typing import NamedTuple

from foundation.text import segment
from foundation.text.shingles import has_han
from memories.extraction.masking import ADDED_DATE
from memories.extraction.pattern_tables import compiled, table

_PEOPLE = table("own_words")
PATTERNS = compiled(
    "corrections",
    people="|".join(_PEOPLE["relations"][one] for one in ("f", "m", "either")),
    cjk_people=_PEOPLE["cjk_relation"].removesuffix("|猫|貓|狗"),
)
SORTS = (PATTERNS["day"], PATTERNS["month"])
NUMBERS = re.compile(r"\d+(?:[.,:]\d+)*")
PARTICLES = " \t了啦啊呢吧的"  # characters that may follow the last word of a clause
CLAUSE_END = re.compile(r"[,，;；.!?。！？\n)）]|$")
_AMOUNT = PATTERNS["amount"]
_VALUES = tuple(
    PATTERNS[name] for name in ("which_day", "month", "day_of_month", "bare_day_of_month", "clock")
)
# One or more values, such as "wednesday the 16th" or "oct 18".
_ANY_VALUE = "|".join(f"(?:{sort.pattern.removeprefix('(?i)')})" for sort in _VALUES)
_DATE = re.compile(
    rf"(?i)(?:{_ANY_VALUE})(?:\s?(?:(?:the|of|and|to) |[和跟到])?(?:{_ANY_VALUE})){{0,3}}"
    r"(?:\s\d{1,2}\b)?"
)
_ORDINAL = re.compile(
    r"(?i)(?<=the )(?:twenty-|thirty-|twenty |thirty )?(?:first|second|third|fourth|fifth|sixth"
    r"|seventh|eighth|ninth|tenth|eleventh|twelfth|thirteenth|fourteenth|fifteenth|sixteenth"
    r"|seventeenth|eighteenth|nineteenth|twentieth|thirtieth)\b(?! (?:weeks?|times?|year|one)\b)"
)
# Types of which a statement mostly has a single value.
_SINGLE = (
    *SORTS,
    *(PATTERNS[name] for name in ("day_of_month", "clock", "school_year")),
    _ORDINAL,
)
_DIGITS = re.compile(r"\d+(?::\d\d)?")
_MORE_OF_NUMBER = re.compile(r"\s(?:and|or|point)\b|\d|[一二三四五六七八九]")  # 8千5
_ORDINALS = {1: "st", 2: "nd", 3: "rd", 21: "st", 22: "nd", 23: "rd"}
_WORD_BEFORE = re.compile(r"([\u4e00-\u9fff]{2}|[a-zA-Z'’]{1,30})\s?$")


_NUMBER = re.compile(r"\d+(?:st|nd|rd|th)?")
NUMERAL = re.compile(
    r"\d+(?:[.,:]\d+)*|[一二三四五六七八九十两兩俩百千万萬半零〇廿]+"
    r"|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen"
    r"|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
    r"|hundred|thousand)\b"
)
_DAY_NUMERAL = re.compile("[一二三四五六日天]")
_UNIT = re.compile(
    r"\s?([a-z]{1,20}|[年月日号號歲岁级級斤公克元块塊点點分天周个個口人次里米楼樓层層路期])"
)


def without_values(text: str) -> str:
    """Replace each day, month and number in the text by a placeholder."""
    for sort in SORTS:
        text = sort.sub("#", text)
    return NUMBERS.sub("#", text)


def without_dates(text: str) -> str:
    """Replace each date and time by signs of the same length, so that positions stay valid."""
    for sort in (*SORTS, PATTERNS["day_of_month"], PATTERNS["clock"], ADDED_DATE):
        text = sort.sub(lambda found: "□" * len(found[0]), text)
    return text


def numbers_of_series(text: str) -> list[str]:
    """Return the numbers that identify an item of a series: 41 in "issue 41 needs 3 days"."""
    return [found["number"] for found in PATTERNS["of_series"].finditer(text)]


def only_value(sort: re.Pattern[str], text: str) -> str:
    """Return the text's only value of this type, or "" if it has none or several."""
    found = {match[0] for match in sort.finditer(text)}
    return found.pop() if len(found) == 1 else ""


def value_in_place(sort: re.Pattern[str], earlier: str, right: str) -> str:
    """Return the value in the earlier text that the first value of this type in `right` replaces.

    This is the only value of the type or, if there are several, the only one after the same word as
    in `right`. Return "" if no value fits, or several.
    """
    found = {match[0] for match in sort.finditer(earlier)}
    if len(found) > 1 and (new := sort.search(right)):
        found = {one[0] for one in _after_same_word(earlier, sort.finditer(earlier), new)}
    return found.pop() if len(found) == 1 else ""


def _after_same_word(
    text: str, found: Iterable[re.Match[str]], new: re.Match[str]
) -> list[re.Match[str]]:
    """Return the matches in `found` that follow the same word as `new` does in its own text."""
    before = _word_before(new.string, new.start())
    return [one for one in found if before and _word_before(text, one.start()) == before]


def _word_before(text: str, at: int) -> str:
    """Return the word, or the two Chinese characters, before a position."""
    word = _WORD_BEFORE.search(text[:at])
    return word[1].casefold() if word else ""


def with_amount(earlier: str, right: re.Match[str]) -> str:
    """Replace the only amount in `earlier` that has the unit of `right`.

    If `right` has no unit, an amount with any unit fits. If several amounts fit, replace the only
    one that follows the same word as `right` does in its own text. Return "" if it is unclear which
    amount is meant.
    """
    unit = (right["unit"] or "").casefold()
    found = {
        amount["number"]: amount
        for amount in _AMOUNT.finditer(without_dates(earlier))
        if not unit or (amount["unit"] or "").casefold() == unit
    }
    amounts = list(found.values())
    if len(amounts) > 1:
        amounts = _after_same_word(earlier, amounts, right)
    if len(amounts) != 1:
        return ""
    (amount,) = amounts
    start, end = amount.span("number")
    return earlier[:start] + right["number"] + earlier[end:]


def with_dates_in_agreement(earlier: str, text: str) -> str:
    """Make the weekday and the date in a corrected text agree, if only one of them was corrected.

    A new weekday moves the date within the same week: if "Tuesday the 15th" was changed to
    "Wednesday the 15th", the result is "Wednesday the 16th". If the day may be in another month,
    the date is removed. A new date removes the weekday.
    """
    sorts = SORTS[0], PATTERNS["day_of_month"]
    (old_day, old_date), (day, date) = (
        [only_value(sort, one) for sort in sorts] for one in (earlier, text)
    )
    if not all((old_day, old_date, day, date)) or (old_day == day) == (old_date == date):
        return text
    if old_day == day:
        return " ".join(text.replace(day, "").split())
    number = int(NUMBERS.findall(date)[0]) + _weekday(day) - _weekday(old_day)
    if not 0 < number < 29:
        return " ".join(PATTERNS["date_of_day"].sub(" ", text).split())
    end = date[-1] if not date.isascii() else _ORDINALS.get(number, "th")
    return text.replace(date, f"{number}{end}")


def _weekday(name: str) -> int:
    """Return the number of a weekday, Monday being 0."""
    english = name.casefold()[:3]
    if english.isascii():
        return ("mon", "tue", "wed", "thu", "fri", "sat", "sun").index(english)
    return "一二三四五六日".index(name[-1].replace("天", "日"))


class Replacement(NamedTuple):
    """The words at the beginning of one text that replace the span `start:end` of another."""

    start: int
    end: int
    right: str
    length: int  # of the words, with a unit that follows them


def with_new_value(text: str, said: str) -> str:
    """Replace the values in a text by the other values of the same types in `said`.

    Types are weekdays, months, days of the month and times; if none of these changes, numbers with
    the same unit. Return "" if `said` has no new value, if it has one of a type that isn't in the
    text, or if it is unclear which value is meant.
    """
    changed = text
    for sort in _SINGLE:
        old = {found[0] for found in sort.finditer(text)}
        new = {found[0] for found in sort.finditer(said)} - old
        if not new:
            continue
        if len(old) != 1 or len(new) != 1:
            return ""
        (wrong,), (right,) = old, new
        if text.count(wrong) != 1:
            return ""
        changed = changed.replace(wrong, right)
    return _with_new_amount(text, said) if changed == text else changed


def _with_new_amount(text: str, said: str) -> str:
    """Replace the number that `said` changes, if exactly one unit has a single new number.

    The unit must stand once in the text. Return "" if no number fits, or several.
    """
    known, told = (
        [(_unit(amount), amount) for amount in _AMOUNT.finditer(without_dates(one))]
        for one in (text, said)
    )
    same = {(unit, amount["number"]) for unit, amount in known}
    new = [(unit, amount) for unit, amount in told if (unit, amount["number"]) not in same]
    units = Counter(unit for unit, _ in known), Counter(unit for unit, _ in new)
    numbers = {unit: amount["number"] for unit, amount in new if units[1][unit] == 1}
    changed = [amount for unit, amount in known if unit in numbers and units[0][unit] == 1]
    if len(changed) != 1 or not (unit := _unit(changed[0])):
        return ""
    start, end = changed[0].span("number")
    return text[:start] + numbers[unit] + text[end:]


def with_same_date(text: str, date: str) -> str:
    """Replace, by `date`, the only date in a text that has the same types of values.

    For example, "24 nov" replaces "14 nov", but not "Friday". Return "" unless one date fits.
    """
    same = [one for one in _DATE.finditer(text) if _sorts(one[0]) == _sorts(date)]
    if len(same) != 1 or not _DATE.fullmatch(date):
        return ""
    start, end = same[0].span()
    return text[:start] + _like(date, text[start:end]) + text[end:]


def value_replacement(before: str, after: str) -> Replacement | None:
    """Return how the value at the beginning of `after` replaces the last such value in `before`."""
    date = _DATE.match(after)
    known = _last(_DATE, before) if date else None
    if date and known and _sorts(date[0]) == _sorts(known[0]):
        return Replacement(*known.span(), _like(date[0], known[0]), date.end())
    for sort in _VALUES:
        if (value := sort.match(after)) and (old := _last(sort, before)):
            return Replacement(*old.span(), _like(value[0], old[0]), value.end())
    amount = PATTERNS["amount"].match(after)
    return _of_amount(before, after, amount) if amount else None


def _of_amount(before: str, after: str, amount: re.Match[str]) -> Replacement | None:
    if any(_MORE_OF_NUMBER.match(after, end) for end in (amount.end("number"), amount.end())):
        return None
    unit, clock = _unit(amount), PATTERNS["clock"].match(after)
    if old := _last(PATTERNS["amount"], without_dates(before)):
        has = _unit(old)
        if unit and has and unit != has:  # 2 dogs, no wait 3 cats
            both_end = old.end() == len(before) and CLAUSE_END.match(after, amount.end())
            return Replacement(*old.span(), amount[0], amount.end()) if both_end else None
        span, end = old.span("number"), amount.end("number")
        if clock or (unit and not has):
            right = clock or amount
            return Replacement(*span, right[0].strip(), right.end())
        if unit and unit.isascii():
            return Replacement(*span, amount["number"], amount.end())
        same = takewhile(
            lambda pair: unit and pair[0] == pair[1],
            zip(before[span[1] :], after[end:], strict=False),
        )
        return Replacement(*span, amount["number"], end + len(list(same)))
    dates = (_last(sort, before) for sort in (PATTERNS["clock"], PATTERNS["day_of_month"]))
    if unit or not (date := next(filter(None, dates), None)):
        return None
    digits = _DIGITS.search(before, date.start())
    return Replacement(*digits.span(), amount["number"], amount.end("number")) if digits else None


def _sorts(date: str) -> list[int]:
    """Return how many values of each type, and how many numbers, a date contains."""
    return [len(sort.findall(date)) for sort in (*_VALUES, _DIGITS)]


def _like(value: str, other: str) -> str:
    """Return a day in the form of another: "friday" becomes "fridays", like "thursdays"."""
    which = PATTERNS["which"].match(other)
    if which and not PATTERNS["which"].match(value):
        value = which[0] + value
    return f"{value}s" if other.endswith("s") and not value.endswith("s") else value


def _last(sort: re.Pattern[str], text: str) -> re.Match[str] | None:
    return max(sort.finditer(text), key=re.Match.start, default=None)


def _unit(amount: re.Match[str]) -> str:
    unit = (amount["unit"] or "").casefold()
    if unit in segment.ENGLISH_STOP_WORDS or unit in PARTICLES:
        return ""
    return unit[0] if unit[0] in "个個" else unit.removesuffix("s")


def only_changed_values(statement: str, wrong: str, right: str) -> tuple[str, str]:
    """Return the wrong and the right words, without what doesn't change beside a value.

    "24" corrects only the day in "14 nov". "wednesdays" corrects only the day in "every second
    tuesday", even if the reader model marks "second".
    """
    numbers = _NUMBER.findall(wrong)
    if len(numbers) == 1 and _NUMBER.fullmatch(right):
        return numbers[0], right
    day = right.removesuffix("s")
    for sort in SORTS:
        if sort.fullmatch(day) and (old := only_value(sort, statement)):
            return old, day
    return wrong, right


def are_of_one_sort(wrong: str, right: str) -> bool:
    """Return whether the wrong and the right words are of the same type.

    Both must be days, or months, or differ only in numbers ("5 kg", "6 kg"), or contain no numbers.
    In the last case, either both or neither must contain Chinese characters.
    """
    for sort in SORTS:
        if sort.fullmatch(wrong) or sort.fullmatch(right):
            return is_of_sort(sort, wrong) and is_of_sort(sort, right)
    first, second = (NUMERAL.sub("#", text.casefold()) for text in (wrong, right))
    if "#" in first or "#" in second:
        return first == second
    return has_han(wrong) == has_han(right)


def is_of_sort(sort: re.Pattern[str], text: str) -> bool:
    """Return whether a text is a day or month of this type; a Chinese numeral may stand for it."""
    return sort.fullmatch(text) is not None or _DAY_NUMERAL.fullmatch(text) is not None


def may_have_one_unit(after_wrong: str, after_right: str, right: str) -> bool:
    """Return False if the wrong number is followed by another unit than the right one.

    A unit is the word after a number. If one is missing, or if `right` isn't a number, return True.
    """
    if not NUMERAL.fullmatch(right.casefold()):
        return True
    units = [_UNIT.match(after.casefold()) for after in (after_wrong, after_right)]
    words = [unit[1] for unit in units if unit and unit[1] not in segment.ENGLISH_STOP_WORDS]
    return len(words) < 2 or words[0] == words[1]
