"""Times that come again ("every Tuesday", 每周二和周四): they are said as they are, never dated.

They are hidden behind signs nobody types while the other times of a sentence become dates, and put
back afterwards.
"""

import re

_FIRST_SIGN = 0xE100
_MOST = 64

_DAY = (
    r"(?:mon|tues?|wed(?:nes)?|thur?s?|fri|sat(?:ur)?|sun)(?:day)?|day|night|morning|evening|"
    r"afternoon|weekday|weekend|week|fortnight|month|quarter|semester|season|year|summer|winter|"
    r"spring|autumn|fall|january|february|march|april|may|june|july|august|september|october|"
    r"november|december|christmas|easter|\d{1,2}(?:st|nd|rd|th)"
)
_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_NTH = r"(?:first|second|third|fourth|last|other|\d{1,2}(?:st|nd|rd|th))"
_PART = r"(?: (?:morning|afternoon|evening|night|lunchtime)s?)?"
_ENGLISH = re.compile(
    rf"\b(?:(?:on |in )?(?:every|each)(?: (?:single|{_NTH}|few|\d+|two|three|four))*"
    rf" (?:{_DAY})s?\b(?:(?:,? (?:and|or|&) |, )(?:on )?(?:every )?(?:{_DAY})s?\b)*{_PART}"
    rf"|(?:on )?the {_NTH}(?: and {_NTH})?(?: (?:{_WEEKDAY}|day|week|weekend))?{_PART}"
    r" (?:of|in) (?:every|each|the) (?:month|week|year|quarter)"
    rf"|{_WEEKDAY}s(?:(?:,? (?:and|or|&) |, ){_WEEKDAY}s)*"
    rf"|{_WEEKDAY}(?:(?:,? (?:and|or|&) |, ){_WEEKDAY})* (?:mornings|afternoons|evenings|nights)"
    rf"|(?:from )?{_WEEKDAY} (?:to|through|thru|till|until) {_WEEKDAY}{_PART})\b",
    re.IGNORECASE,
)
_WEEK = r"(?:周|星期|礼拜)"
_DAYS = r"[一二三四五六日天末]"
_NUMBER = r"(?:\d{1,2}|[一二三四五六七八九十]{1,3})"
_CHINESE = re.compile(
    rf"(?:每(?:个|隔|逢|到|一)*|逢)(?:[一两三四五六七八九十\d]+个?)?"
    r"(?:年|月|周|星期|礼拜|季度|学期)的?"
    rf"(?:[和、跟及与]?(?:(?:第[一二三四五]|最后一?)个?{_WEEK}?{_DAYS}?|{_WEEK}{_DAYS}|"
    rf"{_NUMBER}月份?(?:{_NUMBER}[日号])?|{_NUMBER}[日号]|[初中底]|{_DAYS}(?![个年月])))*"
    rf"|{_WEEK}{_DAYS}(?:到|至|[-~—])(?:{_WEEK})?{_DAYS}"
    rf"|{_WEEK}{_DAYS}(?:[和、跟及与]?{_WEEK}{_DAYS})*"
    r"(?=(?:的?(?:早上|上午|中午|下午|傍晚|晚上))?(?:都|一般|通常|总|固定|雷打不动))"
    rf"|{_WEEK}{_DAYS}(?:[和、跟及与]{_WEEK}?{_DAYS})+"
)


def hidden(text: str, *, chinese: bool) -> tuple[str, list[str]]:
    """`text` with a sign for each recurring time, and what stood there, in order."""
    said: list[str] = []

    def hide(match: re.Match[str]) -> str:
        if len(said) == _MOST:
            return match[0]
        said.append(match[0])
        return chr(_FIRST_SIGN + len(said) - 1)

    return (_CHINESE if chinese else _ENGLISH).sub(hide, text), said


def restored(text: str, said: list[str]) -> str:
    for index, words in enumerate(said):
        text = text.replace(chr(_FIRST_SIGN + index), words)
    return text
