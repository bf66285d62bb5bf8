"""Decide which memories a request to forget means: a clear match, or a list of possible ones.

Each memory gets a score. The score is a weighted sum of the memory's similarity to the request, the
words that both share, and the reader model's probability that the request is about the memory. No
signal is reliable alone. The weights were fitted to `bench/data/forget_requests`;
`bench/forget_weights.py` fits them again.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from memcenter.lib.text import segment
from memories.extraction.arbitration import pairs
from memories.retrieval import query
from memories.writing.similar_memories import Meant

_AMONG = 10  # number of memories assumed for the rarity of a word
_LEAST_LOGIT = 1e-4
# The weights of the signals in a score; `bench/forget_weights.py` prints them.
WEIGHTS = {
    "bias": -0.53,
    "cosine": 1.78,
    "about": 0.17,
    "shared": -0.22,
    "covered": 2.07,
    "concept": 0.66,
    "nearer": 8.3,
    "shares_more": 0.38,
}
# The lead over the next memory that makes a memory a clear match, depending on how well the other
# signals agree. No wrong match of the fitted rows reached these leads.
_LEAD_IF_AGREED, _LEAD = 2.0, 4.0
_LEAST_SECOND = -1.5  # the lead is measured from this score, or from the second best if higher
_SECOND_BEST = 0.5  # a match isn't clear if another memory has a higher score than this
_SOME_WORDS, _MOST_WORDS = 0.2, 0.5
_PREFERS = 0.5  # lead in probability with which another memory prevents a match
_SURE, _LEAD_IF_SURE = 0.9, 8.0
# A clear match contains this share of the request's words, or has this probability.
_COVERS, _CERTAIN = 0.7, 0.97
# Memories with at least this score are listed.
_LISTED_FROM = -4.0
_NEAR = 0.24  # cosine; unrelated short statements are mostly below
_MOST_UNRELATED = 10  # an unrelated memory is only listed if it is among this many best
_EXCEPTS = re.compile(r"\b(?:not|but|except|only|just)\b|不是|除了|只", re.IGNORECASE)
_INTENDS = re.compile(
    r"\b(?:wants?|wanting|wanted to|plans?|planning|saving (?:up )?for|hop(?:e|es|ing) to"
    r"|dream\w{0,5}|thinking of|considering|intend\w{0,3}|would like|goals?)\b"
    r"|想(?![念起到])|打算|计划|希望|梦想|攒钱|目标|念头",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Signals:
    """The signals that a request means a memory.

    `about` is the reader model's probability. `shared` is the sum of the rarities of the shared
    words, and `covered` is this sum as a share of the rarities of all words of the request (0-1).
    `concept` is the share of the request's concepts that the memory mentions (0-1). `nearer` is the
    difference in cosine similarity to the best other memory, and `shares_more` is the difference in
    `shared`.
    """

    meant: Meant
    cosine: float
    about: float
    shared: float
    covered: float
    concept: float
    nearer: float = 0.0
    shares_more: float = 0.0

    @property
    def values(self) -> dict[str, float]:
        """Return the value of each signal that has a weight."""
        about = min(max(self.about, _LEAST_LOGIT), 1 - _LEAST_LOGIT)
        return {
            "bias": 1.0,
            "cosine": self.cosine,
            "about": math.log(about / (1 - about)),
            "shared": self.shared,
            "covered": self.covered,
            "concept": self.concept,
            "nearer": self.nearer,
            "shares_more": self.shares_more,
        }

    @property
    def score(self) -> float:
        return sum(WEIGHTS[name] * value for name, value in self.values.items())

    @property
    def is_related(self) -> bool:
        """Return True if the memory has anything to do with the request."""
        shares = bool(self.shared or self.concept)
        return shares or self.cosine >= _NEAR or self.about >= pairs.PERHAPS


def signals_of(
    subject: str, met: Sequence[Meant], probabilities: Mapping[int, float]
) -> list[Signals]:
    """Return the signals of each memory, highest score first.

    `probabilities` maps the key of each memory to the reader model's probability.
    """
    topics = query.asked_about(subject)
    asked = set(segment.terms(subject))
    terms = {one.pk: segment.terms(one.content) for one in met}
    held = Counter(term for each in terms.values() for term in asked & set(each))
    rarity = {term: math.log((_AMONG + 1) / max(1, held[term])) for term in asked}
    rarity = {term: max(0.0, value) for term, value in rarity.items()}
    whole = sum(rarity.values()) or 1.0
    found = []
    for one in met:
        shared = sum(rarity[term] for term in asked & set(terms[one.pk]))
        concept = query.matched_concepts(topics, terms[one.pk])
        probability = probabilities[one.pk]
        found.append(Signals(one, one.similarity, probability, shared, shared / whole, concept))
    return sorted(_compared(found), key=lambda one: -one.score)


def _compared(found: Sequence[Signals]) -> list[Signals]:
    nearest = sorted((one.cosine for one in found), reverse=True)[:2]
    most = sorted((one.shared for one in found), reverse=True)[:2]
    return [
        replace(
            one,
            nearer=one.cosine - _best_other(one.cosine, nearest),
            shares_more=one.shared - _best_other(one.shared, most),
        )
        for one in found
    ]


def _best_other(own: float, best: Sequence[float]) -> float:
    if len(best) < 2:
        return 0.0
    return best[1] if own == best[0] else best[0]


def possible_matches(ranked: Sequence[Signals]) -> list[Meant]:
    """Return the memories that the request may mean, best first.

    If any memory is related to the request, the best of the unrelated memories are listed too. The
    reason is that the signals recognise too little of an indirect request ("my clean date" for
    "Sober since June").
    """
    if not any(one.is_related for one in ranked):
        return []
    return [
        one.meant
        for place, one in enumerate(ranked)
        if one.about >= pairs.PERHAPS
        or (one.score >= _LISTED_FROM and (one.is_related or place < _MOST_UNRELATED))
    ]


def clear_match(
    subject: str, ranked: Sequence[Signals], *, is_about: Callable[[str, str], float]
) -> Meant | None:
    """Return the memory that the request clearly means, or None.

    `ranked` holds the signals of all memories, best first. `is_about` is called once more for the
    best memory, with the bare subject, because the reader model is unsure about long requests.
    """
    if not ranked:
        return None
    best, others = ranked[0], ranked[1:]
    if not best.shared or _is_shared(best, others):
        return None
    second = max([_LEAST_SECOND, *(one.score for one in others)])
    about = max(best.about, is_about(subject, best.meant.content))
    preferred = max((one.about for one in others), default=0.0)
    if second > _SECOND_BEST or not _holds_the_words(subject, best, others, about=about):
        return None
    needed = _lead_needed(best, others, about=about, preferred=preferred)
    if _says_something_else(subject, best):
        needed = max(needed, _LEAD_IF_SURE if about >= _SURE else math.inf)
    return best.meant if best.score - second >= needed else None


def _holds_the_words(
    subject: str, best: Signals, others: Sequence[Signals], *, about: float
) -> bool:
    """Return True if the best memory contains enough of the request's words.

    "Forget that my husband is in Cebu" doesn't mean "My mother lives in Cebu", and "Patrick has
    arthritis" doesn't mean "Pat has arthritis" if another memory is about Patrick. A request with
    an exception ("the marathon, not the half") is never clear.
    """
    missing = set(segment.terms(subject)) - set(segment.terms(best.meant.content))
    told_elsewhere = {term for one in others for term in segment.terms(one.meant.content)}
    if _EXCEPTS.search(subject) or missing & told_elsewhere:
        return False
    return best.covered >= _COVERS or about >= _CERTAIN


def _lead_needed(
    best: Signals, others: Sequence[Signals], *, about: float, preferred: float
) -> float:
    """Return the lead in score that the best memory needs to be a clear match.

    The lead is infinite if the reader model rejects this memory or clearly prefers another, unless
    this memory contains half of the request's words and no other memory contains any.
    """
    if about >= max(pairs.PERHAPS, preferred) and best.covered >= _SOME_WORDS:
        return _LEAD_IF_AGREED
    others_share = any(one.shared for one in others)
    is_opposed = about < pairs.PERHAPS or preferred > about + _PREFERS
    has_all_words = best.covered >= _MOST_WORDS and not others_share
    return math.inf if is_opposed and not has_all_words else _LEAD


def _says_something_else(subject: str, best: Signals) -> bool:
    """Return True if the memory is a denial or an intention and the request isn't.

    "Forget my car" doesn't mean "Is saving for a car", and "forget the birthdays" doesn't mean
    "Doesn't celebrate birthdays". Similarity doesn't show this difference, so such a memory needs a
    much longer lead. It may still be meant: "the emoji rule" means "Never wants emojis".
    """
    memory = best.meant.content
    return any(
        says(memory) and not says(subject)
        for says in (pairs.denies, lambda text: bool(_INTENDS.search(text)))
    )


def _is_shared(best: Signals, others: Sequence[Signals]) -> bool:
    """Return True if another memory covers the request's words as well ("forget coffee")."""
    return 0 < best.covered <= max((one.covered for one in others), default=0.0)
