"""Recognise that an earlier plan is off, or that an earlier statement is wrong.

"Scrap that gig, it's cancelled" and 「那个取消了」 end the memory of the plan that they name. If
they name nothing, they mean the only plan of the latest message that contains one. "The thing about
me liking olives is wrong" ends the memory that it means according to the reader model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from operator import itemgetter

from foundation.text import segment
from memories.extraction.corrections.corrected_messages import bare_contrast, sentences
from memories.extraction.corrections.values import PATTERNS
from memories.extraction.types import Candidate, Said

PLANS = ("event", "task")
_ROUND = str.maketrans("[]", "()")  # brackets aren't nested
_LIKELY = 0.5  # minimum probability that a statement is the one that is taken back
_GAP = 40  # most characters between two statements of which one takes back the other
_EDGE = 16  # characters at the edges of statements that may be words of correction
_DOUBTFUL = 0.4  # confidence of an end whose plan isn't in the conversation


Cancellation = tuple[int, int, str]  # the span of a sentence, and what it calls off (may be empty)


def cancellations(said: str) -> list[Cancellation]:
    """Return the sentences that call something off."""
    off = []
    for start, sentence in sentences(said):
        if found := PATTERNS["called_off"].search(sentence.strip()):
            what = found["dropped"] or found["thing"] or found["zh_thing"] or ""
            off.append((start, start + len(sentence), what.strip()))
    return off


def taken_back(said: str) -> list[Cancellation]:
    """Return the sentences that say that something said earlier is wrong."""
    return [
        (start, start + len(sentence), sentence.strip())
        for start, sentence in sentences(said)
        if PATTERNS["taken_back"].search(sentence.strip())
        and said[start + len(sentence) : start + len(sentence) + 1] not in ("?", "？")
    ]


def taken_back_at_once(
    said: str, spans: Sequence[tuple[int, int]]
) -> tuple[dict[int, int], set[int]]:
    """Return the statements that the next statement of the message takes back, and may take back.

    The first result maps the start of each to the start of the next one. "I don't eat coriander, no
    wait, my dad doesn't eat it": words of correction stand between the two or at the edge of one of
    them, and the two have a word in common. The second result holds the starts of those that have
    no word in common with the next.
    """
    back: dict[int, int] = {}
    perhaps = set()
    for (start, end), (following, last) in pairwise(sorted(spans)):
        between = said[max(start, end - _EDGE) : following + _EDGE]
        if following - end > _GAP or not PATTERNS["taken_back_at_once"].search(between):
            continue
        terms = (segment.content_terms(text) for text in (said[start:end], said[following:last]))
        if set.intersection(*terms):
            back[start] = following
        else:
            perhaps.add(start)
    return back, perhaps


def retractions(
    back: Sequence[Cancellation],
    before: Sequence[Said],
    again: Callable[[int], Sequence[Candidate]],
    meant: Callable[[str, str], float],
) -> Iterator[Candidate]:
    """Yield a candidate for each earlier statement that the sentences `back` of a message end.

    `meant` returns the probability that a sentence means an earlier statement. The likeliest
    statement of the latest message with a likely one ends. `before` and `again` are as for
    `endings`.
    """
    for start, _, sentence in back:
        for place in range(len(before)):
            shares = [(meant(one.content, sentence), one) for one in again(place)]
            share, wrong = max(shares, key=itemgetter(0), default=(0.0, None))
            if wrong and share >= _LIKELY:
                yield _ended(wrong, sentence, start)
                break


def endings(
    off: Sequence[Cancellation],
    said: str,
    before: Sequence[Said],
    again: Callable[[int], Sequence[Candidate]],
) -> Iterator[Candidate]:
    """Yield a candidate for each earlier plan that the sentences `off` of a message call off.

    `before` holds the earlier messages, latest first; `again` returns the candidates of one.
    """
    for start, end, what in off:
        named = set(segment.terms(what)) - segment.ENGLISH_STOP_WORDS
        for place in range(len(before)):
            plans = [one for one in again(place) if _is_meant(one, named)]
            if len(plans) == 1:
                yield _ended(plans[0], said[start:end].strip(), start)
            if plans:
                break


def whole_sentence(candidate: Candidate, off: Sequence[Cancellation], said: str) -> Candidate:
    """Return a candidate that calls something off with its whole sentence, for a review.

    "It's cancelled" in "scrap that gig it's cancelled" doesn't say what is cancelled, and 是药剂师
    in 不是护士，是药剂师 ("not a nurse but a pharmacist") doesn't say who.
    """
    for start, end, _ in off:
        if start <= candidate.quote_start < end:
            sentence = said[start:end].strip()
            return replace(candidate, content=sentence, confidence=_DOUBTFUL)
    for start, sentence in sentences(said):
        inside = start <= candidate.quote_start < start + len(sentence)
        if inside and not candidate.overrules and (bare := bare_contrast(sentence)):
            quote = sentence.strip()
            start += sentence.index(quote)
            candidate = replace(candidate, content=quote, quote=quote, quote_start=start)
            candidate = replace(candidate, confidence=_DOUBTFUL, corrects=True, old_value=bare[0])
    return candidate


def _is_meant(plan: Candidate, named: set[str]) -> bool:
    return named <= set(segment.terms(plan.content)) if named else plan.kind in PLANS


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
