"""Text that we put into the prompt ourselves and that came back: never learned a second time."""

import re

_SIGNS = re.compile(r"[\W_]+")
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
