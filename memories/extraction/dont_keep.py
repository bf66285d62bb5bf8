"""Recognise "Don't keep this" and 「别记」: the person asks not to learn from a message.

Each clause is read alone, and only if it is short, so long messages take no longer.
"""

import re

from memories.extraction.word_tables import compiled

_BREAK = re.compile(r"[,.!?;:\n，。！？；：、…—()（）]+")
_LONGEST = 60
_P = compiled("dont_keep")


def is_asked_not_to(text: str) -> bool:
    """Tell whether any clause asks not to keep what is said."""
    plain = text.replace("’", "'")
    clauses = (" ".join(one.split()) for one in _BREAK.split(plain))
    return any(
        _P["en"].fullmatch(one) or _P["zh"].fullmatch(one)
        for one in clauses
        if 0 < len(one) <= _LONGEST
    )
