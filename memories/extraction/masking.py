"""Cover the parts of a message that nobody states: code, quoted lines, addresses.

Covering keeps all offsets. The reader decides whether a text is pasted, played or to be translated.
"""

import re
from collections.abc import Iterable

SECRET = "\ue000"  # a private-use sign nobody types: a secret stood here
COVER = "\ue001"  # code, a quoted line, an address: not the person's own statement

_FENCE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_INLINE = re.compile(r"`[^`\n]{41,}`")
_QUOTED_LINE = re.compile(r"(?m)^[ \t]{0,4}(?:>|\|).*$")
_URL = re.compile(r"\b(?:https?://|www\.)[^\s<>，。；、）]+")
_TAGS = re.compile(r"<[a-zA-Z/!][^<>\n]{0,200}>")

# Full-width forms and typographic quotes to plain ones, one character each.
_PLAIN = str.maketrans(
    {chr(code): chr(code - 0xFEE0) for code in range(0xFF10, 0xFF5B) if chr(code).isalnum()}
    | {"\u2019": "'", "\u2018": "'", "\u02bc": "'", "\u00b4": "'", "\u00a0": " ", "\u3000": " "}
)


# Quotation marks around at least this many signs enclose a text, not a word.
_LONG_QUOTE = re.compile(r'“[^“”]{12,}”|"[^"]{12,}"|「[^「」]{12,}」|『[^『』]{12,}』|«[^«»]{12,}»')
_LINE_BREAKS = re.compile(r"\n\s*")
_AFTER_COLON = re.compile(r"[:：]\s*(?=\S)")


def plain(text: str) -> str:
    """Convert full-width digits and letters, and curly apostrophes; the length stays the same."""
    return text.translate(_PLAIN)


def hide(text: str, places: Iterable[tuple[int, int]], *, sign: str) -> str:
    """Replace these spans by a sign for each character; the length stays the same."""
    for start, end in places:
        text = text[:start] + sign * (end - start) + text[end:]
    return text


def covered(text: str) -> str:
    """Cover code, quoted lines and addresses; the length stays the same."""
    for pattern in (_FENCE, _INLINE, _QUOTED_LINE, _URL, _TAGS):
        text = pattern.sub(lambda match: COVER * len(match[0]), text)
    return text


def foreign_parts(text: str) -> list[tuple[int, int]]:
    """Return where a message that contains somebody's text has it, most likely.

    That is what stands in quotation marks; else of several lines those between the first and the
    last if they are long, or all but the shorter one of these two; else what follows the first
    colon. Empty if nothing tells.
    """
    quoted = [match.span() for match in _LONG_QUOTE.finditer(text)]
    if quoted:
        return quoted
    breaks = [match.span() for match in _LINE_BREAKS.finditer(text.rstrip())]
    if breaks:
        first, last = breaks[0][0], len(text) - breaks[-1][1]
        between = (breaks[0][1], breaks[-1][0])
        if between[1] - between[0] >= 2 * max(first, last):
            return [between]
        return [(breaks[0][1], len(text))] if last >= first else [(0, breaks[-1][0])]
    colon = _AFTER_COLON.search(text)
    return [(colon.end(), len(text))] if colon else []
