"""The parts of a page: title, label, subject, body and sentences.

A page is a text that is rewritten as a whole when it changes. Its subject is the heading or, if
there is none, the label: the words before a colon, as in "Login: people sign in with a passkey".
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property

from foundation.text import segment
from foundation.text.segment import CHINESE_STOP_WORDS, ENGLISH_STOP_WORDS
from memories.extraction.pattern_tables import compiled

_LONGEST_TITLE = 120
_LONGEST_LABEL = 40
_MOST_WORDS_OF_LABEL = 4
_SENTENCE = re.compile(r"(?<=[.!?。！？；;])\s+|\n+|(?<=[。！？；])")
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s++(?P<title>.+)$")
_LABEL = re.compile(
    rf"^\s*(?P<label>\w[^\n:：.!?。！？,，;；]{{1,{_LONGEST_LABEL}}})(?::\s|：)\s*(?=\S)"
)
_BARE = re.compile(r"[\W_]+")
_SORT_OF_PAGE = compiled("page_titles")["sort"]
STOP_WORDS = ENGLISH_STOP_WORDS | CHINESE_STOP_WORDS


@dataclass(frozen=True)
class Document:
    """A page, with the parts that are compared: its title, label, body and sentences."""

    text: str

    @cached_property
    def title(self) -> str:
        """Return the first line without heading marks, or an empty string if there is no title.

        The first line is a title if it is short and other lines follow.
        """
        first, _, rest = self.text.strip().partition("\n")
        title = _heading(first) or first.strip()
        return title if rest.strip() and len(title) <= _LONGEST_TITLE else ""

    @cached_property
    def label(self) -> str:
        """Return the label (up to four words before a colon at the start), or an empty string."""
        found = _LABEL.match(self.text)
        label = found["label"].strip() if found else ""
        return label if len(_words(label)) <= _MOST_WORDS_OF_LABEL else ""

    @cached_property
    def name(self) -> str:
        """Return the normalised words of the heading or, if there is none, of the label."""
        heading = _heading(self.text.strip().partition("\n")[0]) if self.title else ""
        return " ".join(_words(heading or self.label))

    @cached_property
    def subject(self) -> str:
        """Return the name, or an empty string if it only names a type of page ("Weekly notes")."""
        telling = [word for word in self.name.split() if word not in STOP_WORDS]
        is_sort = all(word.isdigit() or _SORT_OF_PAGE.fullmatch(word) for word in telling)
        return "" if is_sort else self.name

    @cached_property
    def body(self) -> str:
        """Return the text after the label, else the text below the title, else the whole text."""
        if self.label:
            found = _LABEL.match(self.text)
            return self.text[found.end() :] if found else self.text
        return self.text.strip().partition("\n")[2] if self.title else self.text

    @cached_property
    def words(self) -> list[str]:
        return _words(self.body)

    @cached_property
    def pieces(self) -> Counter[str]:
        """Count each distinct sentence of the body, ignoring punctuation and spaces."""
        found = map(strip_punctuation, _SENTENCE.split(self.body))
        return Counter(piece for piece in found if piece)

    @property
    def size(self) -> int:
        return sum(len(piece) * count for piece, count in self.pieces.items())


def strip_punctuation(text: str) -> str:
    """Return the normalised text without punctuation and spaces."""
    return _BARE.sub("", segment.normalise(text))


def _heading(line: str) -> str:
    found = _HEADING.match(line)
    return found["title"].rstrip(" \t#") if found else ""


def _words(text: str) -> list[str]:
    words = segment.words(segment.normalise(text))
    return [word for word in words if any(map(str.isalnum, word))]
