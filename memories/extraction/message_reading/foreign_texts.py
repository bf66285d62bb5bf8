"""Recognise a long message that asks something about another person's text, such as a mail.

The reader model reads a long message in windows, and only one window contains the request
("summarise this mail"). So the statements in the other windows look like the person's own. To find
the request, the model also reads up to three short texts: the beginning and the end of the message;
the beginning alone; and the last paragraph followed by the beginning.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from foundation.text import segment
from foundation.text.shingles import has_han
from memories.extraction import masking
from memories.extraction.message_reading.heard_message import FLAG, is_lived
from memories.extraction.message_reading.statement_checks import marked_not_worth_keeping
from memories.extraction.pattern_tables import compiled
from memories.reader import Reading
from memories.reader.statements import Statement

_END, _END_HAN = 250, 90  # characters that are read of each end; Chinese needs fewer
_FOREIGN = ("pasted", "transform")
_NOT_REAL_LIFE = (*_FOREIGN, "role_begins")
_MAYBE = 0.15  # minimum probability of such a flag for a message to be read alone as well
_FEWEST_WORDS = 3  # minimum number of words of a request without a question mark or colon
_LIKELY = 0.2  # minimum probability of either flag, chosen on bench/data/long_messages
_PARAGRAPHS = re.compile(r"\n\s*")
_SENTENCES = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")
_OPENS = re.compile(r"[:：]\s*|(?=[\"“「])")
_BEGINS = re.compile(r"[.!?。！？:：\n]$")  # the end of the text before a sentence
_COVERED = re.compile(rf"{masking.COVER}+")
_P = compiled("foreign_texts")


def alone_if_foreign(reading: Reading, text: str, read: Callable[[str], Reading]) -> Reading:
    """Return the reading of the message alone if it shows a foreign text or the start of a role.

    Among long earlier messages, the reader model is less sure of these. `reading` is the result
    with context, and `read` returns the result for a text without context.
    """
    if all(reading.flags[name] < _MAYBE for name in _NOT_REAL_LIFE):
        return reading
    alone = read(text)
    if all(alone.flags[name] < FLAG for name in _NOT_REAL_LIFE):
        return reading
    surer = {name: max(reading.flags[name], alone.flags[name]) for name in _NOT_REAL_LIFE}
    return replace(reading, statements=alone.statements, flags={**reading.flags, **surer})


def without_foreign_text(reading: Reading, text: str, read: Callable[[str], Reading]) -> Reading:
    """Mark the statements in another person's text as not worth keeping, and return the reading.

    If a long message contains a request about such a text, all statements outside the request are
    marked. In a message of any length, statements in the first person after words such as "Lily
    sent me this:" are marked. If the message asks to remember something, nothing is marked. `read`
    returns the reader model's results for a shorter text.
    """
    if reading.flags["remember"] >= FLAG:
        return reading
    reading = _without_forwarded(reading, text)
    size = _END_HAN if has_han(text) else _END
    if len(text.strip()) <= 2 * size:
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


def own_parts(text: str, read: Callable[[str], Reading]) -> str:
    """Return the parts of a message that are the person's own words, with "…" for the rest.

    Code, quoted lines and HTML are left out, and so are sentences that the reader model finds to be
    quoted or a text to work on. If the message contains somebody else's text, only two things are
    kept: the person's own statements, and a request at the beginning or end of the message.
    """
    reading = without_foreign_text(read(text), text, read)
    own, foreign = (
        [(each.start, each.end) for each in reading.statements if is_lived(each) is is_own]
        for is_own in (True, False)
    )
    kept = masking.cover_foreign(text, with_urls=False)
    if max(reading.flags[name] for name in _FOREIGN) < FLAG:
        begun = [span for span in foreign if _BEGINS.search(text[: span[0]].rstrip() or "\n")]
        kept = masking.replace_spans(kept, begun, sign=masking.COVER)
        return _without_covered(kept, text)
    edges = _first_part(text, 2 * _END), _last_part(text, _END)
    requests = [span for span in edges if _is_request(span, text, foreign)]
    covered = masking.COVER * len(text)
    for start, end in [*own, *requests]:
        covered = covered[:start] + kept[start:end] + covered[end:]
    return _without_covered(covered, text)


def _without_covered(covered: str, text: str) -> str:
    """Replace each covered part by "…" and a line break, without "…" if it begins with a break."""
    return _COVERED.sub(lambda part: "\n" if text[part.start()] == "\n" else " …\n", covered)


def _is_request(span: tuple[int, int], text: str, foreign: Sequence[tuple[int, int]]) -> bool:
    """Return whether a span looks like the person's request about another person's text.

    The span must not overlap a `foreign` span or look like a line of a mail. It must end with a
    question mark or colon, or have at least `_FEWEST_WORDS` words.
    """
    start, end = span
    words = text[start:end].strip()
    if any(first < end and start < last for first, last in foreign) or _P["mail_line"].search(
        words
    ):
        return False
    return words.endswith(("?", "？", ":", "：")) or len(segment.words(words)) >= _FEWEST_WORDS


def _without_forwarded(reading: Reading, text: str) -> Reading:
    if not (lead := _P["forwarded"].search(text)):
        return reading
    start = lead.end()
    return _with_quoted(
        reading,
        lambda each: (
            each.start >= start and bool(_P["first_person"].search(text[each.start : each.end]))
        ),
    )


def _only_within(span: tuple[int, int], reading: Reading) -> Reading:
    start, end = span
    flags = {**reading.flags, "pasted": max(reading.flags["pasted"], FLAG)}
    quoted = _with_quoted(reading, lambda each: not (start <= each.start and each.end <= end))
    return replace(quoted, flags=flags)


def _with_quoted(reading: Reading, is_quoted: Callable[[Statement], bool]) -> Reading:
    """Return the reading with the statements that `is_quoted` selects marked as quoted."""
    statements = tuple(
        marked_not_worth_keeping(each, said="quoted") if is_quoted(each) else each
        for each in reading.statements
    )
    return replace(reading, statements=statements)


def _is_paragraph(span: tuple[int, int], text: str) -> bool:
    """Return whether a line break comes directly before or after the span."""
    start, end = span
    return "\n" in text[start - 1 : start] + text[end : end + 1]


def _first_part(text: str, most: int) -> tuple[int, int]:
    """Return the span of the first paragraph.

    If the paragraph has more than `most` characters, return the span up to the first colon or
    quotation mark, or else the first sentence, or else the first `most` characters.
    """
    start = len(text) - len(text.lstrip())
    for ends in (_PARAGRAPHS, _OPENS, _SENTENCES):
        found = ends.search(text, start + 1)
        if found and found.start() - start <= most:
            return start, found.start()
    return start, start + most


def _last_part(text: str, most: int) -> tuple[int, int]:
    """Return the span of the last paragraph, or else of the last sentence.

    If both have more than `most` characters, return the span of the last `most` characters.
    """
    end = len(text.rstrip())
    for starts in (_PARAGRAPHS, _SENTENCES):
        found = [gap.end() for gap in starts.finditer(text, 0, end) if gap.end() < end]
        if found and end - found[-1] <= most:
            return found[-1], end
    return end - most, end
