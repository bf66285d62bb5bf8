"""Find dates in English, Chinese, Spanish, German, French and Japanese.

Small patterns that run in linear time find the dates. `dateparser` parses the names of months and
weekdays; steps ("next", "last"), distances ("two weeks ago") and Chinese and Japanese dates are
parsed here. Recurring days (every Monday, birthdays), ages, durations and times of day don't count
as dates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date, datetime, timedelta
from functools import lru_cache

from dateparser.date import DateDataParser

from memories.extraction.pattern_tables import patterns, table
from memories.extraction.wording.calendar_days import (
    DateMention,
    Days,
    Sentence,
    monday_of,
    month_of,
    year_days,
)
from memories.screening import safe_patterns

LONGEST = 2_000  # characters that are read
_LASTING = ("lasting", "habit", "past")  # values of `holds` for matters that have begun already


# --- words


def _numbered(name: str) -> dict[str, int]:
    """Return a dictionary that maps each word of a table to its number."""
    rows: dict[str, str] = _WORDS[name]
    return {word: int(number) for number, row in rows.items() for word in row.split("|")}


_WORDS = table("dates")
_NUMBERS, _STEPS, _DAY_WORDS = (_numbered(name) for name in ("numbers", "steps", "days"))
_CJK_DAYS, _CJK_STEPS, _CJK_WEEKDAYS = (
    _numbered(name) for name in ("cjk_days", "cjk_steps", "cjk_weekdays")
)
_FEASTS = {
    safe_patterns.compile(f"^(?:{row})$"): int(day) for day, row in _WORDS["cjk_feasts"].items()
}
_P = {
    name: safe_patterns.compile(pattern)
    for name, pattern in patterns(
        "dates",
        number_words="|".join(sorted(_NUMBERS, reverse=True)),
        day_words="|".join(_DAY_WORDS),
        cjk_day_words="|".join(_CJK_DAYS),
        cjk_feasts="|".join(_WORDS["cjk_feasts"].values()),
    ).items()
}
_CJK_NUMERALS = tuple("一二三四五六七八九十")
_NOT_TOMORROW, _SHORT = (tuple(_WORDS[name].split("|")) for name in ("not_tomorrow", "short"))
_NO_FEAST = tuple("路村街中小校广廣公厂")  # 五一路 is a street
_NO_DAY = tuple(f"{word} " for word in _WORDS["no_day"].split("|"))

# --- calendar


@lru_cache(maxsize=1)
def _parser() -> DateDataParser:
    # dateparser caches the settings of each base date forever, so the base is fixed.
    settings = {"RELATIVE_BASE": datetime(2000, 6, 15)}
    return DateDataParser(languages=["en", "de", "es", "fr"], settings=settings)


# Short names that dateparser doesn't know.
_WHOLE = {"sonnabend": "samstag", "wednes": "wed", "janv": "janvier", "mär": "märz", "mar": "march"}
_WHOLE |= {"ago": "agosto", **dict.fromkeys(("thu", "thur", "thurs", "thurday"), "thursday")}


@lru_cache(maxsize=256)
def _named(name: str) -> date:
    """Return an arbitrary date in the month, or on the weekday, with this name."""
    found = _parser().get_date_data(_WHOLE.get(name, name)).date_obj
    if found is None:
        raise ValueError(name)
    day: date = found.date()
    return day


def _number(text: str) -> int:
    """Parse a number in digits or words, such as 12, "twelve" or 十二 (12)."""
    text = text.strip().lower()
    if text.isdecimal():
        return int(text)
    tens, ten, units = text.partition("十")
    if ten:
        return (_NUMBERS[tens] if tens else 1) * 10 + (_NUMBERS[units] if units else 0)
    return _NUMBERS["couple" if "couple" in text else text]


def _unit(word: str) -> str:
    if "end" in word or word.startswith("fin"):
        return "weekend"
    kinds = {"day": ("d", "t", "jo", "天", "日"), "week": ("w", "s", "周", "週", "星", "礼", "禮")}
    kinds["month"] = ("mo", "me", "月")
    return next((kind for kind, starts in kinds.items() if word.startswith(starts)), "year")


_Reader = Callable[[safe_patterns.Match, Sentence], DateMention | None]


def _dated(
    match: safe_patterns.Match, days: Days, *, relative: bool, loose: bool = False
) -> DateMention:
    return DateMention(match.start(), match.end(), *days, relative=relative, loose=loose)


def _part(match: safe_patterns.Match, group: str) -> str:
    return str(match[group] or "").lower().strip()


# --- English, German, Spanish, French


def _written(match: safe_patterns.Match, said: Sentence) -> DateMention | None:
    """Parse a date such as May 5, 5–9 May or 12 de mayo de 2024."""
    if _part(match, "month") == "ago" and said.language != "es":
        return None
    month, day = _named(_part(match, "month")).month, int(match["day"])
    last = int(match["to"] or day)
    year = int(match["year"] or said.year_of(month, last))
    return _dated(match, (date(year, month, day), date(year, month, last)), relative=False)


def _numeric(match: safe_patterns.Match, said: Sentence) -> DateMention | None:
    """Parse a date such as 2026-12-04 or 4.12.2026.

    Return None for an English date such as 12/04/2026, because it is ambiguous.
    """
    if match["y"]:
        year, month, day = int(match["y"]), int(match["m"]), int(match["d"])
    else:
        year, month, day = int(match["year"]), int(match["two"]), int(match["one"])
        if said.language == "en" and "/" in match[0]:
            if max(month, day) <= 12 and month != day:
                return None
            month, day = min(month, day), max(month, day)
    return _dated(match, (date(year, month, day),) * 2, relative=False)


def _day_word(match: safe_patterns.Match, said: Sentence) -> DateMention | None:
    word, before = _part(match, "word"), said.before.lower().rstrip()
    morning = word in ("morgen", "mañana") and before.endswith(_NOT_TOMORROW)
    if morning or (word == "hier" and said.language != "fr"):
        return None
    return _dated(match, said.distance(_DAY_WORDS[word], "day"), relative=True)


def _ago(match: safe_patterns.Match, said: Sentence) -> DateMention:
    days = said.distance(-_number(match["n"]), _unit(_part(match, "unit")))
    return _dated(match, days, relative=True)


def _in_some_time(match: safe_patterns.Match, said: Sentence) -> DateMention | None:
    """Parse "in two weeks"; return None if it means how long something took or lasts."""
    lasted = said.past or said.habit or (match[0][:2] == "en" and said.language != "es")
    if lasted or said.before.rstrip().endswith(("ce", "times")):
        return None
    days = said.distance(_number(match["n"]), _unit(_part(match, "unit")))
    return _dated(match, days, relative=True)


def _named_time(match: safe_patterns.Match, said: Sentence) -> DateMention | None:
    """Parse a time such as Friday, next Friday, next week, in March or end of May 2027."""
    stepped = _part(match, "step") or _part(match, "after").removeprefix("of ")
    step = next((number for word, number in _STEPS.items() if stepped.startswith(word)), None)
    if match["weekday"]:
        return _weekday(match, said, step)
    if match["month"]:
        return _named_month(match, said, step)
    unit = _unit(_part(match, "unit"))
    lasted = step == -1 and said.before.lower().endswith("the ")
    if step is None or unit == "day" or lasted:
        return None
    if unit == "weekend":
        saturday = monday_of(said.today, min(step, 1)) + timedelta(days=5)
        return _dated(match, (saturday, saturday + timedelta(days=1)), relative=True)
    return _dated(match, said.distance(min(step, 1), unit), relative=True)


def _weekday(match: safe_patterns.Match, said: Sentence, step: int | None) -> DateMention | None:
    name, before = _part(match, "weekday"), said.before.lower()
    short = name in _SHORT and (said.language != "en" or not (said.lead or step is not None))
    recurs = step is None and (said.habit or before.endswith(_NO_DAY))
    if short or recurs or before.endswith(("week from ", "week on ")):
        return None
    wanted = _named(name).weekday()
    if step is None and (number := _P["day_after_weekday"].search(said.after)):
        first, last = said.nth(int(number["day"]))
        whole = DateMention(match.start(), match.end() + number.end(), first, last, relative=True)
        return whole if first.weekday() == wanted else None
    if step is not None and _part(match, "after").endswith(("week", "woche")):
        day = monday_of(said.today, step) + timedelta(days=wanted)
    else:
        day = said.weekday(wanted, step)
        if said.after.lower().startswith(" week"):  # Friday week
            day += timedelta(days=7)
    return _dated(match, (day, day), relative=True, loose=step is None)


def _named_month(
    match: safe_patterns.Match, said: Sentence, step: int | None
) -> DateMention | None:
    edge, year = _part(match, "edge").removeprefix("the "), _part(match, "year")
    if step is None and not (edge or year or said.lead):
        return None  # "may" and "march" are verbs as well
    if _part(match, "month") in ("ago", "mar") and not year:
        return None  # "el mar" is the sea
    month = _named(_part(match, "month")).month
    if step is not None:
        said = replace(said, past=step < 0, habit=False, yearly=False)
    days = month_of(int(year or said.year_of(month, 28)), month, edge)
    return _dated(match, days, relative=not year)


def _day_of_month(match: safe_patterns.Match, said: Sentence) -> DateMention | None:
    """Parse "on the 5th", but not "the 5th floor" or "every month on the 5th"."""
    if not said.lead or said.habit or not _P["after_day"].search(said.after[:16]):
        return None
    return _dated(match, said.nth(int(match["day"])), relative=True)


def _bare_year(match: safe_patterns.Match, said: Sentence) -> DateMention | None:
    counts = not said.lead or said.before.lower().endswith("for ")  # such as "for 2000 people"
    return None if counts else _dated(match, year_days(int(match["year"])), relative=False)


_LATIN: dict[str, _Reader] = {
    "numeric": _numeric,
    "day_month": _written,
    "month_day": _written,
    "day_word": _day_word,
    "ago": _ago,
    "before_now": _ago,
    "in_some": _in_some_time,
    "named_time": _named_time,
    "the_day": _day_of_month,
    "bare_year": _bare_year,
}


# --- Chinese, Japanese


def _cjk_date(match: safe_patterns.Match, said: Sentence) -> DateMention | None:
    """Parse a date such as 下个月底 (end of next month) or 5月3号到9号 (May 3 to 9)."""
    year, edge, step = _part(match, "year"), _part(match, "edge"), _part(match, "step")
    if edge == "初" and said.after[:1] in _CJK_NUMERALS:
        return None  # 初八 is a day of the lunar calendar
    if step:
        first, last = month_of(said.today.year, said.today.month + _CJK_STEPS[step], edge)
    else:
        month = _number(match["month"])
        day_or_end = _number(match["day"]) if match["day"] else 28
        number = _cjk_year(year, said.today) if year else said.year_of(month, day_or_end)
        first, last = month_of(number, month, edge)
    if match["day"]:
        first = last = first.replace(day=_number(match["day"]))
    if match["to"]:
        last = last.replace(day=_number(match["to"]))
    inferred = bool(step) or not (year[:1].isdigit() or (match["day"] and not year))
    return _dated(match, (first, last), relative=inferred)


def _cjk_feast(match: safe_patterns.Match, said: Sentence) -> DateMention | None:
    """Parse a holiday such as 五一 (May Day) or 国庆 (National Day), but not 五一路 (a street)."""
    year, feast = _part(match, "year"), match["feast"]
    if said.after.startswith(_NO_FEAST) or said.before.endswith(_CJK_NUMERALS):
        return None
    month, day = divmod(next(day for form, day in _FEASTS.items() if form.search(feast)), 100)
    number = _cjk_year(year, said.today) if year else said.year_of(month, day)
    return _dated(match, (date(number, month, day),) * 2, relative=not year[:1].isdigit())


def _cjk_year(word: str, today: date) -> int:
    return int(word[:4]) if word[0].isdigit() else today.year + _CJK_STEPS[word[:-1]]


def _cjk_year_alone(match: safe_patterns.Match, said: Sentence) -> DateMention | None:
    year, edge = _part(match, "year"), _part(match, "edge")
    if match["this"]:  # 月初八 is a day of the lunar calendar
        if said.habit or said.after[:1] in _CJK_NUMERALS:
            return None
        days = year_days(said.today.year, match["this"][1:]) if match["this"][0] == "年" else None
        days = days or month_of(said.today.year, said.today.month, match["this"][1:])
        return _dated(match, days, relative=True)
    days = year_days(_cjk_year(year, said.today), edge)
    return _dated(match, days, relative=not year[0].isdigit())


def _cjk_week(match: safe_patterns.Match, said: Sentence) -> DateMention | None:
    """Parse a weekday or week such as 下周三 (next Wednesday) or 下周 (next week)."""
    name = _part(match, "weekday") or _part(match, "youbi")
    if said.after[:1] in tuple("次个個天年回节節围") or not (name or match["step"]):
        return None
    step = _CJK_STEPS[match["step"]] if match["step"] else None
    if not name:
        return _dated(match, said.distance(step or 0, "week"), relative=True)
    nth = "第" in said.before[-3:]
    if step is None and (said.habit or nth or name == "末"):
        return None
    index = _CJK_WEEKDAYS[name]
    if step is None:
        day = said.weekday(index, None)
    else:
        day = monday_of(said.today, step) + timedelta(days=index)
    days = (day, day + timedelta(days=int(name == "末")))
    return _dated(match, days, relative=True, loose=step is None)


def _cjk_day(match: safe_patterns.Match, said: Sentence) -> DateMention | None:
    if match["word"] == "前天" and said.before.endswith("以"):
        return None
    return _dated(match, said.distance(_CJK_DAYS[match["word"]], "day"), relative=True)


def _cjk_distance(match: safe_patterns.Match, said: Sentence) -> DateMention | None:
    sign = -1 if match["way"].endswith("前") else 1
    days = said.distance(sign * _number(match["n"]), _unit(match["unit"].lstrip("ヶか个個")))
    return _dated(match, days, relative=True)


def _cjk_nth(match: safe_patterns.Match, said: Sentence) -> DateMention | None:
    """Parse a day such as 5号 (the 5th), but not 5号线 (metro line 5) or 5日間 (five days).

    Return None if the day recurs, as in 每月15号 (on the 15th of every month).
    """
    if said.habit:
        return None
    after, before = said.after[:1], said.before[-1:]
    wrong = "线線楼樓院店码碼机機仓倉位間目前後" if match[0][-1] != "日" else ""
    if (after and after in wrong) or before in tuple("月第年路街星曜.-/"):
        return None
    if match[0][-1] == "日" and (
        said.language != "ja" or (after and after not in "には。、かまが")
    ):
        return None
    return _dated(match, said.nth(int(match["day"])), relative=True)


def _cjk_slash(match: safe_patterns.Match, said: Sentence) -> DateMention | None:
    """Parse a month and a day with a slash, such as 10/4, in Chinese or Japanese text.

    Return None if it is more likely a fraction (1/2, 3/4) or part of a longer number or code.
    """
    month, day = int(match["month"]), int(match["day"])
    around = said.before[-1:] + said.after[:1]
    if month < day <= 5 or any(
        (sign.isalnum() and sign.isascii()) or sign in "/.-" for sign in around
    ):
        return None
    return _dated(match, (date(said.year_of(month, day), month, day),) * 2, relative=False)


_CJK: dict[str, _Reader] = {
    "cjk_month": _cjk_date,
    "cjk_feast": _cjk_feast,
    "numeric": _numeric,
    "cjk_year_alone": _cjk_year_alone,
    "cjk_week": _cjk_week,
    "cjk_weekday": _cjk_week,
    "cjk_day_word": _cjk_day,
    "cjk_distance": _cjk_distance,
    "cjk_nth": _cjk_nth,
    "cjk_slash": _cjk_slash,
}


def dates_in(
    text: str, *, spoken_at: datetime, language: str, holds: str = ""
) -> list[DateMention]:
    """Return the dates in the first 2,000 characters of `text`, in order.

    `holds` says when the statement is true (habit, past, planned or another value), if known. It
    determines the date that is meant: "on Friday" is the last Friday in a past statement, the next
    Friday in a plan, and no date in a habit.
    """
    text = text[:LONGEST]
    said = Sentence(
        text=text,
        today=spoken_at.date(),
        language=language,
        past=holds == "past"
        or (
            holds != "planned"
            and bool(_P["told_past"].search(text))
            and not _P["told_ahead"].search(text)
        ),
        habit=holds == "habit" or bool(_P["habit"].search(text)),
        yearly=bool(_P["every_year"].search(text)),
    )
    found: list[DateMention] = []
    for dated in _matches(said, is_lasting=holds in _LASTING):
        if not any(dated.start < other.end and other.start < dated.end for other in found):
            found.append(dated)
    return _joined(text, sorted(found, key=lambda other: other.start))


def _matches(said: Sentence, *, is_lasting: bool) -> Iterator[DateMention]:
    latin = said.language not in ("zh", "ja")
    for name, reader in (_LATIN if latin else _CJK).items():
        for match in _P[name].finditer(said.text):
            context = replace(
                said, before=said.text[: match.start()], after=said.text[match.end() :]
            )
            if latin and (context.before[-1:].isalnum() or context.after[:1].isalnum()):
                continue  # RE2's \b supports only ASCII
            lead = (_latin_lead if latin else _cjk_lead)(context)
            # The start of a recurring event is a date, as in "every Monday since May".
            since = lead == "since" or bool(_P["since_then"].search(context.before[-60:]))
            since |= lead == "from" and is_lasting and not latin  # 从三月开始, 三月から
            past = (said.past or since) and lead != "moved"
            context = replace(context, lead=lead, past=past, habit=said.habit and not since)
            try:
                dated = reader(match, context) if lead != "every" else None
            except (ValueError, OverflowError, KeyError):  # such as February 30
                continue
            if dated:
                kinds = {"since": "since", "from": "since", "until": "until"}
                yield replace(dated, kind=kinds.get(lead, "on"))


def _latin_lead(said: Sentence) -> str:
    found = _P["lead"].search(said.before[-24:])
    return next((name for name, word in found.groupdict().items() if word), "") if found else ""


def _cjk_lead(said: Sentence) -> str:
    if _P["cjk_every"].search(said.before[-6:]):
        return "every"
    if _P["cjk_moved"].search(said.before[-6:]):
        return "moved"
    if said.before.endswith(("从", "從", "自")) or _P["cjk_since"].search(said.after[:3]):
        return "from"
    until = said.before.endswith(("到", "至")) or _P["cjk_until"].search(said.after[:3])
    return "until" if until else ""


_WITHIN = ("", "in", "back in", "around", "的")  # text between a year and a month in that year


def _in_that_year(earlier: DateMention, later: DateMention) -> DateMention | None:
    """Combine a year and a month ("4 years ago in March"); return None for any other dates."""
    spans = [((dated.last - dated.first).days, dated) for dated in (earlier, later)]
    months = [dated for days, dated in spans if 27 <= days <= 30 and dated.relative]
    years = [dated for days, dated in spans if days >= 364]
    if not (months and years):
        return None
    first, last = month_of(years[0].first.year, months[0].first.month)
    return replace(earlier, end=later.end, first=first, last=last, loose=False)


def _joined(text: str, found: list[DateMention]) -> list[DateMention]:
    """Join dates that belong together, and drop weekdays that aren't dates by themselves.

    The two ends of a range are joined, and so are a year and a month. Several weekdays in a row are
    dropped, because they describe a habit. A weekday next to its own date is dropped too.
    """
    kept: list[DateMention] = []
    for dated in found:
        before = kept[-1] if kept else None
        gap = text[before.end : dated.start] if before else "."
        if before and gap.strip(" ,，") in _WITHIN and (both := _in_that_year(before, dated)):
            kept[-1] = both
        elif before is None or not (
            _P["to"].search(gap) or _P["and"].search(gap) or gap.strip() in ("", "(", "（", ", den")
        ):
            kept.append(dated)
        elif before.loose and dated.loose:
            kept[-1] = replace(before, end=dated.end, kind="every")
        elif before.first == dated.first and not _P["to"].search(gap):
            kept[-1] = dated
        elif before.loose or (dated.loose and not _P["to"].search(gap)):
            kept[-1] = dated if before.loose else before
        elif _P["to"].search(gap):
            last = dated.last
            while dated.loose and last < before.first:
                last += timedelta(days=7)
            if last < before.first:
                kept.append(dated)
            else:
                kept[-1] = replace(before, end=dated.end, last=last, kind="on", loose=False)
        else:
            kept.append(dated)
    return [dated for dated in kept if dated.kind != "every"]
