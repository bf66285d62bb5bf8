"""Recognise a long message that asks something about another person's text, such as a mail.

The reader model reads a long message in windows, and only one of them contains the request
("summarise this mail"). So the statements in the other windows look like the person's own. To find
the request, the model also reads two short texts: both ends of the message, and its last paragraph
followed by its beginning.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from foundation.text.shingles import has_han
from memories.extraction.heard_message import FLAG
from memories.extraction.statement_checks import denied
from memories.extraction.word_tables import compiled
from memories.reader import Reading

_END, _END_HAN = 250, 90  # characters that are read of each end; Chinese needs fewer
_FOREIGN = ("pasted", "transform")
_LIKELY = 0.2  # the probability of either, chosen on bench/data/long_messages
_PARAGRAPHS = re.compile(r"\n\s*")
_SENTENCES = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")
_OPENS = re.compile(r"[:：]\s*|(?=[\"“「])")
_P = compiled("foreign_texts")


def without_foreign_text(reading: Reading, text: str, read: Callable[[str], Reading]) -> Reading:
    """Return the reading of a message with the statements of another person's text denied.

    Only the statements in the request about the text are left. `read` reads a shorter text. Nothing
    changes if the message is short, has no such request, or asks to remember the text.
    """
    size = _END_HAN if has_han(text) else _END
    if len(text.strip()) <= 2 * size or reading.flags["remember"] >= FLAG:
        return reading
    first, last = _first_part(text, 2 * size), _last_part(text, size)
    if _is_paragraph(last, text) and not _is_paragraph(first, text):
        first = last
    begin, end = text[:size].rstrip(), text.rstrip()[-size:].lstrip()
    for request, short in (
        (first, f"{begin} …\n\n… {end}"),
        (first, f"{begin} …"),
        (last, f"{text[slice(*last)].strip()}\n\n{begin} …"),
    ):
        flags = read(short).flags
        if flags["remember"] < FLAG and max(flags[name] for name in _FOREIGN) >= _LIKELY:
            return _only_within(request, reading)
    for request in (first, last):
        if _P["presents_text"].search(text[slice(*request)]) and _is_paragraph(request, text):
            return _only_within(request, reading)
    return reading


def _only_within(span: tuple[int, int], reading: Reading) -> Reading:
    start, end = span
    statements = tuple(
        one if start <= one.start and one.end <= end else denied(one, said="quoted")
        for one in reading.statements
    )
    flags = {**reading.flags, "pasted": max(reading.flags["pasted"], FLAG)}
    return replace(reading, statements=statements, flags=flags)


def _is_paragraph(span: tuple[int, int], text: str) -> bool:
    """Return whether a new line stands between a part at one end of a text and the rest."""
    start, end = span
    return "\n" in text[start - 1 : start] + text[end : end + 1]


def _first_part(text: str, most: int) -> tuple[int, int]:
    """Return the span of the first paragraph.

    If that is too long, return the span up to the first colon or quotation mark, or of the first
    sentence.
    """
    start = len(text) - len(text.lstrip())
    for ends in (_PARAGRAPHS, _OPENS, _SENTENCES):
        found = ends.search(text, start + 1)
        if found and found.start() - start <= most:
            return start, found.start()
    return start, start + most


def _last_part(text: str, most: int) -> tuple[int, int]:
    """Return the span of the last paragraph, or of the last sentence if that is too long."""
    end = len(text.rstrip())
    for starts in (_PARAGRAPHS, _SENTENCES):
        found = [one.end() for one in starts.finditer(text, 0, end) if one.end() < end]
        if found and end - found[-1] <= most:
            return found[-1], end
    return end - most, end
