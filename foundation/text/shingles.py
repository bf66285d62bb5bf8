"""Detect whether one text contains another, by comparing overlapping pieces of both.

Texts are normalised (NFKC, casefolded, letters and digits only) and cut into overlapping pieces of
16 characters, or of 6 characters if at least half of the text to be found is Chinese. A text that
is shorter than a piece is used as a whole.
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable

LONG, HAN = 16, 6
_TITLE_AT_LEAST = 4
_NOT_KEPT = re.compile(r"[\W_]+")
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")


def normalise(text: str) -> str:
    return _NOT_KEPT.sub("", unicodedata.normalize("NFKC", text).casefold())


def has_han(text: str) -> bool:
    return _HAN.search(text) is not None


def size_for(normalised: str) -> int:
    return HAN if len(_HAN.findall(normalised)) * 2 >= len(normalised) else LONG


def shingles(normalised: str, *, size: int) -> frozenset[str]:
    if not normalised:
        return frozenset()
    last = max(1, len(normalised) - size + 1)
    return frozenset(normalised[start : start + size] for start in range(last))


class Resemblance:
    """Checks whether a text contains at least half of the pieces of any of the given texts."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._needed: list[int] = []
        self._places: dict[int, dict[str, list[int]]] = {}
        for plain in dict.fromkeys(map(normalise, texts)):
            if plain:
                self._add(plain)

    def _add(self, plain: str) -> None:
        size = size_for(plain)
        pieces = shingles(plain, size=size)
        places = self._places.setdefault(size, defaultdict(list))
        for piece in pieces:
            places[piece].append(len(self._needed))
        self._needed.append(len(pieces))

    def __bool__(self) -> bool:
        return bool(self._needed)

    def occurs_in(self, text: str) -> bool:
        plain = normalise(text)
        for size, places in self._places.items():
            found = Counter(
                number for piece in shingles(plain, size=size) for number in places.get(piece, ())
            )
            if any(count * 2 >= self._needed[number] for number, count in found.items()):
                return True
        return False


def blank_title_if_contained(title: str, texts: Iterable[str]) -> str:
    """Return the title, or an empty string if one of these texts contains it (both normalised).

    A title with fewer than four letters and digits is always returned.
    """
    plain = normalise(title)
    if len(plain) < _TITLE_AT_LEAST:
        return title
    return "" if any(plain in normalise(text) for text in texts) else title
