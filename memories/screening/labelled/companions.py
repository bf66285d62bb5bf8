"""Secrets beside another secret: "9003 to arm, 9004 to disarm", a card's expiry date."""

from __future__ import annotations

from collections.abc import Iterator

from memories.screening import linear
from memories.screening.labelled import common_words
from memories.screening.labelled.tokens import Token, Tokens
from memories.screening.labelled.values import Look
from memories.screening.labelled.vocabulary import is_counted
from memories.screening.secret_forms import Found

COVER = "\ue000"
_NEAR, _NEARER = 60, 40  # characters
_COVERED = linear.compile(r"\x{e000}+")
_EXPIRY = linear.compile(r"^\d{1,2}[/\-.](?:20)?\d{2}$")
_YEAR = linear.compile(r"^(?:19|20)\d\d$")


def companions(text: str, *, with_card: bool) -> Iterator[Found]:
    """Yield codes and numbers near a covered part of `text`, in the same line."""
    secrets = [match.span() for match in _COVERED.finditer(text)]
    tokens = Tokens(text)
    place = 0
    for number, token in enumerate(tokens.all):
        if token.kind != "word" or COVER in token.text:
            continue
        while place + 1 < len(secrets) and secrets[place + 1][0] < token.start:
            place += 1
        distance = min(
            (_distance(token, span, text) for span in secrets[place : place + 2]), default=_NEAR
        )
        if _is_one(tokens, number, distance, with_card=with_card):
            yield Found(token.core_start, token.core_end, "password")


def _distance(token: Token, span: tuple[int, int], text: str) -> int:
    start, end = (span[1], token.start) if span[1] <= token.start else (token.end, span[0])
    return _NEAR if "\n" in text[start : min(end, start + _NEAR)] else end - start


def _is_one(tokens: Tokens, number: int, distance: int, *, with_card: bool) -> bool:
    token = tokens.all[number]
    if token.look >= Look.MIXED:
        return distance < _NEAR
    if with_card and _EXPIRY.search(token.core):
        return distance < _NEAR
    if token.look != Look.DIGITS or distance >= _NEARER or is_counted(tokens, number):
        return False
    led = tokens.all[number - 1].bare if number else ""
    is_year = _YEAR.search(token.core) is not None
    return led not in common_words.BEFORE_A_COUNT and not is_year
