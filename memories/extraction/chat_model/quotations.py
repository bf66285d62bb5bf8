"""Find a model's quotations in the original messages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memcenter.lib.text import segment
from memories.extraction import masking, secret_masking
from memories.extraction.types import Said

_OMITTED = " […] "
_COVERED = re.compile(f"{masking.COVER}+")
_NOT_QUOTED = re.compile(
    f"[{masking.SECRET}{masking.COVER}]+|{re.escape(secret_masking.MARK_EN)}"
    f"|{re.escape(secret_masking.MARK_ZH)}|\\[?…\\]?|\\.\\.\\."
)
_CLAUSE = re.compile(rf"[^.!?。！？；;\n{masking.SECRET}{masking.COVER}]+")
_FEWEST = 2  # letters of a quotation
_ALIKE = 0.5  # of the statement's words must stand in the clause that it is traced to


@dataclass(frozen=True)
class Quotation:
    text: str
    start: int


@dataclass(frozen=True)
class Quotable:
    """One person's message.

    `mask` has the same length, with secrets and other people's text covered: covered text is
    neither shown to a model nor quoted.
    """

    said: Said
    role: str
    mask: str

    @classmethod
    def own_words(
        cls,
        said: Said,
        *,
        role: str,
        without: tuple[str, ...] = (),
        not_lived: tuple[tuple[int, int], ...] = (),
        secrets: tuple[tuple[int, int], ...] = (),
    ) -> Quotable:
        """Return the person's own words.

        `without` has sentences that aren't statements, `not_lived` the spans of pasted texts, games
        and the like, `secrets` the ones that the reader found.
        """
        text = masking.hide(secret_masking.cover(said.text), secrets, sign=masking.SECRET)
        places = [(said.text.find(one), len(one)) for one in without if one]
        orders = [(at, at + size) for at, size in places if at >= 0]
        mask = masking.hide(masking.covered(text), [*not_lived, *orders], sign=masking.COVER)
        return cls(said, role, mask)

    @property
    def readable(self) -> str:
        return _COVERED.sub(_OMITTED, secret_masking.blanked(self.mask)).strip()

    @property
    def says_something(self) -> bool:
        return any(sign.isalnum() for sign in self.mask)

    def find(self, quote: str) -> Quotation | None:
        """Return the exact place of the quotation, or one that differs in case, space and
        punctuation.
        """
        parts = sorted(_NOT_QUOTED.split(masking.plain(quote)), key=len, reverse=True)
        wanted = parts[0].strip()
        if sum(sign.isalnum() for sign in wanted) < _FEWEST:
            return None
        at = self.mask.find(wanted)
        return self._at(at, at + len(wanted)) if at >= 0 else self._find_loosely(wanted)

    def nearest(self, content: str) -> Quotation | None:
        """Return the clause with the most words of `content`, or None if nothing here says it."""
        wanted = set(segment.terms(content))
        scored = [
            (len(wanted.intersection(segment.terms(clause[0]))), -clause.start(), clause)
            for clause in _CLAUSE.finditer(self.mask)
        ]
        if not wanted or not scored:
            return None
        shared, _, clause = max(scored, key=lambda one: one[:2])
        if shared < _ALIKE * len(wanted):
            return None
        lead = len(clause[0]) - len(clause[0].lstrip())
        return self._at(clause.start() + lead, clause.start() + len(clause[0].rstrip()))

    def _find_loosely(self, wanted: str) -> Quotation | None:
        letters = list(_letters(self.mask))
        text = "".join(letter for letter, _ in letters)
        folded = "".join(letter for letter, _ in _letters(wanted))
        at = text.find(folded)
        return self._at(letters[at][1], letters[at + len(folded) - 1][1] + 1) if at >= 0 else None

    def _at(self, start: int, end: int) -> Quotation:
        return Quotation(self.said.text[start:end], start)


def _letters(text: str) -> Iterator[tuple[str, int]]:
    """Return letters, digits and covers, folded, each with its place; nothing matches across a
    cover.
    """
    for place, sign in enumerate(text):
        if sign.isalnum() or sign in (masking.SECRET, masking.COVER):
            yield from ((letter, place) for letter in sign.casefold())
