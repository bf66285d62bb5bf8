"""Recognise texts that look like secrets but aren't: placeholders, masked values, public keys."""

from __future__ import annotations

from collections.abc import Callable

from memories.screening import safe_patterns

_MOST_SHOWN = 10  # maximum visible letters and digits in a masked value, such as a card number
_FEWEST_MASKED = 3
_BORDERS = " \t\n\"'`“”‘’「」.,;，。；"
_ASSIGNED = safe_patterns.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,60} ?= ?")
_P = safe_patterns.compiled("stand_ins")
_PUBLIC = safe_patterns.compiled("public")


def is_stand_in(text: str) -> bool:
    """Return whether a text is only a placeholder for a secret, or a masked secret."""
    bare = text.strip(_BORDERS)
    if name := _ASSIGNED.match(bare):
        bare = bare[name.end() :].strip(_BORDERS)
    return bool(bare) and (
        _is_masked(bare) or any(pattern.fullmatch(bare) for pattern in _P.values())
    )


def public_places(text: str) -> list[tuple[int, int]]:
    """Return the spans of `text` that aren't secret, such as public keys and source code."""
    return [
        match.span(pattern.groupindex.get("s", 0))
        for pattern in _PUBLIC.values()
        for match in pattern.finditer(text)
    ]


def is_in_masked(text: str, start: int, end: int) -> bool:
    """Return whether `text[start:end]` belongs to a masked value, such as `622848******8148`."""
    return _is_masked(text[slice(*run_around(text, start, end, _is_of_a_value))])


def run_around(text: str, start: int, end: int, belongs: Callable[[str], bool]) -> tuple[int, int]:
    """Extend `text[start:end]` on both sides while `belongs` accepts the next character."""
    while start > 0 and belongs(text[start - 1]):
        start -= 1
    while end < len(text) and belongs(text[end]):
        end += 1
    return start, end


def _is_of_a_value(sign: str) -> bool:
    return sign in "*•●×" or (sign.isascii() and sign.isalnum())


def _is_masked(text: str) -> bool:
    """Return whether stars, dots or x hide a value, as in `****2207` or `xxxx-xxxx-xxxx-3318`."""
    signs = sum(text.count(sign) for sign in "*•●×")
    runs = "".join(sign if sign in "xX" else " " for sign in text).split()
    crosses = sum(len(run) for run in runs if len(run) > 1)
    visible = sum(map(str.isalnum, text)) - crosses
    if signs >= _FEWEST_MASKED:
        return visible <= _MOST_SHOWN
    return crosses >= (2 * _FEWEST_MASKED if visible else _FEWEST_MASKED) and visible <= crosses
