"""The bundled joint reader: the extractor again with a longer memory, dates given later, habits."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from memories.extraction.joint import dating, habits
from memories.extraction.joint.types import Gathered, Heard
from memories.extraction.rules import repeated
from memories.extraction.types import Candidate, Extractor

_BACK = 12  # turns in which a name is looked for
_READ_AGAIN = 4_000  # characters of one turn, counted each time it is read with an earlier one
_DATED_BACK = 4  # turns that may lie between a plan and its date
_SPOKEN_OF = re.compile(r"\b(?:he|she|his|her|him|they|their)\b|[他她]", re.IGNORECASE)


class _Alone:
    """What each turn yields by itself, read when it is asked for: most turns never are."""

    def __init__(self, extractor: Extractor, turns: Sequence[Heard]) -> None:
        self._extractor = extractor
        self._turns = turns
        self._read: dict[int, Sequence[Candidate]] = {}

    def __getitem__(self, place: int) -> Sequence[Candidate]:
        if place not in self._read:
            self._read[place] = self._extractor.extract(self._turns[place].text).candidates
        return self._read[place]


class BundledJointReader:
    """Gives only what no turn yields by itself: that was learned when the turn was recorded."""

    name = "bundled"

    def __init__(self, extractor: Extractor) -> None:
        self._extractor = extractor

    def read(self, turns: Sequence[Heard]) -> list[Gathered]:
        found = list(self._together(turns, _Alone(self._extractor, turns)))
        found += habits.habits(turns)
        block = repeated.folded(turns[0].text.known_block) if turns else ""
        return [one for one in found if not _is_ours(one.candidate, block)]

    def _together(self, turns: Sequence[Heard], alone: _Alone) -> Iterator[Gathered]:
        for place, heard in enumerate(turns):
            if heard.fresh:
                yield from self._resolved(turns, alone, place)
                yield from _dated(turns, alone, place)

    def _resolved(self, turns: Sequence[Heard], alone: _Alone, place: int) -> list[Gathered]:
        """What "she" said of somebody who was named further back; the nearest naming counts.

        A long turn is read with fewer earlier ones, with at least one: `_READ_AGAIN`.
        """
        heard = turns[place]
        back = min(_BACK, max(1, _READ_AGAIN // max(1, len(heard.text.user.text))))
        earlier = turns[max(0, place - back) : place]
        if not _SPOKEN_OF.search(heard.text.user.text):
            return []
        known = {repeated.folded(one.content) for one in alone[place]}
        for other in reversed(earlier):
            context = (other.text.user, *heard.text.before[-1:])
            again = self._extractor.extract(replace(heard.text, before=context))
            new = [
                one
                for one in again.candidates
                if repeated.folded(one.content) not in known and not one.explicit
            ]
            if new:
                return [Gathered(_marked(one), heard.turn, needs=(other.turn,)) for one in new]
        return []


def _dated(turns: Sequence[Heard], alone: _Alone, place: int) -> Iterator[Gathered]:
    """The nearest plan before a turn that gives it a day; one that says a plan itself doesn't."""
    day = dating.settled_in(turns[place])
    if day is None or alone[place]:
        return
    for back in range(place - 1, max(-1, place - 1 - _DATED_BACK), -1):
        plans = [one for one in alone[back] if one.quoted_role == "user"]
        for plan in plans:
            found = dating.dated(plan, day, earlier=turns[back].turn, later=turns[place])
            if found:
                yield found
                return


def _marked(candidate: Candidate) -> Candidate:
    return replace(candidate, reasons=(*candidate.reasons, "named_earlier"))


def _is_ours(candidate: Candidate, block: str) -> bool:
    return repeated.repeats(candidate.content, candidate.quote, known=block)
