"""The days that a text names, in English, Chinese, Spanish, German, French and Japanese.

Small linear patterns find the wording. `dateparser` reads the names of months and weekdays; steps
("next", "last"), distances ("two weeks ago") and Chinese and Japanese wording are read here.
What recurs (every Monday, birthdays), ages, durations and times of day are no dates.
"""

from __future__ import annotations

import calendar
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from functools import lru_cache

from dateparser.date import DateDataParser

from memories.screening import linear

LONGEST = 2_000  # characters that are read


@dataclass(frozen=True)
class Dated:
    """`text[start:end]` names the days from `first` to `last`.

    `relative` says that the wording counts from the day of speaking. `kind` is "on", "since"
    (something begins then) or "until" (it ends or is due then). `loose` marks a weekday alone.
    """

    start: int
    end: int
    first: date
    last: date
    relative: bool
    kind: str = "on"
    loose: bool = False


_Days = tuple[date, date]

# --- words

_NUMBERS = {
    word: number
    for number, row in enumerate(
        [
            *("a an one ein eine einem einer un una une 一", "two couple zwei dos deux 二 两 兩"),
            *("three drei tres trois 三", "four vier cuatro quatre 四", "five fünf cinco cinq 五"),
            *("six sechs seis 六", "seven sieben siete sept 七", "eight acht ocho huit 八"),
            *("nine neun nueve neuf 九", "ten zehn diez dix 十", "eleven elf onze"),
            "twelve zwölf doce douze",
        ],
        start=1,
    )
    for word in row.split()
}
_MONTHS = (
    "jan(?:uary|uar|vier)?|janv|enero|ene|feb(?:ruary|ruar|rero)?|f[ée]vr(?:ier)?|march|märz"
    "|marzo|mars|apr(?:il)?|avr(?:il)?|abr(?:il)?|mayo|may|mai|june|junio|juni|juin|jun|july"
    "|julio|juli|juillet|juil|jul|august|agosto|aug|ao[uû]t|sept?(?:ember|embre|iembre)?"
    "|okt(?:ober)?|oct(?:ober|ubre|obre)?|nov(?:ember|embre|iembre)?|dec(?:ember)?|dez(?:ember)?"
    "|dic(?:iembre)?|d[ée]c(?:embre)?"
)
_WEEKDAYS = (
    "montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonnabend|sonntag|lunes|martes"
    "|mi[ée]rcoles|jueves|viernes|s[áa]bado|domingo|lundi|mardi|mercredi|jeudi|vendredi|samedi"
    "|dimanche|(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?"
)
_UNITS = (
    "days?|week-?end|weeks?|months?|years?|yrs?|tag(?:e[ns]?)?|wochenende|wochen?"
    "|monat(?:e[ns]?)?|jahr(?:e[ns]?)?|d[ií]as?|semanas?|fin de semana|finde|mes(?:es)?|años?"
    "|jours?|semaines?|mois|années?|ans?"
)
_STEPS = {  # 1 next, 2 the first to come, 0 this, -1 last
    "next": 1, "nächst": 1, "this coming": 2, "the coming": 2, "kommend": 2, "próxim": 2,
    "proxim": 2, "que viene": 2, "prochain": 2, "qui vient": 2, "this past": -1, "last": -1,
    "letzt": -1, "vorig": -1, "pasad": -1, "derni": -1, "this": 0, "dies": 0, "est": 0, "ce": 0,
}  # fmt: skip
_STEP = (
    "next|this coming|the coming|this past|this|last|(?:nächst|kommend|dies|letzt|vorig)e[nrsm]?"
    "|pr[óo]xim[oa]|que viene|est[ea]|pasad[oa]|prochaine?|qui vient|cette|cet|ce|derni(?:er|ère)"
)
_DAY_WORDS = {
    "day before yesterday": -2, "yesterday": -1, "last night": -1, "today": 0, "tonight": 0,
    "this morning": 0, "this afternoon": 0, "this evening": 0, "day after tomorrow": 2,
    "tomorrow": 1, "vorgestern": -2, "gestern": -1, "heute": 0, "übermorgen": 2, "morgen": 1,
    "anteayer": -2, "antier": -2, "ayer": -1, "anoche": -1, "hoy": 0, "pasado mañana": 2,
    "mañana": 1, "avant-hier": -2, "hier": -1, "aujourd'hui": 0, "aujourd’hui": 0,
    "après-demain": 2, "demain": 1,
}  # fmt: skip
_NOT_TOMORROW = ("am", "guten", "jeden", "heute", "gestern", "la", "cada", "de")
_EDGE = (
    "(?:the )?(?:early|beginning of|start of|mid|middle of|late|end of|anfang|mitte|ende"
    "|(?:principios|mediados|finales|fines) de|début|mi-|fin)(?: the| de[rs]| du)?[ -]?"
)
_CJK_DAYS = {
    "大前天": -3, "前天": -2, "一昨日": -2, "おととい": -2, "昨天": -1, "昨日": -1, "昨晚": -1,
    "昨夜": -1, "きのう": -1, "尋日": -1, "今天": 0, "今日": 0, "今晚": 0, "今早": 0, "今夜": 0,
    "今朝": 0, "今儿": 0, "きょう": 0, "大后天": 3, "大後天": 3, "しあさって": 3, "明后天": 1,
    "明後日": 2, "あさって": 2, "后天": 2, "後天": 2, "明天": 1, "明日": 1, "明晚": 1, "明早": 1,
    "明儿": 1, "聽日": 1, "あした": 1,
}  # fmt: skip
_CJK_STEPS = {
    "上上": -2, "先々": -2, "上": -1, "先": -1, "去": -1, "昨": -1, "这": 0, "這": 0, "本": 0,
    "今": 0, "下": 1, "来": 1, "來": 1, "明": 1, "下下": 2, "再来": 2, "后": 2, "後": 2,
    "前": -2, "一昨": -2,
}  # fmt: skip
_CJK_STEP = "上上|下下|先々|再来|一昨|[上下这這本先今来來]"
_CJK_YEAR = "(?:再来|一昨|[前去今明后後来來昨本])年|(?:19|20)[0-9]{2}年"
_CJK_EDGE = "上旬|中旬|下旬|初め|初|底|末|头|頭|中"
_CJK_NUMERALS = tuple("一二三四五六七八九十")
_N = "[0-9]{1,3}|[一二两兩三四五六七八九十]{1,3}"

