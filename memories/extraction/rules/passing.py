"""What happens today is small talk, unless it is the kind of day one remembers."""

import re
from datetime import date

_EXACT = re.compile(r"\d{4}-\d\d-\d\d|\d{4}年\d{1,2}月\d{1,2}日(?!那)")
_FROM_NOW_ON = re.compile(r"日(?:起|开始)|\bfrom [\d-]+ on\b|\b(?:since|starting)\b")
_OF_A_DAY = ("task", "event", "pattern", "skill", "constraint")


def is_passing(
    kind: str, text: str, *, when: date | None, today: date, notable: re.Pattern[str]
) -> bool:
    """Whether a dated plan is over already, or what holds for today alone isn't worth keeping."""
    if when is None or kind not in _OF_A_DAY:
        return False
    if kind == "constraint" and _FROM_NOW_ON.search(text):
        return False
    if kind == "task" and when < today and _EXACT.search(text):
        return True
    return when == today and _EXACT.search(text) is not None and not notable.search(text)
