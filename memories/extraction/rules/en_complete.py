"""Whether an English predicate is a whole statement that stands alone."""

import re

from memories.extraction.rules import en_dates
from memories.extraction.rules.en_grammar import Subject
from memories.extraction.rules.en_wording import stands_alone

_UNFINISHED = frozenset(
    [
        "few",
        "lot",
        "bit",
        "own",
        "other",
        "more",
        "many",
        "several",
        "any",
        "all",
        "every",
        "another",
        "least",
        "very",
        "so",
        "too",
        "is",
        "was",
        "are",
        "be",
        "has",
        "had",
        "been",
        "not",
        "both",
        "such",
        "different",
        "similar",
        "it",
    ]
)
# "Actually, …" corrects a fact; before a wish or a habit it is only a way to begin.
_ACTOR = frozenset(
    ["wants", "plans", "hopes", "is", "has", "decided", "intends", "aims", "needs", "must", "will"]
)


def _without_asker(predicate: str) -> str:
    """In what is asked of the assistant, "me" is plain enough."""
    return (
        re.sub(r"\b(?:me|things)\b", "", predicate) if "the assistant" in predicate else predicate
    )


def is_complete(predicate: str, subject: Subject) -> bool:
    if not 3 < len(predicate) <= 220 or en_dates.LEFT_OVER.search(predicate):
        return False
    words = predicate.split()
    if len(words) < 2 and not subject.label:
        return words[0] in ("retired", "vegan")
    if words[-1].lower() in _UNFINISHED:
        return False
    return stands_alone(_without_asker(predicate)) and words[-1].lower() not in _ACTOR
