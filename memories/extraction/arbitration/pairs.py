"""Determine how two statements relate, and join statements into one text.

The reader model returns the probability of each relation for a pair (known, new). This module
derives one relation from the probabilities; its callers decide what to do with the memories.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from itertools import combinations
from typing import Protocol

from foundation.text import segment
from foundation.text.shingles import has_han
from memories.extraction.masking import ADDED_DATE
from memories.extraction.types import Candidate, KnownMemory
from memories.reader.statements import UNRELATED_BY_ENCODER

LONGEST = 400  # characters; a longer text counts as a document and isn't compared


class Relation(StrEnum):
    """How a new statement relates to a known statement."""

    SAME = "same"  # the new statement says the same as the known statement, or less
    NEWER = "newer"  # the new statement gives a newer value of the same thing
    CONTRADICTS = "contradicts"  # the statements can't both be true; which one is true is unclear
    REFINES = "refines"  # the new statement says the same more precisely
    ENDED = "ended"  # the new statement says that the known statement is no longer true
    UNRELATED = "unrelated"  # both statements may be true


LONGEST_MERGE = 400  # characters
CONFLICTS = (Relation.NEWER, Relation.CONTRADICTS, Relation.ENDED)


class PairReader(Protocol):
    """The part of the reader model that compares two texts."""

    def relations(self, pairs: Sequence[tuple[str, str]], /) -> Sequence[Mapping[str, float]]:
        """Return the probability of each relation, for each pair (known, new) of texts.

        The probabilities of a pair sum to 1. Each mapping may also contain `UNRELATED_BY_ENCODER`.
        """
        ...

    def probability_request_means(self, request: str, memory: str, /) -> float:
        """Return the probability that a request to forget something refers to the memory."""
        ...


@dataclass(frozen=True)
class Thresholds:
    """The minimum probabilities at which relations are accepted.

    `newer` and `ended` are higher, because these relations overwrite known memories.
    """

    same: float = 0.5
    refines: float = 0.55
    contradicts: float = 0.5
    unrelated: float = 0.5
    newer: float = 0.6
    ended: float = 0.6
    sure: float = 0.6  # below this probability, a configured chat model is asked


@dataclass(frozen=True)
class PairRelation:
    """The relation of two texts; `share` is its probability according to the reader model.

    `unrelated` is the probability that the texts are unrelated. `unrelated_by_encoder` is this
    probability according to the encoder alone.
    """

    relation: Relation
    share: float
    unrelated: float
    unrelated_by_encoder: float


DEFAULT = Thresholds()


def read(
    reader: PairReader, pairs: Sequence[tuple[str, str]], *, thresholds: Thresholds = DEFAULT
) -> list[PairRelation]:
    """Return the relation of each pair (known, new); the model is called once for all pairs."""
    if not pairs:
        return []
    found = reader.relations(pairs)
    return [
        _reading(old, new, shares, thresholds)
        for (old, new), shares in zip(pairs, found, strict=True)
    ]


def _reading(
    old: str, new: str, shares: Mapping[str, float], thresholds: Thresholds
) -> PairRelation:
    probabilities = {kind: float(shares.get(kind, 0.0)) for kind in Relation}
    if (opposed := _opposed_relation(old, new)) is not None:
        _move(probabilities, (Relation.SAME, Relation.REFINES), to=opposed)
    elif _fits_diet(old, new) or _fits_diet(new, old):
        _move(probabilities, [*probabilities], to=Relation.UNRELATED)
    elif _are_taste_and_habit(old, new):
        _move(probabilities, [Relation.CONTRADICTS], to=Relation.UNRELATED)
    relation = _likeliest(probabilities, thresholds)
    unrelated = float(shares.get(Relation.UNRELATED, 0.0))
    by_encoder = float(shares.get(UNRELATED_BY_ENCODER, unrelated))
    return PairRelation(relation, float(shares.get(relation, 0.0)), unrelated, by_encoder)


def _move(shares: dict[Relation, float], relations: Iterable[Relation], *, to: Relation) -> None:
    total = sum(shares[relation] for relation in relations if relation is not to)
    shares |= dict.fromkeys(relations, 0.0) | {to: shares[to] + total}


def _likeliest(shares: Mapping[Relation, float], thresholds: Thresholds) -> Relation:
    """Return the most probable relation if its probability reaches its threshold.

    Otherwise return CONTRADICTS if all `CONFLICTS` together are probable enough, REFINES if SAME
    and REFINES together are probable enough, and UNRELATED in all other cases.
    """
    best = max(Relation, key=lambda relation: shares[relation])
    if shares[best] >= getattr(thresholds, best):
        return best
    if sum(shares[relation] for relation in CONFLICTS) >= thresholds.contradicts:
        return Relation.CONTRADICTS
    if shares[Relation.SAME] + shares[Relation.REFINES] >= thresholds.refines:
        return Relation.REFINES
    return Relation.UNRELATED


_FIGURE = re.compile(r"\d+")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3})")
_WORDED_ALIKE = 0.7  # minimum similarity of two sequences of words, from 0 to 1
_DENIED = re.compile(
    r"n['’]t\b|\b(?:not?|never|neither|without|cannot|nunca|jamás|sin|nicht|kein\w{0,2}|nie|ohne"
    r"|ne|pas|jamais|sans)\b|n['’](?=[aeiouhéê])|不|没|未|无|(?<![特分区级性辨个告])别(?![人墅名])"
    r"|ない|なかった|ません|なく",
    re.IGNORECASE,
)


# Words for liking something, and words for how often somebody does something.
_TASTE = re.compile(
    r"\b(?:likes?|loves?|enjoys?|prefers?|favou?rite|fan of|mag|gern|liebe|gustan?|encanta|aime"
    r"|adore)\b|喜欢|喜歡|爱|愛|偏好|好き",
    re.IGNORECASE,
)
_OFTEN = re.compile(
    r"\b(?:once|twice|times|weekly|daily|monthly|every|jede\w?|cada|chaque|fois|veces|mal)\b"
    r"|每|毎|[一二两三四五六七八九十几\d][次回顿趟遍]",
    re.IGNORECASE,
)


# Words for diets, for food that any diet allows ("oat milk"), and for food that a diet may forbid.
_DIET = re.compile(r"\b(?:vegan|vegetarian|plant[- ]based|veggie)\b|吃素|素食|纯素", re.IGNORECASE)
_FITS_DIET = re.compile(
    r"\b(?:oat|soya?|almond|rice|coconut|cashew|vegan|plant[- ]based|veggie)[- ]"
    r"(?:milk|cheese|butter|yogh?urt|cream|burgers?|sausages?|mince)\b"
    r"|\b(?:tofu|tempeh|seitan|lentils?|chickpeas?|beans|hummus)\b|(?:燕麦|杏仁|椰|植物)奶|豆[腐浆干]|素[肉鸡]",
    re.IGNORECASE,
)
_MAY_BREAK_DIET = re.compile(
    r"\b(?:meat|beef|pork|lamb|bacon|ham|steaks?|chicken|turkey|duck|fish|salmon|tuna|prawns?|eggs?"
    r"|milk|cheese|butter|yogh?urt|cream|honey)\b|[肉鱼虾蛋奶]",
    re.IGNORECASE,
)


def _fits_diet(diet: str, food: str) -> bool:
    """Return whether the text `food` names only food that the diet in the text `diet` allows."""
    rest = _FITS_DIET.sub(" ", food)
    names_food = rest != food and not _MAY_BREAK_DIET.search(rest)
    return names_food and bool(_DIET.search(diet)) and not denies(food) and not denies(diet)


def denies(text: str) -> bool:
    """Return whether the text contains a word of negation."""
    return _DENIED.search(text) is not None


def _opposed_relation(old: str, new: str) -> Relation | None:
    """Return the relation of two texts that differ only in numbers or negation, otherwise None.

    For some of these pairs, such as "I drive" and "I don't drive", the reader model wrongly returns
    SAME. If the texts also differ in stop words, they may be about different things, so they count
    as unrelated: 喜欢喝茶 ("likes tea") and 不喜欢喝茶的人 ("people who don't like tea").
    """
    plain = [ADDED_DATE.sub("", _THOUSANDS.sub("", segment.normalise(text))) for text in (old, new)]
    figures = [set(_FIGURE.findall(text)) for text in plain]
    # If one text only adds numbers to the other, the two texts don't oppose each other.
    adds = figures[0] <= figures[1] or figures[1] <= figures[0]
    if denies(plain[0]) == denies(plain[1]) and adds:
        return None
    bare = [_FIGURE.sub(" ", _DENIED.sub(" ", text)) for text in plain]
    if _likeness(*map(segment.terms, bare)) < _WORDED_ALIKE:
        return None
    alike = _likeness(*map(_words, bare)) >= _WORDED_ALIKE
    return Relation.CONTRADICTS if alike else Relation.UNRELATED


def _likeness(first: Sequence[str], second: Sequence[str]) -> float:
    return SequenceMatcher(None, first, second, autojunk=False).ratio()


def _are_taste_and_habit(old: str, new: str) -> bool:
    """Return whether one text states a liking and the other a frequency, both without negation."""
    if denies(old) or denies(new):
        return False
    found = [(bool(_TASTE.search(text)), bool(_OFTEN.search(text))) for text in (old, new)]
    return sorted(found) == [(False, True), (True, False)]


_END = " \t\r\n.。!！;；,，"
_PIECES = re.compile(r"；|; ")


def fold(text: str) -> str:
    """Normalise case, character width and spaces for comparison; strip punctuation at the ends."""
    return " ".join(segment.normalise(text).split()).strip(_END)


def fuller_text(old: str, new: str) -> str | None:
    """Return the text that contains all words of the other text, or None if neither does."""
    theirs, ours = set(segment.terms(old)), set(segment.terms(new))
    if theirs <= ours:
        return new
    return old if ours <= theirs else None


def join(texts: Iterable[str]) -> str:
    """Join the texts with semicolons.

    A part between semicolons is left out if another part begins with the same words and is longer.
    """
    parts = [text.strip() for text in texts if text.strip()]
    if len(parts) < 2:
        return "".join(parts)
    pieces = [piece.strip(_END) for text in parts for piece in _PIECES.split(text)]
    by_fold = {fold(piece): piece for piece in reversed(pieces) if piece}
    words = {folded: _words(folded) for folded in by_fold}
    kept = [
        piece
        for folded, piece in reversed(by_fold.items())
        if not any(_is_continued_by(words[folded], other) for other in words.values())
    ]
    chinese = bool(kept) and all(map(has_han, kept))
    return ("；" if chinese else "; ").join(kept)


def merge(old: str, new: str) -> str | None:
    """Merge two statements into one text; return None if the text would be too long."""
    text = fuller_text(old, new) or join([old, new])
    return text if len(text) <= LONGEST_MERGE else None


def _words(folded: str) -> list[str]:
    return [word for word in segment.words(folded) if any(map(str.isalnum, word))]


def _is_continued_by(words: Sequence[str], other: Sequence[str]) -> bool:
    """Return whether the other text begins with these words and is longer."""
    return 0 < len(words) < len(other) and list(other[: len(words)]) == list(words)


# Weights of shared words and of a negation, which are added to the cosine similarity, and the
# minimum sum at which `likeliest_related` returns a memory. In a measurement with 60 memories, the
# best three included 94 % of the related memories, and the best twelve included 97 %.
_SHARED_WORDS, _DENIAL, _WORTH_READING = 0.4, 0.05, 0.25


def likeliest_related(
    candidate: Candidate, known: Sequence[KnownMemory], *, most: int
) -> list[KnownMemory]:
    """Return up to `most` memories that are likely related to the candidate, ordered as in `known`.

    A memory's score rises if the memory is similar in meaning to the candidate, if it shares words
    with the candidate that few other memories contain, and if only one of the two texts is negated.
    The memory with the highest score is always included.
    """
    ours, denied = set(segment.terms(candidate.content)), denies(candidate.content)
    terms = {memory.id: set(segment.terms(memory.content)) for memory in known}
    count = Counter(term for each in terms.values() for term in each)

    def weight(words: set[str]) -> float:
        return sum(1 / count[word] for word in words)

    scores = {
        memory.id: memory.similarity
        + _SHARED_WORDS * weight(ours & terms[memory.id]) / (weight(terms[memory.id]) or 1)
        + _DENIAL * (denied != denies(memory.content))
        for memory in known
    }
    best = sorted(known, key=lambda memory: -scores[memory.id])[:most]
    chosen = {memory.id for memory in best[:1]}
    chosen |= {memory.id for memory in best if scores[memory.id] >= _WORTH_READING}
    return [memory for memory in known if memory.id in chosen]


YES = 0.5  # minimum probability at which a request counts as referring to a memory
PERHAPS = 0.2  # below this probability, a request doesn't refer to the memory


def probability_of_reference(request: str, memory: str, *, reader: PairReader) -> float:
    """Return the probability that a request refers to a memory; 1 if the two texts are the same."""
    return (
        1.0 if fold(request) == fold(memory) else reader.probability_request_means(request, memory)
    )


MOST_RESULTS = 3


@dataclass(frozen=True)
class JoinedStatement:
    """A statement that was joined from several others; `inputs` holds their positions."""

    content: str
    inputs: tuple[int, ...]


class Consolidator(Protocol):
    """The interface of a method that joins similar statements into fewer statements.

    Each result is made from at least two inputs, and an input is used in at most one result. Inputs
    that aren't used stay unchanged. `consolidate` raises `ProviderError` if a model call fails.
    """

    name: str

    def consolidate(self, texts: Sequence[str]) -> list[JoinedStatement]: ...


class BundledConsolidator:
    """Join statements, unless the reader model finds a conflict or the text would be too long."""

    name = "bundled"

    def __init__(self, reader: PairReader, *, thresholds: Thresholds = DEFAULT) -> None:
        self._reader = reader
        self._thresholds = thresholds

    def consolidate(self, texts: Sequence[str]) -> list[JoinedStatement]:
        """Put each text into the first group that it fits, and join the texts of each group.

        The texts are given oldest first.
        """
        related = self._relations(texts)
        groups: list[list[int]] = []
        for place, text in enumerate(texts):
            if len(text) > LONGEST or not fold(text):
                continue
            for group in groups:
                fits = all(related[member, place] not in CONFLICTS for member in group)
                if fits and len(_text([*group, place], texts, related)) <= LONGEST_MERGE:
                    group.append(place)
                    break
            else:
                groups.append([place])
        return [
            JoinedStatement(_text(group, texts, related), tuple(group))
            for group in groups
            if len(group) > 1
        ]

    def _relations(self, texts: Sequence[str]) -> dict[tuple[int, int], Relation]:
        """Return how each text relates to each earlier text, by (earlier position, position)."""
        places = [
            (old, new)
            for old, new in combinations(range(len(texts)), 2)
            if max(len(texts[old]), len(texts[new])) <= LONGEST
        ]
        found = read(
            self._reader,
            [(texts[old], texts[new]) for old, new in places],
            thresholds=self._thresholds,
        )
        return {place: reading.relation for place, reading in zip(places, found, strict=True)}


def _text(
    group: Sequence[int], texts: Sequence[str], related: dict[tuple[int, int], Relation]
) -> str:
    """Join the texts of a group, leaving out texts that other texts repeat or state more fully."""
    left = list(group)
    for old, new in combinations(group, 2):
        if old not in left or new not in left:
            continue
        if related[old, new] is Relation.SAME:
            left.remove(new)
        elif related[old, new] is Relation.REFINES:
            full = fuller_text(texts[old], texts[new])
            if full is not None:
                left.remove(old if full == texts[new] else new)
    return join(texts[index] for index in left)
