"""Recognise a newer edition of the same document, since agents write the same page repeatedly.

Sentences in both texts are counted by their letters (containment, as Broder defines it for near
copies in "On the resemblance and containment of documents", 1997). A sufficiently specific title
replaces that test if a page was rewritten.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property

from memcenter.lib.text import segment
from memories.extraction.types import Verdict

# Shares of letters, found by reading pairs of real project notes side by side.
_NEARLY_ALL = 0.9
_HALF = 0.5
_SOME = 0.2
# A title with this many content words names one subject; "Weekly notes" doesn't.
_TELLING_TITLE = 3
_ON_ONE_SUBJECT = 0.6
_LONGEST_TITLE = 120
_MOST_WORDS = 200  # of a short page, which is compared word by word
_SENTENCE = re.compile(r"(?<=[.!?。！？；;])\s+|\n+|(?<=[。！？；])")
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s++(?P<title>.+)$")
_BARE = re.compile(r"[\W_]+")


@dataclass(frozen=True)
class Finding:
    """The relation of a known memory to the candidate; None as `verdict` means unrelated."""

    verdict: Verdict | None
    reason: str = ""

    @property
    def is_conflict(self) -> bool:
        """Tell whether both can't hold; a fuller text or a newer edition says what is known."""
        replaces = self.verdict is Verdict.REPLACE
        says_so = self.reason not in ("says_more", "newer_edition")
        return self.verdict is Verdict.REVIEW or (replaces and says_so)


NOTHING_NEW = Finding(Verdict.SKIP, "says_nothing_new")
NEWER = Finding(Verdict.REPLACE, "newer_edition")


@dataclass(frozen=True)
class Document:
    """A text of several lines or sentences, prepared for comparison."""

    text: str

    @cached_property
    def title(self) -> str:
        """Return the heading, or a short first line with others below it; else empty."""
        first, _, rest = self.text.strip().partition("\n")
        heading = _HEADING.match(first)
        title = heading["title"].rstrip(" \t#") if heading else first.strip()
        return title if rest.strip() and len(title) <= _LONGEST_TITLE else ""

    @cached_property
    def pieces(self) -> Counter[str]:
        """Return the sentences below the title without punctuation and spaces, with their
        counts.
        """
        body = self.text.strip().partition("\n")[2] if self.title else self.text
        return Counter(bare for one in _SENTENCE.split(body) if (bare := _bare(one)))

    @property
    def size(self) -> int:
        return sum(len(one) * count for one, count in self.pieces.items())


def edition_of(new: Document, old: Document, *, similarity: float) -> Finding | None:
    """Return how the new document relates to the old one if they are editions of one, else None.

    `similarity` is their cosine. What an edition with the same title leaves out was removed on
    purpose; the old text stays as a version. A mere quotation adds nothing.
    """
    both = new.pieces & old.pieces
    shared = sum(len(one) * count for one, count in both.items())
    of_new, of_old = shared / max(1, new.size), shared / max(1, old.size)
    titled = bool(_bare(new.title)) and _bare(new.title) == _bare(old.title)
    if 0 < shared == new.size and (shared == old.size or not titled):
        return NOTHING_NEW
    if of_old >= _NEARLY_ALL or min(of_new, of_old) >= _HALF:
        return NEWER
    if titled and (of_old >= _SOME or (_tells(new.title) and similarity >= _ON_ONE_SUBJECT)):
        return NEWER
    if titled and _are_worded_alike(new, old):
        return NEWER
    return None


def _are_worded_alike(new: Document, old: Document) -> bool:
    """Tell whether half of the words below the title are the same, in the same order."""
    ours, theirs = (_words(one) for one in (new, old))
    if max(len(ours), len(theirs)) > _MOST_WORDS:
        return False
    return SequenceMatcher(None, ours, theirs, autojunk=False).ratio() >= _HALF


def _words(document: Document) -> list[str]:
    words = segment.words(document.text.strip().partition("\n")[2].casefold())
    return [word for word in words if any(map(str.isalnum, word))]


def _bare(text: str) -> str:
    return _BARE.sub("", segment.normalise(text))


def _tells(title: str) -> bool:
    return len(set(segment.terms(title))) >= _TELLING_TITLE
