"""Counting and cutting text in tokens of the encoding o200k. No network: the package carries it."""

import warnings
from functools import cache
from itertools import accumulate
from typing import Protocol

# The encoder refuses very long input; a boundary every so many characters costs a token at most.
_SLICE = 40_000


class _Encoding(Protocol):
    def encode_ordinary(self, text: str) -> list[int]: ...
    def decode_tokens_bytes(self, tokens: list[int]) -> list[bytes]: ...


@cache
def _encoding() -> _Encoding:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # how the package opens its own files
        import bpe_openai  # half a second: paid by the first caller, not by every start

        encoding: _Encoding = bpe_openai.get_encoding("o200k_base")
    return encoding


def _encode(text: str) -> list[int]:
    encode = _encoding().encode_ordinary
    if len(text) <= _SLICE:
        return encode(text)
    return [
        token
        for start in range(0, len(text), _SLICE)
        for token in encode(text[start : start + _SLICE])
    ]


def count(text: str) -> int:
    return len(_encode(text))


def truncate(text: str, *, limit: int) -> str:
    """A beginning of `text`, as long as at most `limit` tokens allow, in whole characters."""
    if limit <= 0:
        return ""
    if len(text.encode("utf-8", "replace")) <= limit:  # a token is at least one byte
        return text
    ends = _ends(text)
    if len(ends) <= limit:
        return text
    return text[: _fitting_end(text, ends=ends, start=0, first=0, limit=limit)[0]]


def split(text: str, *, size: int = 500, overlap: int = 50) -> list[str]:
    """Pieces of at most `size` tokens, each beginning with about the last `overlap` of the former.

    Every character is in some piece. A character of more than `size` tokens stands alone.
    """
    if not 0 <= overlap < size:
        raise ValueError("overlap must be at least 0 and smaller than size")
    ends = _ends(text)
    pieces: list[str] = []
    first, start = 0, 0
    while start < len(text):
        end, last = _fitting_end(text, ends=ends, start=start, first=first, limit=size)
        end = max(end, start + 1)
        pieces.append(text[start:end])
        if end >= len(text):
            break
        first = max(first + 1, last - overlap)
        start = max(start + 1, min(end, ends[first - 1]))
    return pieces


def _fitting_end(
    text: str, *, ends: list[int], start: int, first: int, limit: int
) -> tuple[int, int]:
    """Where a piece from `start` (in token `first`) must end to have at most `limit` tokens.

    A cut text may be encoded in more tokens than it had as a part of the whole, so the piece is
    counted again and shortened until it fits. Gives the end and the token after it.
    """
    last = min(first + limit, len(ends))
    while last > first:
        end = _whole_character(text, ends[last - 1])
        excess = count(text[start:end]) - limit
        if excess <= 0:
            return end, last
        last -= excess
    return start, first


def _ends(text: str) -> list[int]:
    """For each token, how many whole characters of `text` stand before its end."""
    pieces = _encoding().decode_tokens_bytes(_encode(text))
    return list(accumulate(_characters_ended(pieces)))


def _characters_ended(pieces: list[bytes]) -> list[int]:
    ended, missing = [], 0
    for piece in pieces:
        done = 0
        for byte in piece:
            missing = missing - 1 if byte & 0xC0 == 0x80 else _continuation_bytes(byte)
            done += missing == 0
        ended.append(done)
    return ended


def _continuation_bytes(lead: int) -> int:
    return (lead >= 0xC0) + (lead >= 0xE0) + (lead >= 0xF0)


def _whole_character(text: str, end: int) -> int:
    """Steps back from inside a sequence that people see as one character (é, 👨‍👩‍👧)."""
    while 0 < end < len(text) and _joined(text[end - 1], text[end]):
        end -= 1
    return end


def _joined(before: str, after: str) -> bool:
    joiner = "\u200d"
    return (
        before == joiner
        or after == joiner
        or "\ufe00" <= after <= "\ufe0f"
        or "\u0300" <= after <= "\u036f"
        or "\U0001f3fb" <= after <= "\U0001f3ff"
    )
