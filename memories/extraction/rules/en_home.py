"""English: when a statement of somebody's home is news."""

import re
from datetime import date

_LIVES = re.compile(r"\blives in\b", re.IGNORECASE)
_THESE_DAYS = re.compile(r"\b(?:now|these days|nowadays)$", re.IGNORECASE)
# A move of a named year, or of long ago, tells how a life went and not where it is now.
_MOVED = re.compile(r"\b[Mm]oved to [A-Z](?!.*\b(?:\d{4}\b(?!-)|ago\b|when\b|as an?\b))")
_A_YEAR = 366


def is_news_of_home(content: str, said: str, when: date | None, today: date) -> bool:
    """ "I live in Lisbon now" and a recent move overrule the home that was known."""
    recent = when is None or (today - when).days < _A_YEAR
    return bool(
        (_LIVES.search(content) and _THESE_DAYS.search(said)) or (recent and _MOVED.search(content))
    )
