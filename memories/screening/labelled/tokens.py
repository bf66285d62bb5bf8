"""Split a text into tokens, each with the number of its sentence."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

from memories.screening import linear
from memories.screening.labelled.values import TRAILING, Look, is_program, look
from memories.screening.spelling import Folded

_TOKEN = linear.compile(
    # Groups of equally many digits are one number: "55 81 07", "739 204".
    r"(?P<digits>\b(?:\d{2}(?: \d{2}){2,}|\d{3}(?: \d{3})+|\d{4}(?: \d{4})+)\b[#*]?)|"
    r"(?P<han>[\x{3400}-\x{9fff}〇]{1,40})|(?P<line>\n)|"
    r"(?P<sign>[，。！？；：、「」『』“”（）《》〈〉【】\"…])"
    r"|(?P<word>[^\s，。！？；：、「」『』“”（）《》〈〉【】\"…\x{3400}-\x{9fff}〇]+)"
)
# The engine rebuilds its table of group names for each match that is asked for one.
_KINDS = {
    number: "word" if name == "digits" else name for name, number in _TOKEN.groupindex.items()
}
_AROUND = "([{<'`*_"
_OPENING = {")": "(", "]": "[", "}": "{"}


@dataclass(frozen=True)
class Token:
    start: int
    end: int
    text: str
    kind: str  # han, line, sign or word
    was_spaced: bool = False  # "n-i-g-h-t"

    @property
    def has_digit(self) -> bool:
        return any(sign.isdigit() for sign in self.text)

    @cached_property
    def core(self) -> str:
        """The text without surrounding punctuation; a sign at the end of a code belongs to it.

        So does the bracket that closes one inside: "abc(def)".
        """
        has_digit = any(sign.isdigit() for sign in self.text)
        rest = self.text.lstrip(_AROUND)
        core = rest.rstrip(TRAILING if has_digit else TRAILING + "*_?!~")
        closing = rest[len(core) : len(core) + 1]
        opening = _OPENING.get(closing)
        return core + closing if opening and core.count(opening) > core.count(closing) else core

    @property
    def core_start(self) -> int:
        return self.start + len(self.text) - len(self.text.lstrip(_AROUND))

    @property
    def core_end(self) -> int:
        return self.core_start + len(self.core)

    @cached_property
    def bare(self) -> str:
        return self.text.strip("([{<'`*_,.;:!?)]}>~-").lower()

    @cached_property
    def look(self) -> Look:
        if self.kind != "word":
            return Look.NOTHING
        seen = _look(self.core)
        return Look.MIXED if self.was_spaced and seen == Look.WORD else seen

    @cached_property
    def is_program(self) -> bool:
        return is_program(self.core)

    @cached_property
    def ends_sentence(self) -> bool:
        """Whether the token ends a sentence; "!" after a code doesn't: "S3cret! is my password"."""
        is_code = self.text[-1] in "!?" and any(sign.isdigit() for sign in self.text)
        return self.text[-1] in ".!?。！？" and self.text != "..." and not is_code

    @property
    def ends_clause(self) -> bool:
        return self.text[-1] in ".!?。！？,;，；、:"

    def from_place(self, place: int) -> Token:
        return Token(place, self.end, self.text[place - self.start :], self.kind, self.was_spaced)

    def up_to(self, place: int) -> Token:
        return Token(self.start, place, self.text[: place - self.start], self.kind)


@lru_cache(maxsize=8192)
def _look(core: str) -> Look:
    return look(core)


def _was_spaced(folded: Folded, start: int, end: int) -> bool:
    """Whether the characters were separated in the original text."""
    begin, stop = folded.original(start, end)
    return end - start >= 4 and stop - begin >= 2 * (end - start) - 1


class Tokens:
    """The tokens of a text in order. `sentence[n]` is the sentence number of token n."""

    def __init__(self, text: str, folded: Folded | None = None) -> None:
        self.all: list[Token] = []
        self.sentence: list[int] = []
        number = 0
        for match in _TOKEN.finditer(text):
            start, end = match.span()
            spaced = folded is not None and _was_spaced(folded, start, end)
            token = Token(start, end, match[0], _KINDS[match.lastindex], spaced)
            self.all.append(token)
            self.sentence.append(number)
            if token.kind == "line" or token.ends_sentence:
                number += 1
        self._starts = [token.start for token in self.all]

    def at(self, place: int) -> int:
        """Return the number of the token at this place, or of the last one before it."""
        return max(0, bisect_right(self._starts, place) - 1)

    def following(self, place: int, *, most: int) -> Iterator[tuple[int, Token]]:
        """Yield the tokens from a place on, beginning with the rest of the token at the place."""
        first = self.at(place)
        for number in range(first, min(first + most, len(self.all))):
            token = self.all[number]
            if token.end > place:
                yield number, token if token.start >= place else token.from_place(place)

    def before(self, place: int, *, most: int) -> Iterator[tuple[int, Token]]:
        """Yield the tokens before a place, backwards to the beginning of the sentence."""
        last = self.at(place)
        for number in range(last, max(-1, last - most), -1):
            token = self.all[number]
            if self.sentence[number] != self.sentence[last] or token.kind == "line":
                return
            if token.start < place:
                yield number, token if token.end <= place else token.up_to(place)
