"""Digits written as words: "four seven one nine", 幺三洞拐, 八个八."""

from __future__ import annotations

from memories.screening import linear
from memories.screening.linear import Match
from memories.screening.spelling import Folded

_ONES = "zero one two three four five six seven eight nine"
_UP_TO_TWENTY = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
_BY_TEN = "twenty thirty forty fifty sixty seventy eighty ninety"
_DIGITS = {
    **{word: str(n) for n, word in enumerate(_ONES.split())},
    **dict.fromkeys(("oh", "o", "nought", "naught", "nil"), "0"),
}
_TEENS = {word: str(10 + n) for n, word in enumerate(_UP_TO_TWENTY.split())}
_TENS = {word: str(2 + n) for n, word in enumerate(_BY_TEN.split())}
_TIMES = {"double": 2, "triple": 3, "treble": 3, "quadruple": 4}
_HAN = {
    **{sign: str(n % 10) for n, sign in enumerate("零一二三四五六七八九")},
    **{sign: str(n) for n, sign in enumerate("〇壹贰叁肆伍陆柒捌玖")},
    "幺": "1",
    "两": "2",
    "洞": "0",
    "拐": "7",
    "勾": "9",
}
_UNIT = "|".join((*_DIGITS, *_TEENS, *_TENS))
_ENGLISH = linear.compile(
    rf"(?i)\b(?:(?:{'|'.join(_TIMES)})[ -]+)?(?:{_UNIT}|\d)"
    rf"(?:(?: then |, then |(?:[ ,\-]|, ){{1,2}})(?:(?:{'|'.join(_TIMES)})[ -]+)?(?:{_UNIT}|\d))+\b"
)
_WORD = linear.compile(r"[A-Za-z]+|\d")
_NUMERAL = "".join(_HAN)
_ONE = rf"(?:[{_NUMERAL}\d]{{1,2}}个)?[{_NUMERAL}\d]"
_CHINESE = linear.compile(rf"{_ONE}(?:[、\-·， ]?{_ONE})*")
_PIECE = linear.compile(rf"(?:(?P<times>[{_NUMERAL}\d]{{1,2}})个)?(?P<digit>[{_NUMERAL}\d])")
_FEWEST = 3  # digits
_MOST_TIMES = 12
_LONGEST = 200  # characters; a longer run of numerals is no number that people tell


def spell_out(folded: Folded) -> Folded:
    """Replace number words by digits, wherever at least three digits are adjacent."""
    parts = [*_english(folded.text), *_chinese(folded.text)]
    return folded.replaced(sorted(parts)) if parts else folded


def _english(text: str) -> list[tuple[int, int, str]]:
    found = []
    for run in _ENGLISH.finditer(text):
        words = [word[0].lower() for word in _WORD.finditer(run[0]) if word[0] != "then"]
        digits = _digits(words)
        if len(digits) >= _FEWEST and not all(word.isdigit() for word in words):
            found.append((run.start(), run.end(), digits))
    return found


def _digits(words: list[str]) -> str:
    said: list[str] = []
    times, tens = 1, False
    for word in words:
        if word in _TIMES:
            times = _TIMES[word]
            continue
        digit = _DIGITS.get(word, word if word.isdigit() else "")
        if tens and digit not in ("", "0"):
            said[-1] = said[-1][:-1] + digit
        else:
            said.append((digit or _TEENS.get(word) or _TENS[word] + "0") * times)
        times, tens = 1, word in _TENS
    return "".join(said)


def _chinese(text: str) -> list[tuple[int, int, str]]:
    found = []
    for run in _CHINESE.finditer(text):
        said = run[0]
        if not _FEWEST <= len(said) <= _LONGEST or not any(sign in _HAN for sign in said):
            continue
        digits = "".join(_repeated(one) for one in _PIECE.finditer(said))
        if len(digits) >= _FEWEST:
            found.append((run.start(), run.end(), digits))
    return found


def _repeated(one: Match) -> str:
    said = str(one["digit"])
    digit = _HAN.get(said, said)
    told = one["times"]
    if told is None:
        return digit
    times = int("".join(_HAN.get(sign, sign) for sign in told))
    return digit * times if times <= _MOST_TIMES else digit
