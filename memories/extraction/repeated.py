"""Text that we put into the prompt ourselves and that came back: never learned a second time."""

import re
from collections.abc import Collection

_SIGNS = re.compile(r"[\W_]+")
_SIGN = re.compile(r"[^\n]")
_SHORTEST = 3


def folded(text: str) -> str:
    """Letters and digits only, so that bullets, case and punctuation don't matter."""
    return _SIGNS.sub("", text).casefold()


def repeats(content: str, quote: str, *, known: str) -> bool:
    """Whether the folded block `known` says this already, in our words or in the user's."""
    if not known:
        return False
    ours, theirs = folded(content), folded(quote)
    if len(ours) >= _SHORTEST and ours in known:
        return True
    return len(theirs) >= 8 and theirs in known


def without_block(text: str, *, openings: Collection[str], headings: Collection[str]) -> str:
    """`text` with a memory block of ours blanked where it was pasted in, sign for sign.

    A block begins with one of the `openings` and goes on over points, headings and empty lines;
    what stands behind it is the person's own.
    """
    if not any(opening in text for opening in openings):
        return text
    inside = False
    kept = []
    for line in text.splitlines(keepends=True):
        bare = line.strip().lstrip("#* ")
        inside = any(opening in line for opening in openings) or (
            inside and (not bare or bare.startswith("- ") or bare.rstrip(":：*") in headings)
        )
        kept.append(_SIGN.sub(" ", line) if inside else line)
    return "".join(kept)