_RECURS = (
    "every|each|always|usually|normally|never|often|weekly|jede[rnsm]?|immer|meistens|nie|cada"
    "|todos los|siempre|nunca|tous les|toutes les|chaque|toujours|jamais"
)
_HABITS = linear.compile(
    rf"(?i)(?:^|[^\p{{L}}])(?:{_RECURS})(?:[^\p{{L}}]|$)|[每毎逢]|总是|一般|通常|经常|いつも|たび"
)
_YEARLY = linear.compile(
    "(?i)birthday|anniversary|geburtstag|hochzeitstag|cumple|aniversario|anniversaire|生日|誕生日"
    "|纪念日|記念日|农历|農曆|阴历|旧暦"
)
_LEAD = linear.compile(
    rf"(?i)(?:^|[^\p{{L}}])(?:(?P<every>{_RECURS})|(?P<since>since|seit|desde|depuis)"
    "|(?P<from>from|starting|as of|ab|a partir de|dès|à partir de)|(?P<until>until|till?|by"
    "|bis(?: zum)?|hasta|jusqu['’](?:au|en|à))|(?P<prep>in|on|during|im|am|an|en|el|au|du|del"
    "|before|after|around|vor|nach|avant|après|jahr|année|año))(?: (?:the|el|la|de|den|dem|der"
    "|le))? *$"
)
_PAST = linear.compile(
    r"(?i)\b(?:was|were|had|did|got|went|came|died|broke|left|quit|bought|sold|met|lost|saw|took"
    r"|gave|made|told|put|waren|hatten|[a-z]{3,}ed|war|hatte|wurde|gestorben|ge[a-z]{3,}(?:t|en)|fu[ie]|tuve|hice"
    r"|[a-z]+aron|[a-z]+ieron|était|avait|(?:ai|a|est|suis) [a-z]+(?:é|ée|i|u|is))(?:[^\p{L}]|$)"
    r"|[a-z](?:[a-qs-z]é|ió)(?:[^\p{L}]|$)|[了过過]|た(?:[。、!！]|$)|でした|ました"
)
_AHEAD = linear.compile(
    r"(?i)\b(?:will|going to|gonna|have to|has to|need|must|am|is|are|can|due|werde|wird|muss"
    r"|will|soll|voy|va a|tengo|vamos|vais|dois|va|vas)\b|['’](?:ll|m|s|re)\b|[要会會得想]|准备"
    r"|打算|予定|ます"
)

