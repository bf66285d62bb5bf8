"""Recognise that a page is a newer edition of a known page.

Agents rewrite a whole page when it changes, so the newer edition replaces the older one. Two pages
are editions of one page if they have much of their text in common, or if they have the same subject
and differ only in values. The subject of a page is its title, or its label: the words before a
colon, as in "Login: people sign in with a passkey".
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import takewhile

from foundation.text import segment
from memories.extraction.arbitration.pairs import fuller_text
from memories.extraction.corrections.values import numbers_of_series
from memories.extraction.types import Verdict
from memories.extraction.wording.documents import STOP_WORDS, Document, strip_punctuation

_NEARLY_ALL = 0.9
_HALF = 0.5
_SOME = 0.2
# A title with this many content words names one subject. The title of a project page needs fewer,
# since agents title project pages by subject.
_TELLING_TITLE, _TELLING_TITLE_OF_PROJECT = 3, 2
_ON_ONE_SUBJECT = 0.6  # minimum cosine
_SUBJECTS_ALIKE = 0.6
_MOST_WORDS = 200  # longer pages are not compared word by word


@dataclass(frozen=True)
class Finding:
    """The verdict on a candidate, given one known memory.

    `verdict` is None if the candidate and the memory are unrelated.
    """

    verdict: Verdict | None
    reason: str = ""

    @property
    def is_conflict(self) -> bool:
        """Return whether the candidate and the memory can't both be true.

        Replacing a memory by a fuller text or a newer edition isn't a conflict.
        """
        replaces = self.verdict is Verdict.REPLACE
        says_so = self.reason not in ("says_more", "newer_edition")
        return self.verdict is Verdict.REVIEW or (replaces and says_so)


NOTHING_NEW = Finding(Verdict.SKIP, "says_nothing_new")
NEWER = Finding(Verdict.REPLACE, "newer_edition")


def edition_of(
    new: Document, old: Document, *, similarity: float, of_project: bool = False
) -> Finding | None:
    """Return the finding if two documents are editions of one page, otherwise None.

    `similarity` is the cosine similarity of their vectors. If both have the same title, a
    smaller common part is enough to replace the old edition (its text is kept as a version). If the
    new document contains only text of the old document, the finding is `NOTHING_NEW`, unless the
    new document is a shortened edition with the same title.
    """
    if have_other_subjects(new, old):
        return None
    both = new.pieces & old.pieces
    shared = sum(len(piece) * count for piece, count in both.items())
    of_new, of_old = shared / max(1, new.size), shared / max(1, old.size)
    titled = bool(strip_punctuation(new.title)) and strip_punctuation(
        new.title
    ) == strip_punctuation(old.title)
    titled = titled or (of_project and have_one_subject(new, old))
    if 0 < shared == new.size and (shared == old.size or not titled):
        return NOTHING_NEW
    if of_old >= _NEARLY_ALL or min(of_new, of_old) >= _HALF:
        return NEWER
    telling = _names_one_subject(new, of_project=of_project) and similarity >= _ON_ONE_SUBJECT
    if titled and (of_old >= _SOME or telling or are_worded_alike(new, old)):
        return NEWER
    return None


def have_one_subject(new: Document, old: Document) -> bool:
    return bool(new.subject) and new.subject == old.subject


def have_other_subjects(new: Document, old: Document) -> bool:
    """Return whether both documents name a subject, and the two subjects aren't alike.

    "Load test" and "Load test of the checkout" are alike; "Phase 1" and "Phase 2" aren't.
    """
    first, second = new.subject.split(), old.subject.split()
    if not first or not second:
        return False
    if _numbers(first) != _numbers(second):
        return True
    if set(first) <= set(second) or set(second) <= set(first):
        return False
    return SequenceMatcher(None, first, second, autojunk=False).ratio() < _SUBJECTS_ALIKE


def differ_in_one_value(new: Document, old: Document, *, telling: bool = False) -> bool:
    """Return whether two texts differ in only one place, with a content word before it.

    At least half of the longer text must be the same. "The checkout handles 30 orders a second" and
    "… 120 orders a second" differ in a value. Texts on different subjects don't count, such as "the
    users endpoint …" and "the orders endpoint …", or week 12 and week 13. With `telling`, each of
    the two values must contain a content word.
    """
    ours, theirs = new.words, old.words
    before = sum(1 for _ in takewhile(_same, zip(ours, theirs, strict=False)))
    left = min(len(ours), len(theirs)) - before
    ends = zip(ours[::-1][:left], theirs[::-1][:left], strict=True)
    after = sum(1 for _ in takewhile(_same, ends))
    if ours == theirs or before + after < _HALF * max(len(ours), len(theirs)):
        return False
    values = (words[before : len(words) - after] for words in (ours, theirs))
    if telling and not all(map(_has_content_word, values)):
        return False
    named = ours[:before]
    if numbers_of_series(new.text) != numbers_of_series(old.text):
        named = named[:-1]  # without the numbered noun, such as "week"
    return _has_content_word(named)


def _has_content_word(words: list[str]) -> bool:
    return any(word not in STOP_WORDS for word in words)


def are_worded_alike(new: Document, old: Document) -> bool:
    """Return whether the bodies of both documents share at least half of their words, in order.

    Return False if one of them has more than `_MOST_WORDS` words.
    """
    if max(len(new.words), len(old.words)) > _MOST_WORDS:
        return False
    return SequenceMatcher(None, new.words, old.words, autojunk=False).ratio() >= _HALF


def _numbers(words: list[str]) -> list[str]:
    return [word for word in words if any(map(str.isdigit, word))]


def _same(pair: tuple[str, str]) -> bool:
    return pair[0] == pair[1]


def _names_one_subject(document: Document, *, of_project: bool) -> bool:
    least = _TELLING_TITLE_OF_PROJECT if of_project and document.subject else _TELLING_TITLE
    return len(set(segment.terms(document.subject or document.title))) >= least


def is_rewritten(new: Document, old: Document) -> bool:
    """Return whether a project page is a newer edition in which the reader model missed the change.

    The model overlooks some changed values ("the next hire is a tester", "… a designer"), so that
    the new edition would be skipped, or merged with the old one.
    """
    if new.words == old.words or fuller_text(old.text, new.text) == old.text:
        return False
    return have_one_subject(new, old) or differ_in_one_value(new, old, telling=True)
