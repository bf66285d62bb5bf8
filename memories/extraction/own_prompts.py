"""Recognise text that we put into the prompt ourselves, so that it isn't learned again."""

import re
from collections.abc import Collection, Iterable

from memories.extraction.types import Candidate

_SIGNS = re.compile(r"[\W_]+")
_SIGN = re.compile(r"[^\n]")
_ADDED = re.compile(r"\[[^\[\]]*\]")  # what we add to the person's own words
_SHORTEST = 3


def folded(text: str) -> str:
    """Return only letters and digits, so that bullets, case and punctuation don't matter."""
    return _SIGNS.sub("", text).casefold()


def repeats(content: str, quote: str, *, known: str) -> bool:
    """Tell whether the folded block `known` already says this, in our words or the user's."""
    if not known:
        return False
    ours, theirs = folded(_ADDED.sub("", content)), folded(quote)
    if len(ours) >= _SHORTEST and ours in known:
        return True
    return len(theirs) >= 8 and theirs in known


def without_repeats(found: Iterable[Candidate], *, block: str, most: int) -> list[Candidate]:
    """Return the candidates that neither the block nor another candidate says; explicit
    ones stay.
    """
    known = folded(block)
    kept: dict[str, Candidate] = {}
    for one in found:
        if one.explicit or not repeats(one.content, one.quote, known=known):
            kept.setdefault(folded(one.content), one)
    return list(kept.values())[:most]


def without_block(
    text: str, *, frame: Collection[str], openings: Collection[str], headings: Collection[str]
) -> str:
    """Return `text` with pasted memory blocks of ours blanked, keeping all offsets.

    A block begins with one of the `openings` and includes the following list items, headings and
    empty lines; the text after it is the person's own. Sentences of the `frame` are ours wherever
    they stand.
    """
    if any(opening in text for opening in openings):
        text = _without_lists(text, openings=openings, headings=headings)
    for line in frame:
        text = text.replace(line, " " * len(line))
    return text


def _without_lists(text: str, *, openings: Collection[str], headings: Collection[str]) -> str:
    inside = False
    kept = []
    for line in text.splitlines(keepends=True):
        bare = line.strip().lstrip("#* ")
        inside = any(opening in line for opening in openings) or (
            inside and (not bare or bare.startswith("- ") or bare.rstrip(":：*") in headings)
        )
        kept.append(_SIGN.sub(" ", line) if inside else line)
    return "".join(kept)
