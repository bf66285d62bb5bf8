"""Make copies of rows as if they were typed carelessly. The labels stay the same.

Secrets are never changed.
"""

import random
from dataclasses import replace

from training.labels import Pair, Row, Span

_APOSTROPHES = "'’"
_PUNCTUATION = ".,;:!?…，。！？；、：~～"
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def careless_row(row: Row, chance: random.Random) -> Row:
    """Return a copy of a row with a misspelt message, or the row if a span would become empty."""
    text, at = _spelled(row.text, chance, row.secrets)
    spans = tuple(Span(at[s.start], at[s.end], s.heads) for s in row.spans)
    if any(not text[s.start : s.end].strip() for s in spans):
        return row
    secrets = tuple((at[start], at[end]) for start, end in row.secrets)
    return replace(row, text=text, spans=spans, secrets=secrets)


def careless_pair(pair: Pair, chance: random.Random) -> Pair:
    """Return a copy of a pair in which one or both texts are misspelt."""
    first, second = pair.first, pair.second
    which = chance.randrange(3)
    if which != 1:
        first, _ = _spelled(first, chance, ())
    if which != 0:
        second, _ = _spelled(second, chance, ())
    return replace(pair, first=first, second=second)


def _spelled(
    text: str, chance: random.Random, kept: tuple[tuple[int, int], ...]
) -> tuple[str, list[int]]:
    """Return the changed text, and the new offset of each old offset from 0 to `len(text)`.

    Characters in the ranges `kept` are not changed.
    """
    lower = chance.random() < 0.6
    bare = chance.random() < 0.6  # no apostrophes
    punctuation = chance.random()
    typos = 0.02 if chance.random() < 0.3 else 0.0
    safe = {n for start, end in kept for n in range(start, end)}
    made: list[str] = []
    at: list[int] = []
    size = 0
    for number, sign in enumerate(text):
        at.append(size)
        new = sign
        if number not in safe:
            if lower:
                new = new.lower() if len(new.lower()) == 1 else new
            if bare and sign in _APOSTROPHES and 0 < number < len(text) - 1:
                new = "" if text[number - 1].isalpha() and text[number + 1].isalpha() else new
            if sign in _PUNCTUATION and not _in_number(text, number):
                new = _instead(sign, punctuation)
            if typos and sign.isascii() and sign.isalpha() and chance.random() < typos:
                new = chance.choice(["", sign * 2, chance.choice(_LETTERS)])
        made.append(new)
        size += len(new)
    at.append(size)
    return "".join(made), at


def _in_number(text: str, number: int) -> bool:
    around = text[max(0, number - 1) : number] + text[number + 1 : number + 2]
    return len(around) == 2 and around.isdigit()


def _instead(sign: str, punctuation: float) -> str:
    """Return "", a space or the sign itself; `punctuation` is a random number, one per text."""
    if punctuation < 0.3:
        return "" if sign.isascii() else " "
    if punctuation < 0.4:
        return ""
    return sign
