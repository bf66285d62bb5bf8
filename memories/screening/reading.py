"""Secrets that no form and no word gives away: the reader tells them by how they are told.

Reading takes some milliseconds, so it is for what is derived from messages and for what is written
as a memory; where somebody waits for a page, the places found when a message was learned from are
used (`Message.secrets`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memories.reader import Reading, reader
from memories.screening import finding
from memories.screening.finding import Span

CATEGORY = "password"
_MOST_KNOWN = 2_000
_known: dict[tuple[int, int], tuple[Span, ...]] = {}


def find(text: str) -> tuple[Span, ...]:
    """All secrets of `text`, in order and without overlap: of `finding.find` and of the reader.

    What was found is known for a while, as in `finding`: only the places, never the text.
    """
    key = (hash(text), len(text))
    found = _known.get(key)
    if found is None:
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        found = _known[key] = of_reading(text, reader().read(text))
    return found


def of_reading(text: str, reading: Reading) -> tuple[Span, ...]:
    """The same of a message that was read already."""
    seen = [_tight(text, one.start, one.end) for one in reading.secrets]
    spans = [Span(start, end, CATEGORY) for start, end in seen if start < end]
    return finding.joined([*finding.find(text), *_not_masked(text, spans)])


def at(places: Sequence[int], text: str) -> tuple[Span, ...]:
    """The secrets of a message at places kept with it: start, end, start, end …"""
    pairs = zip(places[::2], places[1::2], strict=True)
    return tuple(Span(start, end, CATEGORY) for start, end in pairs if end <= len(text))


def _tight(text: str, start: int, end: int) -> tuple[int, int]:
    """Without the space and the signs around it that surely belong to the sentence."""
    while start < end and text[start] in " \t\n,，。:：;；\"'“”「」":
        start += 1
    while start < end and text[end - 1] in " \t\n,，。;；\"'“”「」":
        end -= 1
    return start, end


def _not_masked(text: str, spans: Iterable[Span]) -> list[Span]:
    marks = finding.marks(text)
    return [one for one in spans if not finding.is_covered(one, marks)]