# --- calendar


@lru_cache(maxsize=1)
def _parser() -> DateDataParser:
    # A fixed base: dateparser keeps the settings of each base for good.
    settings = {"RELATIVE_BASE": datetime(2000, 6, 15)}
    return DateDataParser(languages=["en", "de", "es", "fr"], settings=settings)


@lru_cache(maxsize=256)
def _named(name: str) -> date:
    """A day of the month, or of the week, with that name."""
    short = {"sonnabend": "samstag", "wednes": "wed", "thu": "thursday", "thur": "thursday"}
    found = _parser().get_date_data(short.get(name, name).replace("thurs", "thu")).date_obj
    if found is None:
        raise ValueError(name)
    day: date = found.date()
    return day


def _month(year: int, month: int, edge: str = "") -> _Days:
    """The days of a month, counted past either end of the year, or of its beginning or end."""
    years, index = divmod(month - 1, 12)
    first = date(year + years, index + 1, 1)
    last = first.replace(day=calendar.monthrange(first.year, first.month)[1])
    if edge.startswith(
        ("early", "beginning", "start", "anfang", "princ", "com", "déb", *"初头頭上")
    ):
        return first, first.replace(day=10)
    if edge.startswith(("mid", "mitte", "med", "mi", "中")):
        return first.replace(day=11), first.replace(day=20)
    return (first.replace(day=21) if edge else first), last


def _year(year: int, edge: str = "") -> _Days:
    if edge:
        return _month(year, {"初": 1, "头": 1, "頭": 1, "中": 6}.get(edge[0], 12))
    return date(year, 1, 1), date(year, 12, 31)


def _week(today: date, step: int) -> date:
    """The Monday of a week."""
    return today - timedelta(days=today.weekday() - 7 * step)


def _number(text: str) -> int:
    """12, "twelve", 十二 and 二十 as numbers."""
    text = text.strip().lower()
    if text.isdecimal():
        return int(text)
    tens, ten, units = text.partition("十")
    if ten:
        return (_NUMBERS[tens] if tens else 1) * 10 + (_NUMBERS[units] if units else 0)
    return _NUMBERS["couple" if "couple" in text else text]


@dataclass(frozen=True)
class _Said:
    """A text, and how it was said."""

    text: str
    today: date
    language: str
    past: bool
    habit: bool  # it recurs, so that a weekday or a month without a year is no date
    yearly: bool
    lead: str = ""  # what leads up to a match: every, since, from, until, prep or nothing

    def year_of(self, month: int, day: int) -> int:
        """The nearest year in which that day is ahead, or behind where the past is told."""
        if self.habit or self.yearly:
            raise ValueError("no one year")
        today = (self.today.month, self.today.day)
        if self.past:
            return self.today.year - ((month, day) > today)
        return self.today.year + ((month, day) < today)

    def weekday(self, wanted: int, step: int | None) -> date:
        if step == 1 or (step == 0 and wanted >= self.today.weekday()):
            return _week(self.today, step) + timedelta(days=wanted)
        if step == -1 or (step is None and self.past):
            return self.today - timedelta(days=(self.today.weekday() - wanted) % 7 or 7)
        ahead = (wanted - self.today.weekday()) % 7
        return self.today + timedelta(days=ahead or (7 if step == 2 else 0))

    def nth(self, day: int) -> _Days:
        step = 0 if day == self.today.day or (day < self.today.day) == self.past else 1
        first, _ = _month(self.today.year, self.today.month + (-step if self.past else step))
        return (first.replace(day=day),) * 2

    def distance(self, count: int, unit: str) -> _Days:
        """The day, week, month or year that lies so far away."""
        if unit == "day":
            day = self.today + timedelta(days=count)
            return day, day
        if unit == "week":
            monday = _week(self.today, count)
            return monday, monday + timedelta(days=6)
        if unit == "month":
            return _month(self.today.year, self.today.month + count)
        return _year(self.today.year + count)


