"""Split a text into tokens, and classify each by its look, such as word, number or code."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from enum import IntEnum
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from memories.screening import safe_patterns
from memories.screening.spelling import Folded

# This pattern matches every token of a text, for which `re` is ten times as fast as RE2. It can't
# backtrack far: its alternatives begin with different characters, except for groups of digits.
_TOKEN = re.compile(
    # Groups with the same number of digits are one number: "55 81 07", "739 204".
    r"(?P<digits>\b(?:\d{2}(?: \d{2}){2,}|\d{3}(?: \d{3})+|\d{4}(?: \d{4})+)\b[#*]?)|"
    r"(?P<han>[\u3400-\u9fff〇]{1,40})|(?P<line>\n)|"
    r"(?P<sign>[，。！？；：、「」『』“”（）《》〈〉【】\"…])"
    r"|(?P<word>[^\t\n\f\r ，。！？；：、「」『』“”（）《》〈〉【】\"…\u3400-\u9fff〇]+)",
    re.ASCII,
)
_KINDS = {
    number: "word" if name == "digits" else name for name, number in _TOKEN.groupindex.items()
}
_AROUND = "([{<'`*_"
_OPENING = {")": "(", "]": "[", "}": "{"}


class Shape:
    """The properties of a token's text; equal tokens of a text share one `Shape`."""

    def __init__(self, text: str, kind: str, was_spaced: bool) -> None:
        self.text, self.kind, self.was_spaced = text, kind, was_spaced
        self.has_digit = any(map(str.isdigit, text))
        self.bare = text.strip("([{<'`*_,.;:!?)]}>~-").lower()
        rest = text.lstrip(_AROUND)
        self.core, self.core_at = self._without_signs(rest), len(text) - len(rest)
        last = text[-1:] or " "
        is_code = last in "!?" and self.has_digit
        self.ends_sentence = last in ".!?。！？" and text != "..." and not is_code
        self.ends_clause = last in ".!?。！？,;，；、:"
        self._look: Look | None = None
        self._is_program: bool | None = None

    def _without_signs(self, rest: str) -> str:
        core = rest.rstrip(TRAILING if self.has_digit else TRAILING + "*_?!~")
        closing = rest[len(core) : len(core) + 1]
        opening = _OPENING.get(closing)
        return core + closing if opening and core.count(opening) > core.count(closing) else core

    @property
    def look(self) -> Look:
        if self._look is None:
            self._look = self._compute_look()
        return self._look

    def _compute_look(self) -> Look:
        if self.kind != "word":
            return Look.NOTHING
        found = look(self.core)
        return Look.MIXED if self.was_spaced and found == Look.WORD else found

    @property
    def is_program(self) -> bool:
        if self._is_program is None:
            self._is_program = is_program(self.core)
        return self._is_program


class Token(NamedTuple):
    start: int
    end: int
    text: str
    kind: str  # han, line, sign or word
    shape: Shape

    @property
    def has_digit(self) -> bool:
        return self.shape.has_digit

    @property
    def core(self) -> str:
        """Return the text without surrounding punctuation.

        If the token contains a digit, a final "!", "?" or similar sign is kept, since it may belong
        to a code. A final bracket that closes a bracket inside the token is kept too: "abc(def)".
        """
        return self.shape.core

    @property
    def core_start(self) -> int:
        return self.start + self.shape.core_at

    @property
    def core_end(self) -> int:
        return self.core_start + len(self.shape.core)

    @property
    def bare(self) -> str:
        return self.shape.bare

    @property
    def look(self) -> Look:
        return self.shape.look

    @property
    def is_program(self) -> bool:
        return self.shape.is_program

    @property
    def ends_sentence(self) -> bool:
        """Return whether the token ends a sentence; "!" after a code ("S3cret!") doesn't."""
        return self.shape.ends_sentence

    @property
    def ends_clause(self) -> bool:
        return self.shape.ends_clause

    def from_place(self, place: int) -> Token:
        text = self.text[place - self.start :]
        return Token(
            place, self.end, text, self.kind, Shape(text, self.kind, self.shape.was_spaced)
        )

    def up_to(self, place: int) -> Token:
        text = self.text[: place - self.start]
        return Token(self.start, place, text, self.kind, Shape(text, self.kind, False))


