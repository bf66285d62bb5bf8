"""Find the earlier statements that a message changes, by comparing them with the reader model.

A change needs no words of correction: "24 nov. fat thumbs" after a message that says "14 nov". The
patterns in `corrected_messages` are tried if no statement is found here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from math import log

import numpy as np

from foundation.text import segment
from foundation.text.word_edges import is_letter_of_spaced_script, whole_words
from memories.extraction.corrections.cancellations import ending
from memories.extraction.corrections.corrected_messages import (
    Correction,
    correctable_messages,
    denies,
)
from memories.extraction.corrections.values import (
    NUMERAL,
    SORTS,
    are_of_one_sort,
    is_of_sort,
    may_have_one_unit,
    only_changed_values,
    with_new_value,
)
from memories.extraction.masking import COVER, SECRET
from memories.extraction.requests.answer_wishes import TextEmbedder
from memories.extraction.types import DOUBTFUL, Candidate
from memories.reader.pair_layers import PairComparison
from memories.reader.statements import Statement, sigmoid

COMPARED = 0.5  # a message is compared if it is a correction with at least this probability
_MOST_MESSAGES = 12  # earlier messages whose statements may change
_MOST_PAIRS = 16  # each takes about 15 ms
_SHARED = 0.3  # added to the similarity of texts that share a word
CHANGED = 0.55  # minimum likelihood at which an earlier statement gets a new value
ENDED = 0.5  # the same at which it no longer holds
ALONE = 0.75  # the same at which the person is asked, if no statement gives the new value
OF_VALUES = 0.76  # minimum probability of a conflict at which a day, month or number is replaced
_CLEARER = 0.05  # advantage of a statement if it is clear which of its words change
_MOST_ENDED = 3  # statements that one message ends
# Weights of a logistic regression, which `bench/change_weights.py` fits: see `likelihood_inputs`.
_WEIGHTS = (-1.304, 0.874, 0.235, -0.552, 4.575)
_PART = 240  # characters of a message that are compared at once
_LONGEST_VALUE = 60  # characters that may take the place of the wrong words
_READ = 0.4  # minimum probability that a statement conflicts with its corrected form
_STATED = 0.6  # minimum probability that a statement gives the new value of a corrected one
_CONFLICT = 0.5  # minimum probability that two statements conflict
_LIVES = re.compile(r"住|家在|\b(?:live[sd]?|living|home|reside)\b", re.IGNORECASE)
_HAN_PAIR = re.compile("[\u4e00-\u9fff]{2}")
_END = re.compile(r"[.!?。！？\n]\s*")
# Returns, for each of the first texts, its similarity to each of the others.
Similarities = Callable[[Sequence[str], Sequence[str]], list[list[float]]]
_SENTENCE = re.compile(r"[^.!?。！？\n]*(?:[.!?。！？\n]+|$)")


@dataclass(frozen=True, eq=False)
class StatementPair:
    """An earlier statement, `known`, and a part of a message that may change it.

    `place` is the index of the earlier message, and `start` the position of the part. `shares`
    means that both texts share a word.
    """

    similarity: float
    shares: bool
    place: int
    known: Candidate
    start: int
    part: str

    @property
    def nearness(self) -> float:
        return self.similarity + _SHARED * self.shares


@dataclass(frozen=True, eq=False)
class ComparedPair(StatementPair):
    """A pair that the reader model has compared.

    `likelihood` is that of a change of the statement by the part, among all pairs of the message.
    """

    compared: PairComparison
    likelihood: float = 0.0

    @property
    def corrects(self) -> bool:
        """Return whether the part of the message gives the earlier statement a new value.

        Return False if it is more probable that the part ends the statement.
        """
        share = self.compared.replaces
        return self.likelihood >= CHANGED and share >= self.compared.relations["ended"]

    @property
    def ends(self) -> bool:
        """Return whether the part of the message says that the earlier statement no longer holds.

        Return False if the statement was doubtful, if it is at least as probable that the part
        gives it a new value, or if the part contains secrets or code.
        """
        share = self.compared.relations["ended"]
        is_sure = self.likelihood >= ENDED and self.known.confidence > DOUBTFUL
        return is_sure and share > self.compared.replaces and self.is_open

    @property
    def is_open(self) -> bool:
        """Return whether the part contains neither secrets nor code."""
        return COVER not in self.part and SECRET not in self.part

    def includes(self, at: int) -> bool:
        """Return whether a position in the message lies in the part."""
        return self.start <= at < self.start + len(self.part)

    def keeps_word(self, text: str) -> bool:
        """Return whether a text and the statement share a word that isn't corrected."""
        known = self.known.content
        if self.compared.wrong:
            first, last = self.compared.wrong
            known = f"{known[:first]} {known[last:]}"
        return TextWords.of(text).overlap(TextWords.of(known))

    def ending(self) -> Candidate:
        """Return a candidate that ends the statement with the words of the part."""
        start = self.start + len(self.part) - len(self.part.lstrip())
        return ending(self.known, self.part.strip(), start)


