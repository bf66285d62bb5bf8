"""Numbers, dates and hours of a text, written one way whatever the language."""

import re

_WEEKDAYS_EN = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_MONTH = r"(?P<m>jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*\.?"
_COUNTS = {
    word: number
    for number, words in enumerate(
        [
            "zero",
            "one",
            "two twice",
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
    for word in words.split()
} | {"once": 1, "fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50}
_DIGITS = {"零": 0, "一": 1, "二": 2, "两": 2, "俩": 2, "三": 3, "四": 4, "五": 5, "六": 6}
_DIGITS |= {"七": 7, "八": 8, "九": 9}
_CHINESE_NUMBER = re.compile(
    r"[零一二两三四五六七八九]?[十百][零一二三四五六七八九十百]*(?=[个只条岁点号日月次公里斤米千分天年块元本杯台辆位名人周天度厘口套层级平楼])"
    r"|[零二两俩三四五六七八九](?=[个只条匹头岁点号日月次公里斤米千分天年块元本杯台辆位名度厘口套层级楼])|一(?=[岁点号月次天杯瓶支根块元斤公])|(?<=第)[一二三四五六七八九十]"
)

# 三百, 四千五 (4500), 一万二 (12000): a sum of money or a count, whatever follows.
_CHINESE_SUM = re.compile(r"[一二两三四五六七八九][百千万][零一二两三四五六七八九十百千万]*")
_TENFOLDS = {"十": 10, "百": 100, "千": 1000}
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_YUAN = re.compile(r"(?<=\d)(?:元|块钱?|人民币| ?rmb\b)")

_ORDINALS = [
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
    "eleventh", "twelfth",
]  # fmt: skip
_ORDINAL = re.compile(
    rf"\b({'|'.join(_ORDINALS)})(?= (?:floor|grade|year|child|place"
    rf"|of [a-z]+)\b)"
)
_FORMS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("date", re.compile(r"(?P<y>\d{4})[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})")),
    ("date", re.compile(r"(?:(?P<y>\d{4})年)?(?P<m>\d{1,2})月(?P<d>\d{1,2})[日号]?")),
    ("date", re.compile(rf"\b{_MONTH} (?P<d>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,? (?P<y>\d{{4}}))?")),
    ("date", re.compile(
        rf"\b(?P<d>\d{{1,2}})(?:st|nd|rd|th)? (?:of )?{_MONTH}(?![a-z])(?:,? (?P<y>\d{{4}}))?")),
    ("month", re.compile(r"(?P<m>\d{1,2})月(?!天)(?:份|底|初|中)?")),
    ("month", re.compile(
        r"\b(?:in|of|since|until|by|for|to|from|this|next|last) "
        r"(?P<m>january|february|march|april|may|june|july|august|september|october|november|december)\b")),
    ("hour", re.compile(r"\b(?P<h>\d{1,2})(?::(?P<min>\d\d))? ?(?P<half>am|pm|a\.m\.|p\.m\.)")),
    ("hour", re.compile(r"(?<!\d)(?P<h>\d{1,2}):(?P<min>\d\d)(?!\d)")),
    ("hour", re.compile(
        r"\b(?:at|around|by|until) (?P<h>\d{1,2})(?=$|[,;]| on\b| every\b| and\b)")),
    ("hour", re.compile(
        r"(?P<half>早上|上午|下午|晚上|凌晨|中午)?(?P<h>\d{1,2})点(?P<min>半|\d{1,2}分?)?")),
    ("weekday", re.compile(r"(?:周|星期|礼拜)(?P<zh>[一二三四五六日天])")),
    ("weekday", re.compile(rf"\b(?P<en>{'|'.join(_WEEKDAYS_EN)})s?\b")),
    ("year", re.compile(r"(?<!\d)(?P<y>(?:19|20)\d\d)年?(?!\d)")),
    ("number", re.compile(r"(?P<n>\d+(?:[.,]\d+)?)")),
)  # fmt: skip


def take_figures(text: str) -> tuple[frozenset[str], str]:
    """The figures of a lower-case text, and the text without them."""
    text = re.sub(r"\bmidnight\b|午夜|半夜12点", "0:00", text)
    text = re.sub(r"\b(?:noon|midday)\b|正午|中午(?!\d|十|一|两)", "12:00", text)
    text = _ORDINAL.sub(lambda found: str(_ORDINALS.index(found[1]) + 1), text)
    text = re.sub(r"(?<=[只仅]有)一(?=[个只条位名])", "1", text)
    text = _CHINESE_SUM.sub(lambda found: str(_chinese(found.group())), text)
    rest = _CHINESE_NUMBER.sub(lambda found: str(_chinese(found.group())), text)
    rest = _YUAN.sub("", _THOUSANDS.sub("", rest))
    rest = re.sub(
        rf"\b(?:{'|'.join(_COUNTS)})\b(?! of\b)", lambda word: str(_COUNTS[word.group()]), rest
    )
    figures = _often(rest)
    for kind, form in _FORMS:
        for found in form.finditer(rest):
            figures.add(f"{kind}:{_written(kind, found.groupdict())}")
        rest = form.sub(" ", rest)
    return frozenset(figures), rest


# How often: "twice a week" and "every day" give one class, so that they can differ.
_OFTEN = re.compile(
    r"(?<![\d.,$£€¥])(?P<n>\d{1,2})(?: times?)? (?:a|per|each|every) (?P<unit>day|week|month|year)"
    r"|\b(?:every|each) (?P<unit2>day|week|month|year)\b"
    r"|[每一]个?(?P<unit3>[天日周月年])(?:[^，,]{0,8}?(?P<n2>\d+)次)?|天天"
)
_UNITS = {"天": "day", "日": "day", "周": "week", "月": "month", "年": "year"}

_EVERY = {
    "daily": "every day", "nightly": "every day", "every night": "every day",
    "each night": "every day", "every morning": "every day", "every evening": "every day",
    "weekly": "every week", "monthly": "every month", "yearly": "every year",
    "annually": "every year",
}  # fmt: skip
_ADVERBS_OF_TIME = re.compile(rf"\b(?:{'|'.join(_EVERY)})\b")


def _often(text: str) -> set[str]:
    found = _OFTEN.search(_ADVERBS_OF_TIME.sub(lambda word: _EVERY[word.group()], text))
    if not found:
        return set()
    unit = found["unit"] or found["unit2"] or _UNITS.get(found["unit3"] or "天", "day")
    return {f"often:{found['n'] or found['n2'] or 1}/{unit}"}


def differ(left: frozenset[str], right: frozenset[str]) -> bool:
    """Whether both give a figure of one class, and not the same ones."""
    for kind in {figure.split(":")[0] for figure in left}:
        ours = {figure for figure in left if figure.startswith(f"{kind}:")}
        theirs = {figure for figure in right if figure.startswith(f"{kind}:")}
        if theirs and not (_within(ours, theirs) or _within(theirs, ours)):
            return True
    return False


def _within(some: set[str], others: set[str]) -> bool:
    """A date without its year agrees with the same day of any year."""
    return all(
        any(
            one == other or (one.startswith("date:") and other.endswith(f"-{one[5:]}"))
            for other in others
        )
        for one in some
    )


def _written(kind: str, parts: dict[str, str | None]) -> str:
    if kind in ("date", "month"):
        day = f"-{int(parts['d'] or 0):02d}" if kind == "date" else ""
        year = f"{parts['y']}-" if parts.get("y") else ""
        return f"{year}{_month(parts['m'] or ''):02d}{day}"
    if kind == "hour":
        return _hour(parts)
    if kind == "weekday":
        chinese = parts.get("zh")
        if chinese:
            return str("一二三四五六日".index(chinese.replace("天", "日")) + 1)
        return str(_WEEKDAYS_EN.index(parts.get("en") or "monday") + 1)
    return (parts.get("y") or parts.get("n") or "").replace(",", "")


def _month(name: str) -> int:
    return int(name) if name.isdigit() else _MONTHS.index(name[:3]) + 1


def _hour(parts: dict[str, str | None]) -> str:
    hour = int(parts["h"] or 0)
    late = (parts.get("half") or "").replace(".", "") in ("pm", "下午", "晚上")
    minute = (parts.get("min") or "0").replace("分", "").replace("半", "30")
    return f"{hour + 12 if late and hour < 12 else hour}:{int(minute):02d}"


def _chinese(text: str) -> int:
    """The numbers that people write in characters, also as they say them: 四千五 is 4500."""
    ten_thousands = total = digit = 0
    unit = 1
    for char in text:
        if char == "万":
            ten_thousands, total, digit, unit = (total + digit) * 10_000, 0, 0, 10_000
        elif char in _TENFOLDS:
            unit = _TENFOLDS[char]
            total, digit = total + (digit or 1) * unit, 0
        else:
            digit = _DIGITS[char]
            unit = 1 if char == "零" else unit
    return ten_thousands + total + digit * (unit // 10 if unit >= 100 else 1)