def _unit(word: str) -> str:
    if "end" in word or word.startswith("fin"):
        return "weekend"
    kinds = {"day": ("d", "t", "jo", "天", "日"), "week": ("w", "s", "周", "週", "星", "礼", "禮")}
    kinds["month"] = ("mo", "me", "月")
    return next((kind for kind, starts in kinds.items() if word.startswith(starts)), "year")


_Reader = Callable[[linear.Match, _Said], Dated | None]


def _at(match: linear.Match, days: _Days, *, relative: bool, loose: bool = False) -> Dated:
    return Dated(match.start(), match.end(), *days, relative=relative, loose=loose)


def _part(match: linear.Match, group: str) -> str:
    return str(match[group] or "").lower().strip()


# --- English, German, Spanish, French


def _written(match: linear.Match, said: _Said) -> Dated:
    """May 5, 5–9 May, 12 de mayo de 2024."""
    month, day = _named(_part(match, "month")).month, int(match["day"])
    last = int(match["to"] or day)
    year = int(match["year"] or said.year_of(month, last))
    return _at(match, (date(year, month, day), date(year, month, last)), relative=False)


def _numeric(match: linear.Match, said: _Said) -> Dated | None:
    """2026-12-04, 4.12.2026; in English 12/04/2026 could be either day."""
    if match["y"]:
        year, month, day = int(match["y"]), int(match["m"]), int(match["d"])
    else:
        year, month, day = int(match["year"]), int(match["two"]), int(match["one"])
        if said.language == "en" and "/" in match[0]:
            if max(month, day) <= 12 and month != day:
                return None
            month, day = min(month, day), max(month, day)
    return _at(match, (date(year, month, day),) * 2, relative=False)


def _day_word(match: linear.Match, said: _Said) -> Dated | None:
    word, before = _part(match, "word"), said.text[: match.start()].lower().rstrip()
    morning = word in ("morgen", "mañana") and before.endswith(_NOT_TOMORROW)
    if morning or (word == "hier" and said.language != "fr"):
        return None
    return _at(match, said.distance(_DAY_WORDS[word], "day"), relative=True)


def _ago(match: linear.Match, said: _Said) -> Dated:
    days = said.distance(-_number(match["n"]), _unit(_part(match, "unit")))
    return _at(match, days, relative=True)


def _in(match: linear.Match, said: _Said) -> Dated | None:
    lasted = said.past or said.habit or (match[0][:2] == "en" and said.language != "es")
    if lasted or said.text[: match.start()].rstrip().endswith(("ce", "times")):
        return None
    days = said.distance(_number(match["n"]), _unit(_part(match, "unit")))
    return _at(match, days, relative=True)


def _named_time(match: linear.Match, said: _Said) -> Dated | None:
    """Friday, next Friday, next week, in March, end of May 2027."""
    stepped = _part(match, "step") or _part(match, "after").removeprefix("of ")
    step = next((number for word, number in _STEPS.items() if stepped.startswith(word)), None)
    step = None if not stepped else step
    if match["weekday"]:
        return _weekday(match, said, step)
    if match["month"]:
        return _named_month(match, said, step)
    unit = _unit(_part(match, "unit"))
    lasted = step == -1 and said.text[: match.start()].lower().endswith("the ")
    if step is None or unit == "day" or lasted:
        return None
    if unit == "weekend":
        saturday = _week(said.today, min(step, 1)) + timedelta(days=5)
        return _at(match, (saturday, saturday + timedelta(days=1)), relative=True)
    return _at(match, said.distance(min(step, 1), unit), relative=True)


