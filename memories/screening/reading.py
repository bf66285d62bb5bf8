"""Secrets that no form and no word gives away: the reader tells them by how they are told.

Reading takes some milliseconds, so it is for what is derived from messages and for what is written
as a memory; where somebody waits for a page, the places found when a message was learned from are
used (`Message.secrets`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memories.reader import Reading, reader
from memories.screening import finding, linear
from memories.screening.finding import Span

CATEGORY = "password"
# What a number or a name of this kind tells is no secret: the reader has seen too few of them.
_HARMLESS = linear.compile(
    r"(?i)(?:\b(?:phone|mobile|cell|tel|telephone|fax|orders?|invoice|receipt|tracking|parcel|shipment"
    r"|flight|train|bus|line|gate|room|ward|seat|booking|reservation|reference|ref|ticket|appointment"
    r"|commit|bisect|hash|md5|sha-?\d*|etag|trace_?id|version|tag|release|port|ports|error|exit|transaction|process"
    r"|isbn|page|chapter|model|plate|zip|alarm|postcode|extension|ext|press|tokens)"
    r"|电话|電話|手机号?|手機|座机|订单|訂單|单号|單號|快递|运单|航班|车次|房间|房號|座位|预订|编号|編號"
    r"|提交|版本|端口|错误|报错|车牌|邮编|型号|尾号|第)"
    r"(?:[\s:：#=]|\bis\b|\bat\b|\bthere\b|\bno\b\.?|\bnumber\b|\bcode\b|号码?|號碼?|是|为|叫){0,8}$"
)
# Hashes, trace ids, long numbers: with a word that makes them secret `finding` takes them itself.
_NAMES_A_THING = linear.compile(
    r"(?i)^(?:[0-9a-f-]{7,}|\d[\d .-]{7,}|(?:\d{1,2}[ ,，]+){4,}\d{1,2}|1Z[0-9A-Z ]{10,}|KB\d{5,}"
    r"|.*\b(?:0x[0-9a-f]+|[a-h][1-8])\b.*)$"
)
_DATE = linear.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}")
_FEWEST_DIGITS = 10  # a shorter number may well be a PIN
_BEFORE = 32  # signs in which the word is looked for
_known = finding.Places()


def find(text: str) -> tuple[Span, ...]:
    """All secrets of `text`, in order and without overlap: of `finding.find` and of the reader.

    What was found is known for a while, as in `finding`: only the places, never the text.
    """
    return _known.of(text, lambda unread: of_reading(unread, reader().read(unread)))


def of_reading(text: str, reading: Reading) -> tuple[Span, ...]:
    """The same of a message that was read already."""
    seen = [_tight(text, one.start, one.end) for one in reading.secrets]
    spans = [Span(start, end, CATEGORY) for start, end in seen if start < end]
    told = [one for one in _not_masked(text, spans) if not _is_harmless(text, one)]
    return finding.joined([*finding.find(text), *told])


def at(places: Sequence[int], text: str) -> tuple[Span, ...]:
    """The secrets of a message at places kept with it: start, end, start, end …"""
    pairs = zip(places[::2], places[1::2], strict=True)
    return tuple(Span(start, end, CATEGORY) for start, end in pairs if end <= len(text))


def _tight(text: str, start: int, end: int) -> tuple[int, int]:
    """Without the space and the signs around it that surely belong to the sentence."""
    while start < end and text[start] in " \t\n,，。:：;；\"'“”「」":
        start += 1
    while start < end and text[end - 1] in " \t\n,，。;；\"'“”「」":
        end -= 1
    return start, end


def _is_harmless(text: str, span: Span) -> bool:
    start, end = span.start, span.end
    while start > 0 and _is_of_a_name(text[start - 1]):
        start -= 1
    while end < len(text) and _is_of_a_name(text[end]):
        end += 1
    word = text[start:end].strip()
    short = sum(map(str.isdigit, word)) < _FEWEST_DIGITS and not any(map(str.isalpha, word))
    names = not short and _NAMES_A_THING.search(word) is not None
    names = names or _DATE.fullmatch(word) is not None
    return names or _HARMLESS.search(text[max(0, start - _BEFORE) : start]) is not None


def _is_of_a_name(sign: str) -> bool:
    return sign.isascii() and (sign.isalnum() or sign == "-")


def _not_masked(text: str, spans: Iterable[Span]) -> list[Span]:
    marks = finding.marks(text)
    return [one for one in spans if not finding.is_covered(one, marks)]
