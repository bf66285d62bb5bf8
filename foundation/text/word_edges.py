"""Extend a span of a text to whole words."""

from __future__ import annotations

from collections.abc import Callable


def whole_words(
    text: str, start: int, end: int, *, is_letter: Callable[[str], bool], most: int
) -> tuple[int, int]:
    """Extend a span to whole words, by at most `most` characters on each side.

    `is_letter` says which characters belong to a word. An empty span is returned unchanged.
    """
    first, last = max(0, start - most), min(len(text), end + most)
    while first < start < end and is_letter(text[start - 1]) and is_letter(text[start]):
        start -= 1
    while start < end < last and is_letter(text[end - 1]) and is_letter(text[end]):
        end += 1
    return start, end


def is_letter_of_spaced_script(sign: str) -> bool:
    """Return whether a character is a letter or digit of a script with spaces between words."""
    return sign.isalnum() and sign < "\u2e80"
