"""Finding a model's quotations in what was really said."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memcenter.lib import segment
from memories.extraction import masking, sensitive
from memories.extraction.types import Said

_OMITTED = " […] "
_COVERED = re.compile(f"{masking.COVER}+")
_NOT_QUOTED = re.compile(
    f"[{masking.SECRET}{masking.COVER}]+|{re.escape(sensitive.MARK_EN)}"
    f"|{re.escape(sensitive.MARK_ZH)}|\\[?…\\]?|\\.\\.\\."
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
    """What one person said. `mask` is as long, with secrets and others' words covered: what is
    covered is neither shown to a model nor ever quoted.
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
    ) -> Quotable:
        """The person's own words. `without` are sentences that are no statements, `not_lived` the
        places of pasted texts, games and the like.
        """
        mask = masking.covered(sensitive.cover(said.text))
        for start, end in not_lived:
            mask = mask[:start] + masking.COVER * (end - start) + mask[end:]
        for sentence in without:
            at = said.text.find(sentence)
            if sentence and at >= 0:
                mask = mask[:at] + masking.COVER * len(sentence) + mask[at + len(sentence) :]
        return cls(said, role, mask)

    @property
    def readable(self) -> str:
        return _COVERED.sub(_OMITTED, sensitive.blanked(self.mask)).strip()

    @property
    def says_something(self) -> bool:
        return any(sign.isalnum() for sign in self.mask)

    def find(self, quote: str) -> Quotation | None:
        """Where it stands, letter by letter or but for case, space and punctuation."""
        parts = sorted(_NOT_QUOTED.split(masking.plain(quote)), key=len, reverse=True)
        wanted = parts[0].strip()
        if sum(sign.isalnum() for sign in wanted) < _FEWEST:
            return None
        at = self.mask.find(wanted)
        return self._at(at, at + len(wanted)) if at >= 0 else self._find_loosely(wanted)

    def nearest(self, content: str) -> Quotation | None:
        """The clause that says most of the words of `content`, or None: it isn't said here."""
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
    """Letters, digits and covers, folded, each with its place: nothing matches across a cover."""
    for place, sign in enumerate(text):
        if sign.isalnum() or sign in (masking.SECRET, masking.COVER):
            yield from ((letter, place) for letter in sign.casefold())
