"""Words that will stand in quotation marks and may have some themselves."""

from __future__ import annotations

_INNER = str.maketrans({"「": "『", "」": "』", "“": "‘", "”": "’"})


def inner(text: str) -> str:
    """With the marks of a quotation within a quotation: 「来自『小满』」, “from ‘Seville’”."""
    return text.translate(_INNER)
