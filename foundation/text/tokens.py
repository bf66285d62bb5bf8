"""Count the tokens of a text in OpenAI's encoding o200k, and cut texts by number of tokens.

Each line of `o200k_base.tiktoken.gz` is one token: its bytes in base64, and its rank.
"""

import base64
import gzip
from bisect import bisect_left, bisect_right
from functools import cache
from itertools import accumulate
from pathlib import Path

from tiktoken import Encoding

# Texts are encoded in slices, since a very long run of one character would need a deep stack. Each
# cut adds at most one token.
_SLICE = 40_000
_PIECES = Path(__file__).with_name("o200k_base.tiktoken.gz")
# The pattern with which tiktoken (`openai_public.py`) splits text into words.
_ENDING = "(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_WORDS = "|".join(
    (
        rf"[^\r\n\p{{L}}\p{{N}}]?[\p{{Lu}}\p{{Lt}}\p{{Lm}}\p{{Lo}}\p{{M}}]*"
        rf"[\p{{Ll}}\p{{Lm}}\p{{Lo}}\p{{M}}]+{_ENDING}",
        rf"[^\r\n\p{{L}}\p{{N}}]?[\p{{Lu}}\p{{Lt}}\p{{Lm}}\p{{Lo}}\p{{M}}]+"
        rf"[\p{{Ll}}\p{{Lm}}\p{{Lo}}\p{{M}}]*{_ENDING}",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    )
)


@cache
def _encoding() -> Encoding:
    pieces: dict[bytes, int] = {}
    with gzip.open(_PIECES, "rb") as lines:
        for line in lines:
            piece, rank = line.split()
            pieces[base64.b64decode(piece)] = int(rank)
    found = Encoding("o200k_base", pat_str=_WORDS, mergeable_ranks=pieces, special_tokens={})
    # The encoding now has its own copy; it keeps this dict (23 MB) only for methods not used here.
    pieces.clear()
    return found


def _encode(text: str) -> list[int]:
    encode = _encoding().encode_ordinary
    whole = text.encode("utf-8", "replace").decode()  # a lone surrogate becomes "?"
    return [
        token
        for start in range(0, len(whole), _SLICE)
        for token in encode(whole[start : start + _SLICE])
    ]


def count(text: str) -> int:
    return len(_encode(text))


def truncate(text: str, *, limit: int) -> str:
    """Return the longest beginning of `text` that has at most `limit` tokens.

    A character is never split.
    """
    if limit <= 0:
        return ""
    if len(text.encode("utf-8", "replace")) <= limit:  # a token is at least one byte
        return text
    ends = _ends(text)
    if len(ends) <= limit:
        return text
    return text[: _fitting_end(text, ends=ends, start=0, first=0, limit=limit)]


def split(text: str, *, size: int = 500, overlap: int = 50) -> list[str]:
    """Split the text into pieces of at most `size` tokens that overlap by about `overlap` tokens.

    Every character is in at least one piece. A character with more than `size` tokens is a piece of
    its own.
    """
    if not 0 <= overlap < size:
        raise ValueError("overlap must be at least 0 and smaller than size")
    ends = _ends(text)
    pieces: list[str] = []
    start = reached = 0
    while reached < len(text):
        first = bisect_right(ends, start)
        end = _fitting_end(text, ends=ends, start=start, first=first, limit=size)
        if end <= reached:  # no new character fits
            end, start = reached + 1, reached
        pieces.append(text[start:end])
        overlapping = ends[max(bisect_left(ends, end) - overlap, 0)]
        start, reached = min(end, max(start + 1, overlapping)), end
    return pieces


def _fitting_end(text: str, *, ends: list[int], start: int, first: int, limit: int) -> int:
    """Return the end of the longest piece from `start` that has at most `limit` tokens.

    `first` is the index of the token at `start`. A piece may have more tokens than the same
    characters have within the whole text, so the piece is counted again and shortened until it
    fits. Return `start` if not even one character fits.
    """
    last = min(first + limit, len(ends))
    while last > first:
        end = _whole_character(text, ends[last - 1])
        excess = count(text[start:end]) - limit
        if excess <= 0:
            return end
        last -= excess
    return start


def _ends(text: str) -> list[int]:
    piece = _encoding().decode_single_token_bytes
    return list(accumulate(_characters_ended([piece(token) for token in _encode(text)])))


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
    """Return `end`, moved left if it would split a character of several code points (é, 👨‍👩‍👧)."""
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
