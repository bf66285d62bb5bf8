"""Whether one document is a newer edition of another: agents write the same page again and again.

Sentences that stand in both are counted by their letters (containment, as Broder defines it for
near copies in "On the resemblance and containment of documents", 1997); a title that says enough
to be one subject's stands in for them where a page was written anew.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property

from memcenter.lib import segment
from memories.extraction.types import Verdict

# Shares of letters, from reading pairs of real project notes side by side.
_NEARLY_ALL = 0.9
_HALF = 0.5
_SOME = 0.2
# A title of so many words that count names one subject: "Weekly notes" doesn't.
_TELLING_TITLE = 3
_ON_ONE_SUBJECT = 0.6
_LONGEST_TITLE = 120
_SENTENCE = re.compile(r"(?<=[.!?。！？；;])\s+|\n+|(?<=[。！？；])")
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s++(?P<title>.+)$")
_BARE = re.compile(r"[\W_]+")


@dataclass(frozen=True)
class Finding:
    """How one known memory stands to the candidate; `verdict` None: they don't touch."""

    verdict: Verdict | None
    reason: str = ""


NOTHING_NEW = Finding(Verdict.SKIP, "says_nothing_new")
NEWER = Finding(Verdict.REPLACE, "newer_edition")


@dataclass(frozen=True)
class Document:
    """A text of several lines or sentences, as it is compared."""

    text: str

    @cached_property
    def title(self) -> str:
        """Its heading, or a short first line that others follow; empty where it has neither."""
        first, _, rest = self.text.strip().partition("\n")
        heading = _HEADING.match(first)
        title = heading["title"].rstrip(" \t#") if heading else first.strip()
        return title if rest.strip() and len(title) <= _LONGEST_TITLE else ""

    @cached_property
    def pieces(self) -> Counter[str]:
        """Its sentences below the title without signs and spaces, each as often as it is there."""
        body = self.text.strip().partition("\n")[2] if self.title else self.text
        return Counter(bare for one in _SENTENCE.split(body) if (bare := _bare(one)))

    @property
    def size(self) -> int:
        return sum(len(one) * count for one, count in self.pieces.items())


def edition_of(new: Document, old: Document, *, similarity: float) -> Finding | None:
    """How the new document stands to the old one where they are one; None where they aren't.

    `similarity` is the cosine of the two. What an edition of the same title leaves out is gone on
    purpose: the old text stays as a version. A mere quotation says nothing new.
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
    return None


def _bare(text: str) -> str:
    return _BARE.sub("", segment.normalise(text))


def _tells(title: str) -> bool:
    return len(set(segment.terms(title))) >= _TELLING_TITLE
