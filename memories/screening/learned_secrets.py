"""Find secrets that only their context reveals, with the reader model.

The model takes a few milliseconds, so it is used only for texts that are derived from messages or
written as memories. Pages, for which users wait, use the positions that were found when the message
was processed (`Message.secrets`).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from foundation.text.word_edges import whole_words
from memories.reader import Reading, reader
from memories.screening import safe_patterns, secret_judge, secret_search
from memories.screening.secret_judge import Candidate, Words
from memories.screening.secret_search import Intervals, Span
from memories.screening.stand_ins import is_stand_in, public_places

CATEGORY = "password"
_LONGEST = 240  # characters; enough for a recovery phrase of 24 words
_MOST_JUDGED = 80
_MOST_READ_AGAIN = 20  # maximum number of words that `_OrdinaryWordTest` checks in a text
_AROUND = 300  # characters that are read before and after such a word
_MOST_OCCURRENCES = 3  # a string that occurs more often in a text isn't a secret
_SENTENCE_ENDS = safe_patterns.compile(r"([a-z]{3}[.!?] +|[。！？\n])")
_NAME = safe_patterns.compile(r"^[A-Za-z]+[-_.]?[0-9]{0,4}$")
_ORDINARY = "Sunflower"  # a word that people use as a password
_INNOCENT = 0.03  # probability below which the model finds no secret in a word
_LITTLE = 20  # maximum number of characters besides the secret, for `_is_mostly_secret`
_LINK = safe_patterns.compile(r"(?i)\b(?:https?|webcals?)://[^\s<>\"，。；）]+")
_GAP = safe_patterns.compile(
    r"(?i)(?: (?:the|a|an|is|are|was|of|on|in|at|to|my|and|never|always|for|with)){1,3} "
)
_known = secret_search.PositionCache()


def find(text: str) -> tuple[Span, ...]:
    """Return the spans of all secrets in `text`, found by rules and by the reader model.

    The spans are in order and don't overlap. Only their positions are cached, never the text.
    """
    return _known.of(text, lambda unread: of_reading(unread, reader().read(unread), reader().read))


def of_reading(text: str, reading: Reading, read: Callable[[str], Reading]) -> tuple[Span, ...]:
    """Return the spans of all secrets in a message, like `find`, given the model's output.

    `read` runs the model on a changed text in the same context. Only the first 80 candidates are
    judged; a later candidate counts as a secret if a rule found it.
    """
    words, is_ordinary = Words(text), _OrdinaryWordTest(text, read)
    kept = secret_search.joined(
        Span(candidate.start, candidate.end, candidate.category)
        for number, candidate in enumerate(candidates(text, reading))
        if (
            _is_secret(words, candidate, is_ordinary)
            if number < _MOST_JUDGED
            else candidate.by_rule
        )
    )
    whole = secret_search.joined([*kept, *secret_search.find_repeated_secrets(text, kept)])
    whole = secret_search.joined([*whole, *_whole_links(text, whole), *_gaps(text, whole)])
    return secret_search.with_account_numbers(text, whole)


def candidates(text: str, reading: Reading) -> Iterator[Candidate]:
    """Yield the possible secrets that the rules or the reader model find.

    Placeholders, masked values, public keys and source code are left out.
    """
    by_rule = secret_search.find(text)
    by_form = secret_search.find_by_form(text) if by_rule else ()
    of_rule, of_form = (
        Intervals((span.start, span.end) for span in each) for each in (by_rule, by_form)
    )
    read = (
        whole_words(text, *_trimmed(text, *part), is_letter=_is_word_character, most=_LONGEST)
        for secret in reading.secrets
        for part in _of_one_sentence(text, secret.start, secret.end)
    )
    learned = [Span(*span, CATEGORY) for span in read if _can_be_secret(text, *span)]
    public, masked = Intervals(public_places(text)), secret_search.masked_parts(text)
    shares, rules = _Shares(reading), frozenset(by_rule)
    for span in dict.fromkeys([*by_rule, *(span for span in learned if not masked.meet(span))]):
        if not public.contain(span):
            yield Candidate(
                span.start,
                span.end,
                span.category,
                share=shares.highest(span),
                by_rule=of_rule.meet(span),
                by_form=(span.category != CATEGORY and span in rules) or of_form.meet(span),
            )


def _is_secret(
    words: Words, candidate: Candidate, is_ordinary: Callable[[Candidate], bool]
) -> bool:
    if candidate.category == "address" or _is_mostly_secret(words.text, candidate):
        return True
    if candidate.by_rule and candidate.end - candidate.start > _LONGEST:
        return True
    probability = secret_judge.probability(words, candidate)
    if candidate.by_form:
        return probability >= secret_judge.OF_FORM
    return probability >= secret_judge.SECRET and not is_ordinary(candidate)


def _is_mostly_secret(text: str, candidate: Candidate) -> bool:
    """Return whether a text is little more than a secret found by a rule ("my pin is 1234")."""
    rest = len(text) - (candidate.end - candidate.start)
    return (
        candidate.by_rule
        and (candidate.by_form or candidate.share >= _INNOCENT)
        and rest <= _LITTLE
    )


class _OrdinaryWordTest:
    """A check for single words that the model took for secrets only because they are unusual.

    An unknown name, even with a number after it, can look like a password to the model. To check
    this, the word is replaced by an ordinary word: if the context announces a secret, the model
    takes the ordinary word for a secret too. At most 20 words of a text are checked; any further
    words count as secrets.
    """

    def __init__(self, text: str, read: Callable[[str], Reading]) -> None:
        self._text, self._read, self._left = text, read, _MOST_READ_AGAIN

    def __call__(self, candidate: Candidate) -> bool:
        if (
            candidate.by_rule
            or not _NAME.search(self._text[candidate.start : candidate.end])
            or not self._left
        ):
            return False
        self._left -= 1
        before = self._text[max(0, candidate.start - _AROUND) : candidate.start]
        changed = self._read(
            before + _ORDINARY + self._text[candidate.end : candidate.end + _AROUND]
        )
        word = Span(len(before), len(before) + len(_ORDINARY), CATEGORY)
        return _Shares(changed).highest(word) < _INNOCENT


class _Shares:
    """The probabilities of being secret that a reading gives for tokens and for spans."""

    def __init__(self, reading: Reading) -> None:
        found = [
            *reading.shares,
            *((secret.start, secret.end, secret.share) for secret in reading.secrets),
        ]
        self._places = Intervals((start, end) for start, end, _ in found)
        self._shares = np.array([share for _, _, share in found])

    def highest(self, span: Span) -> float:
        """Return the highest probability in the span.

        Return 1.0 if there are no probabilities for the span, because the model skipped that part
        of a long message or the reading contains no token probabilities.
        """
        found = self._shares[self._places.overlapping(span)]
        return float(found.max()) if len(found) else 1.0


def _whole_links(text: str, spans: Sequence[Span]) -> Iterator[Span]:
    """Yield each link that contains a secret, since the rest of the link may be secret too."""
    for link in _LINK.finditer(text) if spans else ():
        start, end = link.span()
        if any(start < span.start and span.end <= end for span in spans):
            yield Span(start, end, CATEGORY)


def _gaps(text: str, spans: Sequence[Span]) -> Iterator[Span]:
    """Yield a joint span for two secrets with only one to three function words between them."""
    for first, second in itertools.pairwise(spans):
        between = text[first.end : second.start]
        if first.category == second.category == CATEGORY and _GAP.fullmatch(between):
            yield Span(first.start, second.end, CATEGORY)


def spans_at(places: Sequence[int], text: str) -> tuple[Span, ...]:
    """Return a message's secrets, given their stored positions: start, end, start, end …"""
    pairs = zip(places[::2], places[1::2], strict=True)
    return tuple(Span(start, end, CATEGORY) for start, end in pairs if end <= len(text))


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start] in " \t\n,，。:：;；=\"'“”「」":
        start += 1
    while start < end and (
        text[end - 1] in " \t\n,，。;；\"'“”「」"
        or (text[end - 1] == "." and not text[end : end + 1].strip())
    ):
        end -= 1
    return start, end


def _is_word_character(sign: str) -> bool:
    return sign.isascii() and sign.isalnum()


def _of_one_sentence(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the parts of `text[start:end]`, split where a sentence ends."""
    last = start
    for found in _SENTENCE_ENDS.finditer(text[start:end]):
        yield last, start + found.end(1)
        last = start + found.end(1)
    yield last, end


def _can_be_secret(text: str, start: int, end: int) -> bool:
    words = text[start:end]
    return (
        0 < len(words) <= _LONGEST
        and text.count(words) <= _MOST_OCCURRENCES
        and not is_stand_in(words)
    )
