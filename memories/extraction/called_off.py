"""Recognise that an earlier plan is off: "scrap that gig, it's cancelled", 「那个取消了」.

The words mean little by themselves, so they end the memory of the plan that they name. If they name
nothing, they mean the only plan of the latest message that contains one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from memcenter.lib.text import segment
from memories.extraction.corrections import PATTERNS, sentences
from memories.extraction.types import Candidate, Said

_PLANS = ("event", "task")
_ROUND = str.maketrans("[]", "()")  # brackets aren't nested
_DOUBTFUL = 0.4  # confidence of an end whose plan isn't in the conversation


def called_off(said: str) -> Iterator[tuple[int, int, str]]:
    """Yield the span of each sentence that calls something off, and what it names, if anything."""
    for start, sentence in sentences(said):
        if found := PATTERNS["called_off"].search(sentence.strip()):
            what = found["dropped"] or found["thing"] or found["zh_thing"] or ""
            yield start, start + len(sentence), what.strip()


def endings(
    said: str, before: Sequence[Said], again: Callable[[int], Sequence[Candidate]]
) -> Iterator[Candidate]:
    """Yield a candidate for each earlier plan that a message calls off.

    `before` holds the earlier messages, latest first; `again` returns the candidates of one.
    """
    for start, end, what in called_off(said):
        named = set(segment.terms(what)) - segment.ENGLISH_STOP_WORDS
        for place in range(len(before)):
            plans = [one for one in again(place) if _is_meant(one, named)]
            if len(plans) == 1:
                yield _ended(plans[0], said[start:end].strip(), start)
            if plans:
                break


def whole_sentence(candidate: Candidate, said: str) -> Candidate:
    """Return a candidate that calls something off with its whole sentence, for a review.

    "It's cancelled" in "scrap that gig it's cancelled" doesn't say what is cancelled.
    """
    for start, end, _ in called_off(said):
        if start <= candidate.quote_start < end:
            sentence = said[start:end].strip()
            return replace(candidate, content=sentence, confidence=_DOUBTFUL)
    return candidate


def _is_meant(plan: Candidate, named: set[str]) -> bool:
    return named <= set(segment.terms(plan.content)) if named else plan.kind in _PLANS


def _ended(plan: Candidate, quote: str, start: int) -> Candidate:
    return replace(
        plan,
        content=f"[{plan.content.translate(_ROUND)}] {quote}",
        quote=quote,
        quote_start=start,
        data={},
        occurred_at=None,
        corrects=True,
        overrules=plan.content,
        reasons=tuple(dict.fromkeys((*plan.reasons, "ends"))),
    )
