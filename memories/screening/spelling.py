"""Normalise a text to one spelling, keeping the origin of each character."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from confusable_homoglyphs import confusables

from memcenter.lib.text.segment import simplified

# Scripts whose letters are used to imitate Latin ones. Han, Kana and Hangul are left alone.
_LOOK_ALIKE = ("CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU", "LATIN")
# Full-width punctuation ends a clause in Chinese; NFKC would attach it to the preceding word.
_KEPT = frozenset("，；：！？（）。、")
_APOSTROPHES = frozenset("\u2019\u2018\u02bc\u00b4\u2032")
_INSIDE_A_WORD = {"！": "!", "？": "?"}
_SEPARATORS = frozenset(" .-_*·/|~+")
_SIGNS = frozenset(".-_*·/|~+,")
_FEWEST_SPACED = 4  # single characters in a row that form a spaced-out word
_NEXT_SPACED = 2  # after a spaced-out word, a shorter one counts too


@dataclass(frozen=True)
class Folded:
    """`text`, where character n stands for characters `starts[n]` to `ends[n]` of the original."""

    text: str
    starts: list[int]
    ends: list[int]

    @classmethod
    def unchanged(cls, text: str) -> Folded:
        return cls(text, list(range(len(text))), list(range(1, len(text) + 1)))

    def original(self, start: int, end: int) -> tuple[int, int]:
        return self.starts[start], self.ends[end - 1]

    def replaced(self, parts: list[tuple[int, int, str]]) -> Folded:
        """Replace each part (start, end, text), in order; the new text stands for the replaced one.

        The first character of a part begins where the part began, and the last one ends where it
        ended.
        """
        text: list[str] = []
        starts: list[int] = []
        ends: list[int] = []
        last = 0
        for start, end, said in parts:
            text += self.text[last:start], said
            starts += self.starts[last:start]
            ends += self.ends[last:start]
            begin, stop = self.original(start, end)
            starts += [begin] * len(said)
            ends += [stop] * len(said)
            last = end
        text.append(self.text[last:])
        return Folded("".join(text), starts + self.starts[last:], ends + self.ends[last:])


def fold(text: str) -> Folded:
    """Apply NFKC, drop invisible characters, and map look-alike letters to Latin ones."""
    if text.isascii():
        return Folded.unchanged(text)
    signs: list[str] = []
    places: list[int] = []
    for place, sign in enumerate(text):
        plain = sign if sign < "\x80" else _plain(sign)
        signs.append(plain)
        places += [place] * len(plain)
    folded = "".join(signs)
    shown = "".join(_in_a_word(folded, place) for place in range(len(folded)))
    return Folded(shown, places, [place + 1 for place in places])


def _in_a_word(text: str, place: int) -> str:
    sign = text[place]
    plain = _INSIDE_A_WORD.get(sign)
    if plain is None or not 0 < place < len(text) - 1:
        return sign
    return plain if _is_latin(text[place - 1]) and _is_latin(text[place + 1]) else sign


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
    bare = "".join(one for one in unicodedata.normalize("NFKD", plain) if not _is_mark(one))
    if bare != sign and len(bare) == 1 and not bare.isascii():
        return _look_alike(bare) or simplified(bare)
    return bare if bare.isascii() else simplified(plain)


def _is_mark(sign: str) -> bool:
    return unicodedata.category(sign) in ("Mn", "Me")


def _look_alike(sign: str) -> str:
    """Return the Latin letter that the character looks like, or ""."""
    if not sign.isalpha() or not unicodedata.name(sign, "").startswith(_LOOK_ALIKE):
        return ""
    for other in confusables.confusables_data.get(sign, ()):
        seen = str(other["c"])
        if len(seen) == 1 and seen.isascii() and seen.isalnum():
            return seen
    return ""


def close_up(folded: Folded) -> Folded:
    """Join spaced-out words: "p a s s w o r d", "1-2-3-4", "4 . 9 . 1 . 7"."""
    text = folded.text
    parts = [
        (place, min(place + step, end), "")
        for start, end, step in _spaced_out(text)
        for place in range(start + 1, end, step + 1)
    ]
    return folded.replaced(parts) if parts else folded


def _spaced_out(text: str) -> Iterator[tuple[int, int, int]]:
    """Yield start, end and separator length of each word whose characters are separated."""
    place, last_end = 0, -10
    while place + 2 < len(text):
        end, step = _end_of_spaced(text, place)
        fewest = _NEXT_SPACED if place - last_end <= 3 else _FEWEST_SPACED
        signs = text[place : end : step + 1]
        if len(signs) >= fewest or (len(signs) == 3 and signs.isdigit()):
            yield place, end, step
            last_end = end
        place = max(end, place + 1)


def _end_of_spaced(text: str, place: int) -> tuple[int, int]:
    """Return the end of a run of single characters with the same separator, and its length."""
    separator = _separator(text, place + 1)
    if not separator or not text[place].isalnum() or (place and text[place - 1].isalnum()):
        return place + 1, 1
    end, step = place + 1, len(separator)
    while text.startswith(separator, end) and _stands_alone(text, end + step, separator):
        end += step + 1
    return end, step


def _separator(text: str, place: int) -> str:
    """Return the separator at a place, alone or between spaces, or ""."""
    if text[place : place + 1] == " " and text[place + 1 : place + 2] in _SIGNS:
        return text[place : place + 3] if text[place + 2 : place + 3] == " " else ""
    return text[place] if text[place : place + 1] in _SEPARATORS else ""


def _stands_alone(text: str, place: int, separator: str) -> bool:
    sign = text[place : place + 1]
    if not sign or sign.isspace() or sign in separator or not sign.isprintable():
        return False
    following = text[place + 1 : place + 2]
    return following == separator[0] or not following.isalnum()
