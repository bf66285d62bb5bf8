"""Chinese times that depend on the day of speaking, as dates that stay true."""

import re
from collections.abc import Callable
from datetime import date, timedelta

from memories.extraction.rules import recurring
from memories.extraction.rules.en_calendar import month_on, year_for

_DIGITS = {sign: index for index, sign in enumerate("零一二三四五六七八九十")} | {"两": 2, "半": 0}
_WEEKDAYS = {sign: index for index, sign in enumerate("一二三四五六日")} | {"天": 6, "末": 5}
_NUMBER = r"(?P<n>\d{1,3}|[一二两三四五六七八九十]{1,3})"
_PART = r"(?:的?(?:早上|上午|中午|下午|傍晚|晚上|凌晨|夜里|早晨))?"
_DAYS = {
    "大前天": -3,
    "前天": -2,
    "昨天": -1,
    "昨日": -1,
    "昨晚": -1,
    "今天": 0,
    "今日": 0,
    "今晚": 0,
    "今早": 0,
    "明天": 1,
    "明日": 1,
    "明晚": 1,
    "明早": 1,
    "后天": 2,
    "大后天": 3,
    "昨夜": -1,
    "前晚": -2,
    "今儿": 0,
    "明儿": 1,
}
_YEARS = {"前年": -2, "去年": -1, "今年": 0, "明年": 1, "后年": 2}
_STEPS = {"上上": -2, "上": -1, "这": 0, "本": 0, "当": 0, "下": 1, "下下": 2}

_Resolver = Callable[[re.Match[str], date, bool], tuple[str, date] | None]


def number(text: str) -> int:
    """十五 -> 15, 二十 -> 20, 12 -> 12."""
    if text.isdigit():
        return int(text)
    tens, ten, units = text.partition("十")
    if not ten:
        return int("".join(str(_DIGITS[sign]) for sign in text))
    return (_DIGITS[tens] if tens else 1) * 10 + (_DIGITS[units] if units else 0)


def written(day: date) -> str:
    return f"{day.year}年{day.month}月{day.day}日"


def _month_written(day: date) -> str:
    return f"{day.year}年{day.month}月"


def _relative_day(match: re.Match[str], today: date, past: bool) -> tuple[str, date]:
    day = today + timedelta(days=_DAYS[match["day"]])
    return written(day) + (match["part"] or ""), day


def _weekday(match: re.Match[str], today: date, past: bool) -> tuple[str, date] | None:
    if match["wd"] == "末" and not match["step"]:  # 周末: every one of them
        return None
    step = _STEPS[match["step"]] if match["step"] else 0
    day = (
        today - timedelta(days=today.weekday()) + timedelta(days=7 * step + _WEEKDAYS[match["wd"]])
    )
    if not match["step"]:
        if past and day > today:
            day -= timedelta(days=7)
        elif not past and day < today:
            day += timedelta(days=7)
    words = (
        f"{written(day)}那个周末" if match["wd"] == "末" else written(day) + (match["part"] or "")
    )
    return words, day


def _week(match: re.Match[str], today: date, past: bool) -> tuple[str, date]:
    monday = today - timedelta(days=today.weekday()) + timedelta(days=7 * _STEPS[match["step"]])
    return f"{written(monday)}那一周", monday


def _month(match: re.Match[str], today: date, past: bool) -> tuple[str, date] | None:
    month = month_on(today.year, today.month + _STEPS[match["step"]])
    if match["date"]:
        return _day_in(month.year, month.month, number(match["date"]))
    return _month_written(month) + (match["edge"] or ""), month


def _day_in(year: int, month: int, day: int) -> tuple[str, date] | None:
    try:
        found = date(year, month, day)
    except ValueError:  # 2月30日
        return None
    return written(found), found


def _year(match: re.Match[str], today: date, past: bool) -> tuple[str, date] | None:
    year = today.year + _YEARS[match["year"]]
    if match["month"] and match["date"]:
        return _day_in(year, number(match["month"]), number(match["date"]))
    month = number(match["month"]) if match["month"] else 1
    if not 1 <= month <= 12:
        return None
    day = date(year, month, 1)
    return (_month_written(day) if match["month"] else f"{year}年"), day


def _calendar(match: re.Match[str], today: date, past: bool) -> tuple[str, date] | None:
    month, day = number(match["month"]), number(match["date"])
    return _day_in(year_for(month, day, today, past), month, day)


def _bare_month(match: re.Match[str], today: date, past: bool) -> tuple[str, date] | None:
    month = number(match["month"])
    if not 1 <= month <= 12:
        return None
    day = date(year_for(month, 28, today, past), month, 1)
    return _month_written(day), day


def _day_only(match: re.Match[str], today: date, past: bool) -> tuple[str, date] | None:
    day = number(match["date"])
    step = 0 if day == today.day or (day < today.day) == past else (-1 if past else 1)
    month = month_on(today.year, today.month + step)
    return _day_in(month.year, month.month, day)


def _distance(match: re.Match[str], today: date, past: bool) -> tuple[str, date]:
    count = number(match["n"]) * (-1 if match["way"].endswith("前") else 1)
    unit = match["unit"]
    if unit == "天":
        day = today + timedelta(days=count)
        return written(day), day
    if unit in ("周", "个星期", "星期", "个礼拜", "礼拜"):
        day = today - timedelta(days=today.weekday()) + timedelta(days=7 * count)
        return f"{written(day)}那一周", day
    if unit == "个月":
        month = month_on(today.year, today.month + count)
        return _month_written(month), month
    return f"{today.year + count}年", date(today.year + count, 1, 1)


