"""Derive candidates from the correction of an earlier message."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from difflib import get_close_matches

from memories.extraction.corrections.corrected_messages import Correction
from memories.extraction.types import DOUBTFUL, Candidate

_CONFLICT = 0.5  # minimum probability that two statements conflict


def corrected_candidates(
    found: Correction,
    said: str,
    before: Sequence[Candidate],
    after: Sequence[Candidate],
    conflict: Callable[[str, str], float],
) -> list[Candidate]:
    """Return the new candidates that result from a correction in the message `said`.

    `before` and `after` are the candidates of the earlier message with the wrong and with the right
    words. `conflict` returns the probability that two statements conflict. If it confirms no
    conflict, an update (`is_update`) has no result, and candidates from a replaced noun
    (`is_noun`) get a low confidence.
    """
    wrong, right = ({one.content: one for one in candidates} for candidates in (before, after))
    gone = wrong.keys() - right.keys()
    news = [content for content in right if content not in wrong]
    quote = said[found.start : found.end]
    if found.is_update and not any(conflict(old, quote.strip()) >= _CONFLICT for old in gone):
        return []
    sure = not found.is_noun or any(conflict(old, new) >= _CONFLICT for old in gone for new in news)
    candidates = []
    for content in news:
        old = next(iter(get_close_matches(content, gone, 1)), "")
        confidences = (right[content].confidence, wrong[old].confidence if old else 0)
        corrected = replace(
            right[content],
            kind=wrong[old].kind if old else right[content].kind,
            confidence=max(confidences) if sure else DOUBTFUL,
            quote=quote,
            quote_start=found.start,
            corrects=True,
            overrules=old,
            reasons=tuple(dict.fromkeys((*right[content].reasons, "corrects"))),
        )
        candidates.append(corrected)
    return candidates