@dataclass(frozen=True)
class EarlierChanges:
    """The earlier statements that a message corrects or ends.

    `correction` gives the earlier message with the right words. It is None if it is unclear which
    words are wrong; in that case, a statement of the new message replaces the corrected one.
    """

    corrected: ComparedPair | None = None
    correction: Correction | None = None
    ended: tuple[ComparedPair, ...] = ()


@dataclass(frozen=True)
class TextWords:
    """The content words of a text, and its pairs of Chinese characters in a row."""

    terms: set[str]
    han_pairs: set[str]

    @classmethod
    def of(cls, text: str) -> TextWords:
        pairs = {text[at : at + 2] for at in range(len(text) - 1)}
        return cls(segment.content_terms(text), set(filter(_HAN_PAIR.fullmatch, pairs)))

    def overlap(self, other: TextWords) -> bool:
        """Return whether both texts share a content word or two Chinese characters in a row."""
        return bool(self.terms & other.terms or self.han_pairs & other.han_pairs)


def similarities(
    texts: Sequence[str], others: Sequence[str], *, embedder: TextEmbedder | None
) -> list[list[float]]:
    """Return, for each text, its cosine similarity to each of the others.

    Without an embedder, return the share of the content words of both that they have in common.
    """
    if embedder is None or not texts or not others:
        terms = [segment.content_terms(other) for other in others]
        return [
            [len(words & known) / max(len(words | known), 1) for known in terms]
            for words in map(segment.content_terms, texts)
        ]
    vectors = embedder.embed([*texts, *others])
    shares: list[list[float]] = (vectors[: len(texts)] @ vectors[len(texts) :].T).tolist()
    return shares


def find_earlier_changes(
    covered: str,
    before: Sequence[str],
    again: Callable[[int], Sequence[Candidate]],
    compare: Callable[[str, str], PairComparison],
    conflict: Callable[[str, str], float],
    similarity: Similarities,
) -> EarlierChanges:
    """Return the earlier statement that a message most probably corrects, and those that it ends.

    The result also holds the correction, if it is clear which words are wrong.

    `covered` is the message with its secrets and code covered, and `before` holds the earlier
    messages, latest first. `again(place)` returns the candidates of an earlier message.
    `compare(statement, text)` returns how a text relates to a statement. A correction of words
    other than days, months and numbers is accepted only if the statement conflicts with its
    corrected form.
    """
    likely = _compared(_nearest_pairs(covered, before, again, similarity), compare)
    corrections = {
        pair: _corrected(pair, before[pair.place], covered, conflict)
        or _with_new_value(pair, before[pair.place])
        for pair in likely
        if pair.corrects
    }
    corrected = max(
        corrections,
        key=lambda pair: pair.likelihood + _CLEARER * (corrections[pair] is not None),
        default=None,
    )
    ended: dict[str, ComparedPair] = {}
    for pair in sorted(likely, key=lambda pair: pair.likelihood, reverse=True):
        if pair.ends:
            ended.setdefault(pair.known.content, pair)
    return EarlierChanges(
        corrected,
        corrections[corrected] if corrected else None,
        tuple(islice(ended.values(), _MOST_ENDED)),
    )


def _compared(
    pairs: Sequence[StatementPair], compare: Callable[[str, str], PairComparison]
) -> list[ComparedPair]:
    compared = [ComparedPair(**vars(p), compared=compare(p.known.content, p.part)) for p in pairs]
    signals = [
        ChangeSignals(pair.known.content, pair.compared.changes, pair.similarity, pair.shares)
        for pair in compared
    ]
    return [
        replace(pair, likelihood=float(sigmoid(np.dot(_WEIGHTS, values))))
        for pair, values in zip(compared, likelihood_inputs(signals), strict=True)
    ]


@dataclass(frozen=True)
class ChangeSignals:
    """The signals of a change of a statement by a message, without regard to other statements.

    `change` is the probability of a change according to the reader model, `similarity` that of both
    texts; `shares` means that they share a word.
    """

    statement: str
    change: float
    similarity: float
    shares: bool