def _edge(match: re.Match[str], today: date, past: bool) -> tuple[str, date]:
    edge = match["edge"]
    if edge.startswith("年"):
        return f"{today.year}年{edge[1]}", date(today.year, 12 if edge == "年底" else 1, 1)
    return f"{_month_written(today)}{edge[1]}", today


_HOLIDAYS = {"元旦": (1, 1), "五一": (5, 1), "国庆": (10, 1), "圣诞": (12, 25), "平安夜": (12, 24)}


def _holiday(match: re.Match[str], today: date, past: bool) -> tuple[str, date]:
    month, day = _HOLIDAYS[match["holiday"]]
    found = date(year_for(month, day, today, past), month, day)
    return f"{found.year}年{match['holiday']}", found


def _row(pattern: str, resolver: _Resolver) -> tuple[re.Pattern[str], _Resolver]:
    return re.compile(pattern), resolver


_ROWS = (
    _row(
        r"(?<!年)(?<!年的)(?P<holiday>元旦|五一|国庆|圣诞|平安夜)(?!树|老人|歌|路|卡|贺卡|快乐|"
        r"号)",
        _holiday,
    ),
    _row(
        r"(?P<year>前年|去年|今年|明年|后年)的?(?:(?P<month>\d{1,2}|"
        r"[一二三四五六七八九十]{1,2})月份?)?(?:(?P<date>\d{1,2}|"
        r"[一二三四五六七八九十]{1,3})[日号])?",
        _year,
    ),
    _row(
        r"(?P<step>上上|下下|上|这|本|下)(?:个)?月的?(?:(?P<date>\d{1,2}|"
        r"[一二三四五六七八九十]{1,3})[日号]|(?P<edge>[初底中]))?",
        _month,
    ),
    _row(
        r"(?<![年\d一二三四五六七八九十])(?P<month>\d{1,2}|[一二三四五六七八九十]{1,"
        r"2})月(?P<date>\d{1,2}|[一二三四五六七八九十]{1,3})[日号]",
        _calendar,
    ),
    _row(
        r"(?P<day>大前天|大后天|(?<!以)前天|昨天|昨日|昨晚|昨夜|今天|今日|今晚|今早|明天|明日|"
        rf"明晚|明早|后天|前晚)(?P<part>{_PART})",
        _relative_day,
    ),
    _row(
        r"(?<!每)(?<!每个)(?P<step>上上|下下|上|这|本|下)?个?(?:周|星期|"
        r"礼拜)(?P<wd>[一二三四五六日天末])(?!到|都|一般|经常|通常|常|"
        rf"总)(?P<part>{_PART})",
        _weekday,
    ),
    _row(r"(?P<step>上上|下下|上|这|本|下)个?(?:周|星期|礼拜)(?![一二三四五六日天末])", _week),
    _row(
        rf"(?:还有|再过|再有){_NUMBER}(?P<unit>天|个月|个星期|星期|周|个礼拜|礼拜|"
        rf"年)(?P<way>)(?=就|到|开|结|考|去|要|才|放|出)",
        _distance,
    ),
    _row(
        rf"{_NUMBER}(?P<unit>天|个月|个星期|星期|周|个礼拜|礼拜|年)(?P<way>之前|以前|前|"
        r"之后|以后|后)",
        _distance,
    ),
    _row(
        r"(?<![年月\d一二三四五六七八九十路街道巷弄里园苑院])(?P<date>\d{1,2})号(?!线|楼|院|店|码|机|仓|"
        r"位|选手|公路)",
        _day_only,
    ),
    _row(
        r"(?<![年\d一二三四五六七八九十个])(?P<month>\d{1,2}|"
        r"[一二三四五六七八九十]{1,2})月份?(?![\d一二三四五六七八九十]{1,3}[日号]|"
        r"[子亮饼球色天])",
        _bare_month,
    ),
    _row(
        r"(?<![\d一二三四五六七八九十两个今去明])(?P<edge>(?<!年)年底|(?<!年)年初|月底|"
        r"月初)",
        _edge,
    ),
)
_HINT = re.compile(r"元旦|五一|国庆|圣诞|平安夜|[天日晚早年月周号]|星期|礼拜")
_YEAR_SAID = re.compile(r"((?:19|20)\d\d)年")
LEFT_OVER = re.compile(
    r"(?<!每)(?:今天|明天|昨天|后天|(?<!以)前天|今晚|昨晚|刚才|上次|下次|那天|当时|改天|"
    r"到时候)"
)


def resolve(text: str, *, today: date, past: bool) -> tuple[str, date | None]:
    """`text` with each time that depends on `today` as a date, and the first such day."""
    if not _HINT.search(text):
        return text, None
    text, repeated = recurring.hidden(text, chinese=True)
    text, first = _dated(text, today=today, past=past)
    text = recurring.restored(text, repeated)
    if first is None and (year := _YEAR_SAID.search(text)):
        first = date(int(year[1]), 1, 1)
    return text, first


def _dated(text: str, *, today: date, past: bool) -> tuple[str, date | None]:
    first: date | None = None
    for pattern, resolver in _ROWS:

        def dated(match: re.Match[str], resolver: _Resolver = resolver) -> str:
            nonlocal first
            found = _safely(resolver, match, today, past)
            if found is None:
                return match[0]
            first = first or found[1]
            return found[0]

        text = pattern.sub(dated, text)
    return text, first


def _safely(
    resolver: _Resolver, match: re.Match[str], today: date, past: bool
) -> tuple[str, date] | None:
    """A count that leads out of the calendar (999年前 is within, 9999年前 isn't) is no date."""
    try:
        return resolver(match, today, past)
    except (ValueError, OverflowError, KeyError):
        return None
