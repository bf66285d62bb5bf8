"""Find messages that cancel an earlier plan or take back an earlier statement.

"Scrap that gig, it's cancelled" ends the memory of the plan that it names. A sentence that names no
plan, such as 「那个取消了」 ("that one is cancelled"), means the only plan of the latest message
that contains one. "The thing about me liking olives is wrong" ends the memory to which it refers
according to the reader model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from operator import itemgetter

from foundation.text import segment
from memories.extraction.corrections.corrected_messages import bare_contrast, sentences
from memories.extraction.corrections.values import PATTERNS
from memories.extraction.types import Candidate, Utterance

PLANS = ("event", "task")
_ROUND = str.maketrans("[]", "()")  # brackets aren't nested
_LIKELY = 0.5  # minimum probability that a statement is the one that is taken back
_GAP = 40  # most characters between two statements of which one takes back the other
_EDGE = 16  # characters at the edges of statements that may be words of correction
_DOUBTFUL = 0.4  # confidence of a cancellation whose plan isn't in the conversation


Cancellation = tuple[int, int, str]  # the span of a sentence, and what it calls off (may be empty)


def cancellations(said: str) -> list[Cancellation]:
    """Return the sentences that call something off."""
    off = []
    for start, sentence in sentences(said):
        if found := PATTERNS["called_off"].search(sentence.strip()):
            what = found["dropped"] or found["thing"] or found["zh_thing"] or ""
            off.append((start, start + len(sentence), what.strip()))
    return off


def retraction_sentences(said: str) -> list[Cancellation]:
    """Return the sentences that say that something said earlier is wrong."""
    return [
        (start, start + len(sentence), sentence.strip())
        for start, sentence in sentences(said)
        if PATTERNS["taken_back"].search(sentence.strip())
        and said[start + len(sentence) : start + len(sentence) + 1] not in ("?", "？")
    ]


def retracted_at_once(
    said: str, spans: Sequence[tuple[int, int]]
) -> tuple[dict[int, int], set[int]]:
    """Return the statements that the next statement of the same message takes back.

    `spans` are the statements of the message. Words such as "no wait" must stand between the two
    statements or at their edges. If both have a word in common, the first is taken back, as in "I
    don't eat coriander, no wait, my dad doesn't eat it"; otherwise it may be taken back. Return a
    dictionary that maps the start of each statement taken back to the start of the next statement,
    and the starts of the statements that may be taken back.
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
    before: Sequence[Utterance],
    again: Callable[[int], Sequence[Candidate]],
    meant: Callable[[str, str], float],
) -> Iterator[Candidate]:
    """Yield a candidate for each earlier statement that a sentence in `back` takes back.

    `meant` returns the probability that a sentence refers to an earlier statement. The earlier
    messages are searched from the latest to the oldest until one contains a likely statement; the
    likeliest statement of that message is ended. `before` and `again` are as for `endings`.
    """
    for start, _, sentence in back:
        for place in range(len(before)):
            shares = [(meant(one.content, sentence), one) for one in again(place)]
            share, wrong = max(shares, key=itemgetter(0), default=(0.0, None))
            if wrong and share >= _LIKELY:
                yield ending(wrong, sentence, start)
                break


def endings(
    off: Sequence[Cancellation],
    said: str,
    before: Sequence[Utterance],
    again: Callable[[int], Sequence[Candidate]],
) -> Iterator[Candidate]:
    """Yield a candidate for each earlier plan that a sentence in `off` calls off.

    `before` holds the earlier messages, latest first, and `again` returns the candidates of the
    message at an index. Only the latest message with a fitting plan counts; if several of its plans
    fit a sentence, the sentence calls off none of them.
    """
    for start, end, what in off:
        named = set(segment.terms(what)) - segment.ENGLISH_STOP_WORDS
        for place in range(len(before)):
            plans = [one for one in again(place) if _is_meant(one, named)]
            if len(plans) == 1:
                yield ending(plans[0], said[start:end].strip(), start)
            if plans:
                break


def extended_to_sentence(candidate: Candidate, off: Sequence[Cancellation], said: str) -> Candidate:
    """Return the candidate, extended to its whole sentence if a part of it says too little.

    The candidate is extended if its sentence calls something off ("scrap that gig it's cancelled",
    with the candidate "it's cancelled") or only contrasts two values (不是护士，是药剂师, "not a
    nurse but a pharmacist", with the candidate 是药剂师). An extended candidate gets a low
    confidence, so that the person reviews it.
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


def ending(plan: Candidate, quote: str, start: int) -> Candidate:
    """Return a candidate that ends an earlier statement with the words `quote`."""
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