def _weekday(match: linear.Match, said: _Said, step: int | None) -> Dated | None:
    name, before = _part(match, "weekday"), said.text[: match.start()].lower()
    short = name in _SHORT and (said.language != "en" or not (said.lead or step is not None))
    recurs = step is None and (said.habit or before.endswith(_NO_DAY))
    if short or recurs or before.endswith(("week from ", "week on ")):
        return None
    wanted = _named(name).weekday()
    if step is not None and _part(match, "after").endswith(("week", "woche")):
        day = _week(said.today, step) + timedelta(days=wanted)
    else:
        day = said.weekday(wanted, step)
        if said.text[match.end() :].lower().startswith(" week"):  # Friday week
            day += timedelta(days=7)
    return _at(match, (day, day), relative=True, loose=step is None)


def _named_month(match: linear.Match, said: _Said, step: int | None) -> Dated | None:
    edge, year = _part(match, "edge").removeprefix("the "), _part(match, "year")
    if step is None and not (edge or year or said.lead):
        return None  # "may" and "march" are verbs as well
    month = _named(_part(match, "month")).month
    if step is not None:
        said = replace(said, past=step < 0, habit=False, yearly=False)
    days = _month(int(year or said.year_of(month, 28)), month, edge)
    return _at(match, days, relative=step is not None)


def _day_of_month(match: linear.Match, said: _Said) -> Dated | None:
    """On the 5th; "the 5th floor" is none."""
    if not said.lead or not _AFTER_DAY.search(said.text[match.end() :][:16]):
        return None
    return _at(match, said.nth(int(match["day"])), relative=True)


def _bare_year(match: linear.Match, said: _Said) -> Dated | None:
    return _at(match, _year(int(match["year"])), relative=False) if said.lead else None


_NO_DAY = (  # the Monday run, the second Saturday of the month, los lunes
    *("the ", "a ", "first ", "second ", "third ", "fourth ", "1st ", "2nd ", "3rd ", "4th "),
    *("ersten ", "zweiten ", "dritten ", "letzten ", "primer ", "los ", "le ", "les ", "premier "),
)
_SHORT = [
    "mon",
    "tue",
    "tues",
    "wed",
    "wednes",
    "thu",
    "thur",
    "thurs",
    "fri",
    "sat",
    "satur",
    "sun",
]
_AFTER_DAY = linear.compile(
    r"^(?:$|\s*[^\p{L}\p{N}\s]|\s+(?:at|in|with|for|to|from|and|or|but|so|if|i|we|he|she)\b)"
)
_DAY = r"(?P<day>[0-9]{1,2})(?:st|nd|rd|th|er|º|\.)?"
_DAYS = _DAY + r"(?:\s*(?:-|–|to|bis|al|au|und|and|y|et)\s*(?P<to>[0-9]{1,2})(?:st|nd|rd|th|\.)?)?"
_THE_YEAR = r"(?:,?\s+(?:de |del |of )?(?P<year>(?:19|20)[0-9]{2}))?"
_AMOUNT = f"(?P<n>[0-9]{{1,3}}|a couple of|{'|'.join(sorted(_NUMBERS, reverse=True))})"
_UNIT = f"(?P<unit>{_UNITS})"
_NUMERIC = (
    r"(?P<y>(?:19|20)[0-9]{2})[-/.](?P<m>[0-9]{1,2})[-/.](?P<d>[0-9]{1,2})"
    r"|(?P<one>[0-9]{1,2})[./](?P<two>[0-9]{1,2})[./](?P<year>(?:19|20)[0-9]{2})"
)
_LATIN: tuple[tuple[linear.Pattern, _Reader], ...] = (
    (linear.compile(_NUMERIC), _numeric),
    (linear.compile(rf"(?i){_DAYS}\s*(?:of |de )?(?P<month>{_MONTHS})\.?{_THE_YEAR}"), _written),
    (linear.compile(rf"(?i)(?P<month>{_MONTHS})\.?\s+(?:the )?{_DAYS}{_THE_YEAR}"), _written),
    (linear.compile(f"(?i)(?P<word>{'|'.join(_DAY_WORDS)})"), _day_word),
    (linear.compile(f"(?i){_AMOUNT} {_UNIT} ago"), _ago),
    (linear.compile(f"(?i)(?:vor|hace|il y a|y a) {_AMOUNT} {_UNIT}"), _ago),
    (linear.compile(f"(?i)(?:in|dentro de|en|dans) {_AMOUNT} {_UNIT}"), _in),
    (
        linear.compile(
            rf"(?i)\b(?P<edge>{_EDGE})?(?:(?P<step>{_STEP})\s+)?(?:{_UNIT}|(?P<weekday>{_WEEKDAYS})"
            rf"|(?P<month>{_MONTHS}))(?:\s+(?P<after>(?:of )?(?:{_STEP}) (?:week|woche)"
            rf"|que viene|pasad[oa]|pr[óo]xim[oa]|prochaine?|qui vient|derni(?:er"
            rf"|ère)))?{_THE_YEAR}"
        ),
        _named_time,
    ),
    (linear.compile("(?i)the (?P<day>[0-9]{1,2})(?:st|nd|rd|th)"), _day_of_month),
    (linear.compile("(?P<year>(?:19|20)[0-9]{2})"), _bare_year),
)