class Tokens:
    """The tokens of a text in order; `sentence[n]` is the number of the sentence with token n.

    If `folded` is given, a word that the original text spells with separators ("n-i-g-h-t") has the
    look `MIXED`.
    """

    def __init__(self, text: str, folded: Folded | None = None) -> None:
        self.all: list[Token] = []
        self.sentence: list[int] = []
        self.has_spaced = False
        shapes: dict[tuple[str, bool], Shape] = {}
        number = 0
        for match in _TOKEN.finditer(text):
            start, end = match.span()
            part, kind = match[0], _KINDS[match.lastindex or 0]
            spaced = False
            if end - start >= 4 and folded is not None:
                begin, stop = folded.original(start, end)
                spaced = stop - begin >= 2 * (end - start) - 1
            shape = shapes.get((part, spaced))
            if shape is None:
                shape = shapes[part, spaced] = Shape(part, kind, spaced)
                self.has_spaced |= spaced
            self.all.append(Token(start, end, part, kind, shape))
            self.sentence.append(number)
            if kind == "line" or shape.ends_sentence:
                number += 1
        self._starts = [token.start for token in self.all]

    def at(self, place: int) -> int:
        """Return the index of the token at this position, or of the last token before it."""
        return max(0, bisect_right(self._starts, place) - 1)

    def following(self, place: int, *, most: int) -> Iterator[tuple[int, Token]]:
        """Yield (index, token) pairs after a position; a token that spans it is cut there."""
        first = self.at(place)
        for number in range(first, min(first + most, len(self.all))):
            token = self.all[number]
            if token.end > place:
                yield number, token if token.start >= place else token.from_place(place)

    def before(self, place: int, *, most: int) -> Iterator[tuple[int, Token]]:
        """Yield (index, token) pairs backwards from a position to the beginning of its sentence."""
        last = self.at(place)
        for number in range(last, max(-1, last - most), -1):
            token = self.all[number]
            if self.sentence[number] != self.sentence[last] or token.kind == "line":
                return
            if token.start < place:
                yield number, token if token.end <= place else token.up_to(place)


_P = safe_patterns.compiled("values")


class Look(IntEnum):
    """How much a token looks like a secret; higher values need less other evidence."""

    NOTHING = 0  # an address, a date, a measure, a product
    WORD = 1
    DIGITS = 2
    MIXED = 3  # letters with digits or signs, as in hunter2
    RANDOM = 4  # unlike any word: Tr0ub4dor&3, qwzt5813ab