def likelihood_inputs(signals: Sequence[ChangeSignals]) -> list[tuple[float, ...]]:
    """Return the inputs of the logistic regression for each statement that a message may change.

    The inputs besides 1 are the log odds of a change, whether both texts share a word, the log odds
    of the most probable change of another statement, and by how much the similarity exceeds that of
    the other statements.
    """
    inputs: list[tuple[float, ...]] = []
    for one in signals:
        others = [other for other in signals if other.statement != one.statement]
        rival = max((other.change for other in others), default=0.0)
        nearest = max((other.similarity for other in others), default=one.similarity)
        odds, against = _log_odds(one.change, 0.01), _log_odds(rival, 0.2)
        inputs.append((1.0, odds, float(one.shares), against, one.similarity - nearest))
    return inputs


def _log_odds(probability: float, least: float) -> float:
    probability = min(max(probability, least), 1 - least)
    return log(probability / (1 - probability))


def _nearest_pairs(
    covered: str,
    before: Sequence[str],
    again: Callable[[int], Sequence[Candidate]],
    similarity: Similarities,
) -> list[StatementPair]:
    """Return the pairs to compare.

    They come from the `_MOST_MESSAGES` earlier messages that are nearest to the message. Of their
    statements, the `_MOST_PAIRS` are taken that are nearest to a part of the message. A text that
    shares a word is nearer by `_SHARED`.
    """
    places = [place for place, _ in correctable_messages(before)]
    (near,) = similarity([covered], [before[place] for place in places])
    words = TextWords.of(covered)
    nearness = {
        place: share + _SHARED * words.overlap(TextWords.of(before[place]))
        for share, place in zip(near, places, strict=True)
    }
    order = sorted(places, key=lambda place: (-nearness[place], place))
    known = [(place, one) for place in order[:_MOST_MESSAGES] for one in again(place)]
    words_of_known = [TextWords.of(one.content) for _, one in known]
    parts = list(islice(_parts(covered), _MOST_PAIRS))
    near_parts = similarity([part for _, part in parts], [one.content for _, one in known])
    pairs = []
    for (start, part), near in zip(parts, near_parts, strict=True):
        words = TextWords.of(part)
        pairs += [
            StatementPair(share, words.overlap(theirs), place, one, start, part)
            for share, theirs, (place, one) in zip(near, words_of_known, known, strict=True)
        ]
    return sorted(pairs, key=lambda pair: (-pair.nearness, pair.place))[:_MOST_PAIRS]


def starts_of_new_value(
    pair: ComparedPair | None,
    covered: str,
    statements: Sequence[Statement],
    conflict: Callable[[str, str], float],
    compare: Callable[[str, str], PairComparison],
) -> set[int]:
    """Return where the statements of a message begin that give the new value of a corrected one.

    They are worth keeping even if the reader model doubts it: "Gosia is in Gdynia" after "my sister
    Gosia lives in Gdańsk".
    """
    if not pair:
        return set()
    known, starts = pair.known.content, set()
    for statement in statements:
        said = covered[statement.start : statement.end].strip()
        if pair.includes(statement.start) and (
            compare(known, said).replaces >= _CONFLICT or conflict(known, said) >= _CONFLICT
        ):
            starts.add(statement.start)
    return starts


def with_changes(
    candidates: Sequence[Candidate],
    changes: EarlierChanges,
    conflict: Callable[[str, str], float],
    compare: Callable[[str, str], PairComparison],
) -> list[Candidate]:
    """Return the candidates so that they change the earlier statements.

    The candidates that are quoted from correcting words, conflict with the corrected statement and
    have the same owner overrule it. If none conflicts, the one that most probably states the new
    value does. An ended statement is overruled by a candidate of the ending words. If no candidate
    overrules a statement, one is added that consists of the statement in brackets and the words of
    the message; the person must confirm it, unless the statement is ended.
    """
    found = list(candidates)
    if changes.corrected:
        found = _with_corrected(found, changes.corrected, conflict, compare)
    for ended in changes.ended:
        known = ended.known
        if any(one.overrules == known.content for one in found):
            continue
        for place, one in enumerate(found):
            if _may_overrule(one, ended):
                found[place] = replace(one, corrects=True, overrules=known.content)
                break
        else:
            found.append(ended.ending())
    return found


def _with_corrected(
    found: list[Candidate],
    pair: ComparedPair,
    conflict: Callable[[str, str], float],
    compare: Callable[[str, str], PairComparison],
) -> list[Candidate]:
    known = pair.known.content
    able = [
        place
        for place, one in enumerate(found)
        if _may_overrule(one, pair) and not _denies_only_home(one.content, known)
    ]
    overruling = [place for place in able if conflict(known, found[place].content) >= _CONFLICT]
    if not overruling:
        shares = [(_new_value(found[place], pair, compare), place) for place in able]
        overruling = [place for share, place in sorted(shares)[-1:] if share >= _STATED]
    for place in overruling:
        found[place] = replace(found[place], corrects=True, overrules=known)
    is_of_others = not able and any(pair.includes(one.quote_start) for one in found)
    if overruling or is_of_others or pair.likelihood < ALONE or not pair.is_open:
        return found
    asked = replace(pair.ending(), confidence=DOUBTFUL, reasons=pair.known.reasons)
    return [*found, asked]