# --- Chinese, Japanese


def _cjk_date(match: linear.Match, said: _Said) -> Dated | None:
    """3月5日, 明年三月, 来月の5日, 下个月底, 5月3号到9号."""
    year, edge, step = _part(match, "year"), _part(match, "edge"), _part(match, "step")
    if edge == "初" and said.text[match.end() :][:1] in _CJK_NUMERALS:
        return None  # 初八, of the other calendar
    if step:
        first, last = _month(said.today.year, said.today.month + _CJK_STEPS[step], edge)
    else:
        month = _number(match["month"])
        day_or_end = _number(match["day"]) if match["day"] else 28
        number = _cjk_year(year, said.today) if year else said.year_of(month, day_or_end)
        first, last = _month(number, month, edge)
    if match["day"]:
        first = last = first.replace(day=_number(match["day"]))
    if match["to"]:
        last = last.replace(day=_number(match["to"]))
    return _at(match, (first, last), relative=bool(step) or (bool(year) and not year[0].isdigit()))


def _cjk_year(word: str, today: date) -> int:
    return int(word[:4]) if word[0].isdigit() else today.year + _CJK_STEPS[word[:-1]]


def _cjk_year_alone(match: linear.Match, said: _Said) -> Dated | None:
    year, edge = _part(match, "year"), _part(match, "edge")
    if match["this"]:  # 月初八 is a day of the other calendar
        if said.text[match.end() :][:1] in _CJK_NUMERALS:
            return None
        days = _year(said.today.year, match["this"][1:]) if match["this"][0] == "年" else None
        days = days or _month(said.today.year, said.today.month, match["this"][1:])
        return _at(match, days, relative=True)
    days = _year(_cjk_year(year, said.today), edge)
    return _at(match, days, relative=not year[0].isdigit())


def _cjk_week(match: linear.Match, said: _Said) -> Dated | None:
    """下周三, 来週の金曜日, 这周末, 下周."""
    name = _part(match, "weekday") or _part(match, "youbi")
    if said.text[match.end() : match.end() + 1] in tuple("次个個天年回节節围") or not (
        name or match["step"]
    ):
        return None
    step = _CJK_STEPS[match["step"]] if match["step"] else None
    if not name:
        return _at(match, said.distance(step or 0, "week"), relative=True)
    nth = "第" in said.text[max(0, match.start() - 3) : match.start()]
    if step is None and (said.habit or nth or name == "末"):
        return None
    index = next(
        days.index(name)
        for days in ("一二三四五六天", "月火水木金末日", "月火水木金土日")
        if name in days
    )
    if step is None:
        day = said.weekday(index, None)
    else:
        day = _week(said.today, step) + timedelta(days=index)
    days = (day, day + timedelta(days=int(name == "末")))
    return _at(match, days, relative=True, loose=step is None)


