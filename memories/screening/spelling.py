"""Normalise spelling and digits written as words, and keep track of original positions."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

from confusable_homoglyphs import utils as confusable_homoglyphs

from foundation.text.segment import simplified
from memories.screening import safe_patterns
from memories.screening.safe_patterns import Match

# Scripts whose letters are used to imitate Latin ones. Han, Kana and Hangul stay unchanged.
_LOOK_ALIKE = ("CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU", "LATIN")
# Full-width punctuation ends a clause in Chinese; NFKC would turn most of it into ASCII
# signs, which also occur inside values.
_KEPT = frozenset("，；：！？（）。、")
_APOSTROPHES = frozenset("\u2019\u2018\u02bc\u00b4\u2032")
_INSIDE_A_WORD = {"！": "!", "？": "?"}
_BETWEEN_LATIN = re.compile("(?<=[A-Za-z0-9])[！？](?=[A-Za-z0-9])")
_SEPARATORS = frozenset(" .-_*·/|~+")
_SIGNS = frozenset(".-_*·/|~+,")
# A first letter or digit before a separator, where a spaced-out word can begin.
_MAY_BE_SPACED = re.compile(r"(?<![^\W_])[^\W_](?=[ .\-_*·/|~+])")
_FEWEST_SPACED = 4  # minimum number of single characters in a spaced-out word
_NEXT_SPACED = 2  # the same minimum directly after another spaced-out word


@dataclass(frozen=True)
class Folded:
    """A normalised text that keeps the original position of each character.

    Character n of `text` corresponds to the span `starts[n]:ends[n]` of the original.
    """

    text: str
    starts: list[int]
    ends: list[int]

    @classmethod
    def unchanged(cls, text: str) -> Folded:
        return cls(text, list(range(len(text))), list(range(1, len(text) + 1)))

    def original(self, start: int, end: int) -> tuple[int, int]:
        return self.starts[start], self.ends[end - 1]

    def replaced(self, parts: list[tuple[int, int, str]]) -> Folded:
        """Replace each part, given as (start, end, new text) in order.

        Each character of the new text corresponds to the whole replaced part.
        """
        text: list[str] = []
        starts: list[int] = []
        ends: list[int] = []
        last = 0
        for start, end, new in parts:
            text += self.text[last:start], new
            starts += self.starts[last:start]
            ends += self.ends[last:start]
            begin, stop = self.original(start, end)
            starts += [begin] * len(new)
            ends += [stop] * len(new)
            last = end
        text.append(self.text[last:])
        return Folded("".join(text), starts + self.starts[last:], ends + self.ends[last:])


def fold(text: str) -> Folded:
    """Apply NFKC, drop invisible characters, and map look-alike letters to Latin ones."""
    if text.isascii():
        return Folded.unchanged(text)
    plain = {sign: _plain(sign) for sign in set(text) if sign >= "\x80"}
    if all(len(letters) == 1 for letters in plain.values()):
        folded = text.translate({ord(sign): letters for sign, letters in plain.items()})
        places = list(range(len(text)))
    else:
        signs = [plain.get(sign, sign) for sign in text]
        folded = "".join(signs)
        places = [place for place, letters in enumerate(signs) for _ in letters]
    corrected = _BETWEEN_LATIN.sub(lambda sign: _INSIDE_A_WORD[sign[0]], folded)
    return Folded(corrected, places, [place + 1 for place in places])


def _is_latin(sign: str) -> bool:
    return sign.isascii() and sign.isalnum()


@lru_cache(maxsize=20_000)
def _plain(sign: str) -> str:
    if sign in _KEPT or "\ue000" <= sign <= "\uf8ff":
        return sign
    if unicodedata.category(sign) in ("Cf", "Mn", "Me") or sign in "\u115f\u1160\u3164\u2800":
        return ""
    if sign in _APOSTROPHES:
        return "'"
    if sign.isspace():
        return "\n" if sign in "\u2028\u2029\x85" else " "
    if looks := _look_alike(sign):
        return looks
    plain = unicodedata.normalize("NFKC", sign)
    bare = "".join(
        letter
        for letter in unicodedata.normalize("NFKD", plain)
        if unicodedata.category(letter) not in ("Mn", "Me")
    )
    if bare != sign and len(bare) == 1 and not bare.isascii():
        return _look_alike(bare) or simplified(bare)
    return bare if bare.isascii() else simplified(plain)


def _look_alike(sign: str) -> str:
    return _look_alikes().get(sign, "")


@cache
def _look_alikes() -> dict[str, str]:
    """Return a dictionary that maps look-alike characters to Latin letters.

    Only this dictionary is kept in memory, because the complete data of the package
    `confusable_homoglyphs` takes 8 MB.
    """
    found = {}
    for sign, others in confusable_homoglyphs.load("confusables.json").items():
        if len(sign) > 1 or not sign.isalpha():
            continue
        letters = [other["c"] for other in others if len(other["c"]) == 1 and _is_latin(other["c"])]
        if letters and unicodedata.name(sign, "").startswith(_LOOK_ALIKE):
            found[sign] = str(letters[0])
    return found


def close_up(folded: Folded) -> Folded:
    """Join the characters of spaced-out words: "p a s s w o r d", "1-2-3-4", "4 . 9 . 1 . 7"."""
    text = folded.text
    parts = [
        (place, min(place + step, end), "")
        for start, end, step in _spaced_out(text)
        for place in range(start + 1, end, step + 1)
    ]
    return folded.replaced(parts) if parts else folded


def _spaced_out(text: str) -> Iterator[tuple[int, int, int]]:
    place, last_end = 0, -10
    while (found := _MAY_BE_SPACED.search(text, place)) and found.start() + 2 < len(text):
        place = found.start()
        end, step = _end_of_spaced(text, place)
        fewest = _NEXT_SPACED if place - last_end <= 3 else _FEWEST_SPACED
        signs = text[place : end : step + 1]
        if len(signs) >= fewest or (len(signs) == 3 and signs.isdigit()):
            yield place, end, step
            last_end = end
        place = max(end, place + 1)


def _end_of_spaced(text: str, place: int) -> tuple[int, int]:
    separator = _separator(text, place + 1)
    if not separator:
        return place + 1, 1
    end, step = place + 1, len(separator)
    while text.startswith(separator, end) and _stands_alone(text, end + step, separator):
        end += step + 1
    return end, step


def _separator(text: str, place: int) -> str:
    if text[place : place + 1] == " " and text[place + 1 : place + 2] in _SIGNS:
        return text[place : place + 3] if text[place + 2 : place + 3] == " " else ""
    return text[place] if text[place : place + 1] in _SEPARATORS else ""


def _stands_alone(text: str, place: int, separator: str) -> bool:
    sign = text[place : place + 1]
    if not sign or sign.isspace() or sign in separator or not sign.isprintable():
        return False
    following = text[place + 1 : place + 2]
    return following == separator[0] or not following.isalnum()


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
_ENGLISH = safe_patterns.compile(
    rf"(?i)\b(?:(?:{'|'.join(_TIMES)})[ -]+)?(?:{_UNIT}|\d)"
    rf"(?:(?: then |, then |(?:[ ,\-]|, ){{1,2}})(?:(?:{'|'.join(_TIMES)})[ -]+)?(?:{_UNIT}|\d))+\b"
)
_WORD = safe_patterns.compile(r"[A-Za-z]+|\d")
_NUMERAL = "".join(_HAN)
_ONE = rf"(?:[{_NUMERAL}\d]{{1,2}}个)?[{_NUMERAL}\d]"
_CHINESE = safe_patterns.compile(rf"{_ONE}(?:[、\-·， ]?{_ONE})*")
_PIECE = safe_patterns.compile(rf"(?:(?P<times>[{_NUMERAL}\d]{{1,2}})个)?(?P<digit>[{_NUMERAL}\d])")
_FEWEST = 3  # digits
_MOST_TIMES = 12
_LONGEST = 200  # characters; nobody spells out a longer number


def spell_out(folded: Folded) -> Folded:
    """Replace digits written as words by numerals, in runs of at least three digits."""
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
    digits: list[str] = []
    times, tens = 1, False
    for word in words:
        if word in _TIMES:
            times = _TIMES[word]
            continue
        digit = _DIGITS.get(word, word if word.isdigit() else "")
        if tens and digit not in ("", "0"):
            digits[-1] = digits[-1][:-1] + digit
        else:
            digits.append((digit or _TEENS.get(word) or _TENS[word] + "0") * times)
        times, tens = 1, word in _TENS
    return "".join(digits)


def _chinese(text: str) -> list[tuple[int, int, str]]:
    found = []
    for run in _CHINESE.finditer(text):
        words = run[0]
        if not _FEWEST <= len(words) <= _LONGEST or not any(sign in _HAN for sign in words):
            continue
        digits = "".join(_repeated(piece) for piece in _PIECE.finditer(words))
        if len(digits) >= _FEWEST:
            found.append((run.start(), run.end(), digits))
    return found


def _repeated(piece: Match) -> str:
    numeral = str(piece["digit"])
    digit = _HAN.get(numeral, numeral)
    count = piece["times"]
    if count is None:
        return digit
    times = int("".join(_HAN.get(sign, sign) for sign in count))
    return digit * times if times <= _MOST_TIMES else digit