TRAILING = ".,;:)]}>\"'”’」』`…"
_URL = _P["url"]
_EMAIL = safe_patterns.compile(r"^[\w.+\-]+@[\w\-]+(?:\.[\w\-]+)+$")
_HANDLE = safe_patterns.compile(r"^[@#][A-Za-z_][\w\-]*$|^~?/[\w./\-]+$|^[A-Za-z]:\\")
_DATE = _P["date"]
_MEASURE = _P["measure"]
_VERSION = safe_patterns.compile(r"(?i)^v?\d+(?:\.\d+){1,4}(?:[-+][a-z0-9.]+)?$|^v\d+$")
_PRODUCT = _P["product"]
_PHONE = _P["phone"]
_DIGITS = safe_patterns.compile(r"^[#*]?\d(?:[-./ ]?\d){2,18}[#*]{0,2}$|^[#*]?\d{3,19}[#*]{0,2}$")
_UUID = safe_patterns.compile(r"(?i)^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
_SHORT = safe_patterns.compile(r"(?i)^[a-z]{0,3}\d{1,2}[a-z]{0,2}$")
_PROSE = safe_patterns.compile(r"^[A-Za-z]+(?:['’\-/&][A-Za-z]+)*$")
_STRONG_SIGNS = frozenset("!#$%^&*?~@+=")
_PROGRAM = _P["program"]
_SOMETHING_ELSE = (
    *(_PROGRAM, _URL, _EMAIL, _HANDLE, _DATE),
    *(_MEASURE, _VERSION, _PRODUCT, _PHONE),
)
_CONTROL = ("\ue000", "\ue001")


@lru_cache(maxsize=8192)
def look(token: str) -> Look:
    """Return how much a token, without surrounding punctuation, looks like a secret."""
    if len(token) < 3 or any(sign in token for sign in _CONTROL) or _is_something_else(token):
        return Look.NOTHING
    if _DIGITS.search(token):
        return Look.DIGITS
    letters = sum(sign.isalpha() for sign in token)
    digits = sum(sign.isdigit() for sign in token)
    if _PROSE.search(token) or not digits + letters:
        return Look.WORD if letters else Look.NOTHING
    if not digits:
        has_sign = any(sign in _STRONG_SIGNS for sign in token.strip("!?*~#@+=$%&^"))
        return Look.MIXED if has_sign and letters >= 3 else Look.WORD
    if _SHORT.search(token) or len(token) < 4:
        return Look.NOTHING
    return Look.RANDOM if is_random(token) else Look.MIXED


def _is_something_else(token: str) -> bool:
    return any(pattern.search(token) for pattern in _SOMETHING_ELSE)


def is_random(token: str) -> bool:
    """Return whether a token mixes letters, digits and signs as no ordinary word does."""
    kinds = _kinds(token)
    signs = any(sign in _STRONG_SIGNS for sign in token[1:])
    if len(token) >= 6 and signs and kinds >= 3:
        return True
    return len(token) >= 10 and kinds >= 2 and _changes(token) >= 3


def is_password_by_itself(token: str) -> bool:
    """Return whether a token is clearly a password, even without a label.

    Such a token contains upper-case and lower-case letters, digits, and either several signs or a
    sign that is neither the first nor the last character.
    """
    if not 8 <= len(token) <= 64 or _is_something_else(token) or _UUID.search(token):
        return False
    inside = token[1:-1]
    signs = sum(sign in "!#$%^&*?~@" for sign in token)
    has_sign = signs and (any(sign in "!#$%^&*?~@" for sign in inside) or signs >= 2)
    return bool(
        has_sign
        and any(sign.isupper() for sign in token)
        and any(sign.islower() for sign in token)
        and any(sign.isdigit() for sign in token)
        and not any(sign in "()/\\<>[]{}=|" for sign in token)
        and not token.startswith(("@", "#", "http"))
    )


def is_key_by_itself(token: str) -> bool:
    """Return whether a token is clearly a key: long and random, with mixed case and digits."""
    if not 28 <= len(token) <= 512 or _UUID.search(token):
        return False
    kinds = (str.isupper, str.islower, str.isdigit)
    if not all(any(kind(sign) for sign in token) for kind in kinds):
        return False
    return entropy(token) >= 4.0 and _changes(token) >= 6


def entropy(token: str) -> float:
    """Return the Shannon entropy in bits per character."""
    counts = Counter(token).values()
    return -sum(count / len(token) * math.log2(count / len(token)) for count in counts)


def _kinds(token: str) -> int:
    kinds = (str.isupper, str.islower, str.isdigit, lambda sign: not sign.isalnum())
    return sum(any(map(kind, token)) for kind in kinds)


def _changes(token: str) -> int:
    kinds = ["d" if sign.isdigit() else "a" if sign.isalpha() else "s" for sign in token]
    return sum(kind != following for kind, following in pairwise(kinds))


def is_program(core: str) -> bool:
    """Return whether a token is program code that reads a secret, such as `os.environ[…]`."""
    return _PROGRAM.search(core) is not None


def is_odd(core: str) -> bool:
    """Return whether a token directly after "password:" is unusual enough to be the secret."""
    if len(core) < 4 or _MEASURE.search(core) or _PRODUCT.search(core) or "://" in core:
        return False
    if any(sign in core for sign in _CONTROL):
        return False
    letters, digits = any(map(str.isalpha, core)), any(map(str.isdigit, core))
    inside = any(not sign.isalnum() and sign not in "-'/" for sign in core[1:-1])
    return letters and (digits or inside)


def is_made_up(token: str) -> bool:
    """Return whether a token near the name of a service is complex enough to be a password."""
    if len(token) < 7 or not any(map(str.isdigit, token)):
        return any(sign in _STRONG_SIGNS for sign in token[1:-1]) and len(token) >= 7
    signs = any(not sign.isalnum() for sign in token)
    cases = any(map(str.isupper, token)) and any(map(str.islower, token))
    return signs or cases or is_random(token)


_CONSONANTS = safe_patterns.compile(r"(?i)[bcdfghjklmnpqrstvwxz]{5,}")


def is_gibberish(word: str) -> bool:
    """Return whether a word has few vowels or many consonants in a row, and at least 8 letters."""
    letters = [sign for sign in word.lower() if "a" <= sign <= "z"]
    if len(letters) < 8:
        return False
    vowels = sum(sign in "aeiouy" for sign in letters)
    return vowels < 0.2 * len(letters) or _CONSONANTS.search(word) is not None