def _cjk_day(match: linear.Match, said: _Said) -> Dated | None:
    if match["word"] == "前天" and said.text[: match.start()].endswith("以"):
        return None
    return _at(match, said.distance(_CJK_DAYS[match["word"]], "day"), relative=True)


def _cjk_distance(match: linear.Match, said: _Said) -> Dated | None:
    sign = -1 if match["way"].endswith("前") else 1
    days = said.distance(sign * _number(match["n"]), _unit(match["unit"].lstrip("ヶか个個")))
    return _at(match, days, relative=True)


def _cjk_nth(match: linear.Match, said: _Said) -> Dated | None:
    """5号; 5号线 and a duration (5日間) are none."""
    after, before = said.text[match.end() : match.end() + 1], said.text[: match.start()][-1:]
    wrong = "线線楼樓院店码碼机機仓倉位間目前後" if match[0][-1] != "日" else ""
    if (after and after in wrong) or before in tuple("月第年路街星曜.-/"):
        return None
    if match[0][-1] == "日" and (
        said.language != "ja" or (after and after not in "には。、かまが")
    ):
        return None
    return _at(match, said.nth(int(match["day"])), relative=True)


def _cjk_slash(match: linear.Match, said: _Said) -> Dated | None:
    """10/4; 1/2 and 3/4 are rather parts of something."""
    month, day = int(match["month"]), int(match["day"])
    around = said.text[: match.start()][-1:] + said.text[match.end() :][:1]
    if month < day <= 5 or any((one.isalnum() and one.isascii()) or one in "/.-" for one in around):
        return None
    return _at(match, (date(said.year_of(month, day), month, day),) * 2, relative=False)


_CJK: tuple[tuple[linear.Pattern, _Reader], ...] = (
    (
        linear.compile(
            rf"(?:(?:(?P<year>{_CJK_YEAR})[的の]?)?(?P<month>{_N})月份?"
            rf"|(?P<step>{_CJK_STEP})[个個]?月)"
            rf"[的の]?(?:(?P<day>{_N})[日号號](?:\s*(?:[-–~〜～到至]|から)\s*(?P<to>{_N})[日号號])?"
            rf"|(?P<edge>{_CJK_EDGE}))?"
        ),
        _cjk_date,
    ),
    (linear.compile(_NUMERIC), _numeric),
    (
        linear.compile(
            rf"(?P<year>{_CJK_YEAR})[的の]?(?P<edge>{_CJK_EDGE})?|(?P<this>[年月][底末初])"
        ),
        _cjk_year_alone,
    ),
    (
        linear.compile(
            rf"(?P<step>{_CJK_STEP})?[个個]?(?:周|週|星期|礼拜|禮拜)の?"
            "(?:(?P<weekday>[一二三四五六天末])|(?P<youbi>[月火水木金土日])(?:曜日?)?)?"
        ),
        _cjk_week,
    ),
    (linear.compile("(?P<step>)(?P<weekday>)(?P<youbi>[月火水木金土日])曜日?"), _cjk_week),
    (linear.compile(rf"(?P<word>{'|'.join(_CJK_DAYS)})"), _cjk_day),
    (
        linear.compile(
            rf"(?P<n>{_N})[个個]?(?P<unit>[ヶか个個]月|天|日|周|週間?|星期|礼拜|禮拜|年)"
            "(?P<way>之前|以前|前|之后|以后|之後|以後|后|後)"
        ),
        _cjk_distance,
    ),
    (linear.compile("(?P<day>[0-9]{1,2})[日号號]"), _cjk_nth),
    (linear.compile("(?P<month>[0-9]{1,2})/(?P<day>[0-9]{1,2})"), _cjk_slash),
)
_CJK_EVERY = linear.compile("(?:每|毎|逢|隔)[个個]?(?:[周週]|星期)?の?$")
_CJK_SINCE = linear.compile("^(?:起|开始|開始|以来|から|以降)")
_CJK_UNTIL = linear.compile("^(?:为止|之前|以前|前|まで)")
_TO = linear.compile(
    r"(?i)^\s*(?:-|–|to|until|till|bis(?: zum)?|hasta|al|au|jusqu['’]au|到|至|~|〜|～"
    r"|から)\s*(?:the |el )?$"
)
_AND = linear.compile(r"(?i)^\s*(?:and|und|y|et|/|,|&|\+|、|，|和|跟|与|と)?\s*(?:the |el )?$")


