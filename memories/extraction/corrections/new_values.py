"""Recognise sentences that only give a new amount: "it's 15 colonies now", 「现在15箱了」.

Such a sentence doesn't say what it counts, so the new amount replaces the only amount of the same
unit in the statement that it updates, and nothing else of that statement changes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from foundation.text import segment
from memories.extraction.corrections.corrected_messages import (
    MOST_TRIED,
    Correction,
    correctable_messages,
)
from memories.extraction.corrections.values import PATTERNS, without_dates

_CLAUSE = re.compile(r"[^,，;；.!?。！？\n]+")
_MOST = 60  # characters of a clause that only gives an amount


def new_amount(said: str, before: Sequence[str]) -> Correction | None:
    """Return the update that a clause of a message makes to an earlier message, or None.

    `before` holds the earlier messages, latest first; see `correctable_messages`. The clause must
    be short and say that something changed; the first `MOST_TRIED` such clauses are tried.
    """
    clauses = (
        clause
        for clause in _CLAUSE.finditer(said)
        if len(clause[0]) <= _MOST and PATTERNS["updates"].search(clause[0])
    )
    for clause in islice(clauses, MOST_TRIED):
        for place, earlier in correctable_messages(before):
            if text := with_new_amount(earlier, clause[0]):
                return Correction(place, text, *clause.span(), is_update=True)
    return None


def with_new_amount(earlier: str, said: str) -> str:
    """Return the earlier text with the amount of `said`, or "" if `said` says more.

    Apart from the amount, `said` may only have words of the earlier text.
    """
    if len(said) > _MOST:
        return ""
    known = list(_amounts(earlier))
    held = [(earlier[start:end], unit) for start, end, unit in known]
    given = [one for one in _amounts(said) if (said[slice(*one[:2])], one[2]) not in held]
    if len(given) != 1:
        return ""
    [(start, end, unit)] = given
    rest = f"{said[:start]} {said[end:]}"
    words = segment.content_terms(PATTERNS["updates"].sub(" ", rest))
    if not words <= set(segment.terms(earlier)) | set(segment.terms(unit)):
        return ""
    same = [one for one in known if _are_same(one[2], unit)] or ([] if unit else known)
    if len(same) != 1:
        return ""
    return earlier[: same[0][0]] + said[start:end] + earlier[same[0][1] :]


def _are_same(unit: str, other: str) -> bool:
    """Return whether two units are the same; a classifier may stand alone (24个学生, 25个)."""
    return unit == other or {unit[:1], other[:1]} == {"个"}


def _amounts(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the start and the end of each number that is no date or time, and its unit."""
    text = without_dates(text)
    for found in PATTERNS["amount"].finditer(text):
        unit = (found["unit"] or "").casefold()
        is_unit = unit not in segment.ENGLISH_STOP_WORDS and unit not in "了啦吧呢的起到"
        yield *found.span("number"), unit.removesuffix("s") if is_unit else ""
