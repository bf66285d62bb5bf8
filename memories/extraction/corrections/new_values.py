"""Recognise sentences that only give a new amount, such as "it's 15 colonies now".

Such a sentence changes only the amount with the same unit in the earlier statement that it updates:
"I keep 12 colonies behind the shed" becomes "I keep 15 colonies behind the shed".
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
    """Return the earlier text with one amount replaced by the new amount in `said`, or "".

    The replaced amount must be the only amount with the same unit. A new amount without a unit may
    also replace an amount with a unit, if the earlier text contains no other amount. Return "" if
    no amount or several amounts fit, or if `said` is too long, gives no new amount or several, or
    contains other content words that aren't in the earlier text.
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
    """Return whether two units are the same.

    Units with the classifier 个 count as the same: 25个 changes 24个学生 ("24 students").
    """
    return unit == other or {unit[:1], other[:1]} == {"个"}


def _amounts(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the start, end and unit of each number that isn't part of a date or time."""
    text = without_dates(text)
    for found in PATTERNS["amount"].finditer(text):
        unit = (found["unit"] or "").casefold()
        is_unit = unit not in segment.ENGLISH_STOP_WORDS and unit not in "了啦吧呢的起到"
        yield *found.span("number"), unit.removesuffix("s") if is_unit else ""