def _new_value(
    candidate: Candidate, pair: ComparedPair, compare: Callable[[str, str], PairComparison]
) -> float:
    """Return the probability that a candidate states the new value of a corrected statement."""
    if right := pair.compared.right:
        start = candidate.quote_start - pair.start
        if start <= right[0] < right[1] <= start + len(candidate.quote):
            return 1.0
    return compare(pair.known.content, candidate.content).replaces


def _may_overrule(candidate: Candidate, pair: ComparedPair) -> bool:
    """Return whether a candidate is quoted from the part, with the owner of the statement."""
    is_quoted = pair.includes(candidate.quote_start) and not candidate.overrules
    return is_quoted and candidate.owner == pair.known.owner


def _denies_only_home(text: str, known: str) -> bool:
    """Return whether a text denies where somebody lives, but `known` doesn't say that.

    我不是住渝北 ("I don't live in Yubei") doesn't conflict with 在渝北开快递站 ("runs a depot in
    Yubei").
    """
    return denies(text) and bool(_LIVES.search(text)) and not _LIVES.search(known)


def _corrected(
    pair: ComparedPair, earlier: str, covered: str, conflict: Callable[[str, str], float]
) -> Correction | None:
    """Return the correction of the earlier message, or None if it is unclear which words change.

    The span of the correction is the sentence of the new message that contains the right words.
    """
    known, compared, start = pair.known, pair.compared, pair.start
    if compared.wrong is None or compared.right is None:
        return None
    wrong = known.content[slice(*_whole(known.content, compared.wrong))].strip()
    first, last = _whole(covered, (start + compared.right[0], start + compared.right[1]))
    right = covered[first:last].strip()
    wrong, right = only_changed_values(known.content, wrong, right)
    if wrong == right or len(right) > _LONGEST_VALUE:
        return None
    if wrong.casefold() in pair.part.casefold() and not denies(pair.part):
        return None  # the message is about these words: "Noodle is a corn snake"
    if not all(map(_says_something, (wrong, right))) or not are_of_one_sort(wrong, right):
        return None
    if COVER in right or SECRET in right or known.quote.count(wrong) != 1:
        return None
    at = known.quote_start + known.quote.index(wrong)
    if earlier[at : at + len(wrong)] != wrong:
        return None
    if not may_have_one_unit(earlier[at + len(wrong) :], covered[last:], right):
        return None
    begin = max((end.end() for end in _END.finditer(covered, 0, first)), default=0)
    stop = _END.search(covered, last)
    text = earlier[:at] + right + earlier[at + len(wrong) :]
    found = Correction(pair.place, text, begin, stop.start() if stop else len(covered))
    is_value = any(is_of_sort(sort, right) for sort in SORTS) or NUMERAL.search(right.casefold())
    if is_value:
        return found if compared.replaces >= OF_VALUES else None
    is_read = conflict(known.content, known.content.replace(wrong, right)) >= _READ
    return found if is_read else None


def _with_new_value(pair: ComparedPair, earlier: str) -> Correction | None:
    """Return the correction that replaces values (days, times, amounts) of the statement, or None.

    The new values come from a sentence of the compared part. `earlier` is the text of the earlier
    message.
    """
    known = pair.known
    end = known.quote_start + len(known.quote)
    if pair.compared.replaces < OF_VALUES or earlier[known.quote_start : end] != known.quote:
        return None
    for found in _SENTENCE.finditer(pair.part):
        if found[0].strip() and (text := with_new_value(known.quote, found[0])):
            begin, stop = (pair.start + at for at in found.span())
            text = earlier[: known.quote_start] + text + earlier[end:]
            return Correction(pair.place, text, begin, stop)
    return None


def _says_something(text: str) -> bool:
    """Return whether a text contains a number or a content word."""
    return bool(NUMERAL.search(text.casefold()) or segment.content_terms(text))


def _whole(text: str, span: tuple[int, int]) -> tuple[int, int]:
    return whole_words(text, *span, is_letter=is_letter_of_spaced_script, most=_LONGEST_VALUE)


def _parts(text: str) -> Iterator[tuple[int, str]]:
    """Yield the position and the text of consecutive sentences, about `_PART` characters each."""
    start = end = 0
    for sentence in _SENTENCE.finditer(text):
        if sentence.end() - start > _PART and end > start:
            yield start, text[start:end]
            start = end
        end = sentence.end()
    if text[start:end].strip():
        yield start, text[start:end]