def dates_in(text: str, *, spoken_at: datetime, language: str, holds: str = "") -> list[Dated]:
    """The dates that the first 2,000 characters of `text` name, in their order.

    `holds` (habit, past, planned or another) tells how the statement holds, if that is known:
    "on Friday" is behind in the past and ahead in a plan, and a habit has no weekday.
    """
    text = text[:LONGEST]
    said = _Said(
        text=text,
        today=spoken_at.date(),
        language=language,
        past=holds == "past"
        or (holds != "planned" and bool(_PAST.search(text)) and not _AHEAD.search(text)),
        habit=holds == "habit" or bool(_HABITS.search(text)),
        yearly=bool(_YEARLY.search(text)),
    )
    found: list[Dated] = []
    for dated in _all(said):
        if not any(dated.start < one.end and one.start < dated.end for one in found):
            found.append(dated)
    return _joined(text, sorted(found, key=lambda one: one.start))


def _all(said: _Said) -> Iterator[Dated]:
    latin = said.language not in ("zh", "ja")
    for pattern, reader in _LATIN if latin else _CJK:
        for match in pattern.finditer(said.text):
            if latin and not _is_whole(said.text, match.start(), match.end()):
                continue
            lead = (_latin_lead if latin else _cjk_lead)(said.text, match)
            told = replace(said, lead=lead, past=said.past or lead == "since")
            try:
                dated = reader(match, told) if lead != "every" else None
            except (ValueError, OverflowError, KeyError):  # February 30, in 999 years
                continue
            if dated:
                kinds = {"since": "since", "from": "since", "until": "until"}
                yield replace(dated, kind=kinds.get(lead, "on"))


def _is_whole(text: str, start: int, end: int) -> bool:
    """RE2's \\b knows ASCII only."""
    return not (text[start - 1 : start].isalnum() or text[end : end + 1].isalnum())


def _latin_lead(text: str, match: linear.Match) -> str:
    found = _LEAD.search(text[max(0, match.start() - 24) : match.start()])
    return next((name for name, word in found.groupdict().items() if word), "") if found else ""


def _cjk_lead(text: str, match: linear.Match) -> str:
    before, after = text[: match.start()][-6:], text[match.end() :][:3]
    if _CJK_EVERY.search(before):
        return "every"
    if before.endswith(("从", "從", "自")) or _CJK_SINCE.search(after):
        return "from"
    return "until" if before.endswith(("到", "至")) or _CJK_UNTIL.search(after) else ""


def _joined(text: str, found: list[Dated]) -> list[Dated]:
    """Two ends become one range; weekdays in a row are a habit, one beside a date is that date."""
    kept: list[Dated] = []
    for dated in found:
        before = kept[-1] if kept else None
        gap = text[before.end : dated.start] if before else "."
        if before is None or not (
            _TO.search(gap) or _AND.search(gap) or gap.strip() in ("", "(", "（", ", den")
        ):
            kept.append(dated)
        elif before.loose and dated.loose:
            kept[-1] = replace(before, end=dated.end, kind="every")
        elif before.first == dated.first and not _TO.search(gap):
            kept[-1] = dated
        elif before.loose or (dated.loose and not _TO.search(gap)):
            kept[-1] = dated if before.loose else before
        elif _TO.search(gap):
            last = dated.last
            while dated.loose and last < before.first:
                last += timedelta(days=7)
            if last < before.first:
                kept.append(dated)
            else:
                kept[-1] = replace(before, end=dated.end, last=last, kind="on", loose=False)
        else:
            kept.append(dated)
    return [one for one in kept if one.kind != "every"]
