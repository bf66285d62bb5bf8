"""One natural text out of two that tell of the same thing."""

import re

_END = " .。!！;；,，"
_TAIL = re.compile(r"(?:at|in|with|for|near|since|every|on|by|from|as|to|of)\b", re.IGNORECASE)
_OWN = re.compile(r"^(?:用户|我)(?=[\u4e00-\u9fff])")


def combine(old: str, new: str) -> str:
    """The old text, then what the new one adds; words that both begin with are said once."""
    first, second = old.strip(_END), new.strip(_END)
    if _chinese(first) or _chinese(second):
        return f"{first}，{_OWN.sub('', second)}"
    opening = _shared_opening(first, second)
    rest = second[len(opening) :].strip()
    if opening and _TAIL.match(rest):
        return f"{first} {rest}"
    return f"{first}; {second if _begins_with_a_name(second) else second[:1].lower() + second[1:]}"


def _chinese(text: str) -> bool:
    return any("\u4e00" <= char <= "\u9fff" for char in text)


def _shared_opening(first: str, second: str) -> str:
    """The words with which both begin, as they stand in the second."""
    shared = 0
    words = second.split(" ")
    for ours, theirs in zip(first.split(" "), words, strict=False):
        if ours.lower() != theirs.lower():
            break
        shared += 1
    return " ".join(words[:shared])


def _begins_with_a_name(text: str) -> bool:
    """A capital that isn't only the sentence's own: "I like", "Biscuit is", "NASA …"."""
    first, _, rest = text.partition(" ")
    return first in ("I", "I'm") or first.isupper() or rest[:3] in ("is ", "has", "the", "was")
