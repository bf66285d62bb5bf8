"""Find copies of erased texts by keyed hashes, without storing the texts.

Strings are extracted from JSON, lists and base64 data. They are normalised and cut into overlapping
pieces (shingles) by `foundation.text.shingles`. Only a hash of each shingle is stored: 64 bits
of BLAKE2b with a random key. A field counts as containing a text if it contains at least half of
the text's hashes.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson

from foundation.text import shingles

_KEPT = 100_000  # cached pieces
Hashes = npt.NDArray[np.int64]
_ENCODED_AT_LEAST = 24


@dataclass(frozen=True)
class Fingerprint:
    digest: int
    size: int
    hashes: Sequence[int]


@dataclass(frozen=True)
class FoundText:
    """The index of a known text that was found in a field, and the hashes that matched."""

    number: int
    hashes: Hashes


def pieces_of(texts: Iterable[str]) -> frozenset[str]:
    """Return all shingles of these texts, in the sizes for Chinese and for other texts."""
    found: set[str] = set()
    for plain in map(shingles.normalise, texts):
        for size in (shingles.LONG, shingles.HAN):
            found |= shingles.shingles(plain, size=size)
    return frozenset(found)


def fingerprint(
    text: str, *, key: bytes, without: frozenset[str] = frozenset()
) -> Fingerprint | None:
    """Return the hashes of a text, or None if no shingle is left to hash.

    Shingles in `without` are left out.
    """
    plain = shingles.normalise(text)
    size = shingles.size_for(plain)
    pieces = shingles.shingles(plain, size=size) - without
    if not pieces:
        return None
    whole = _hash(plain.encode(), key=key, size=0)
    return Fingerprint(whole, size, sorted(_hash(p.encode(), key=key, size=size) for p in pieces))


class Fingerprints:
    """A search for texts of which only the hashes are known."""

    def __init__(self, key: bytes, prints: Iterable[tuple[int, Sequence[int]]]) -> None:
        self._key = key
        known = list(prints)
        self._sizes = sorted({size for size, _ in known})
        self._needed = np.array([len(hashes) for _, hashes in known], dtype=np.int64)
        flat = [np.asarray(hashes, dtype=np.int64) for _, hashes in known]
        values = np.concatenate(flat) if flat else np.empty(0, dtype=np.int64)
        numbers = np.repeat(np.arange(len(known)), self._needed)
        order = np.argsort(values, kind="stable")
        self._values, self._numbers = values[order], numbers[order]
        self._made = {size: _PieceHashCache(key, size) for size in self._sizes}

    def __len__(self) -> int:
        return len(self._needed)

    def texts_found_in(self, strings: Sequence[str], *, short: bool = True) -> list[FoundText]:
        """Return the known texts of which a field contains at least half of the hashes.

        `strings` are the strings in the field. With `short`, a text shorter than a shingle is found
        too, if it forms a whole line of the field.
        """
        found = self.within(strings, short=short)
        if not found.size:
            return []
        start = np.searchsorted(self._values, found, side="left")
        stop = np.searchsorted(self._values, found, side="right")
        owners = np.concatenate([self._numbers[a:b] for a, b in zip(start, stop, strict=True)])
        values = np.repeat(found, stop - start)
        counts = np.bincount(owners, minlength=len(self._needed))
        enough = np.flatnonzero((counts * 2 >= self._needed) & (counts > 0))
        return [FoundText(int(number), values[owners == number]) for number in enough]

    def within(self, strings: Sequence[str], *, short: bool = True) -> Hashes:
        """Return those hashes of known texts that occur in a field, given as its strings."""
        if not self._values.size:
            return self._values
        wanted = set(self._of(strings, short=short))
        if not wanted:
            return self._values[:0]
        made = np.fromiter(wanted, dtype=np.int64)
        at = np.searchsorted(self._values, made)
        at[at == self._values.size] = 0
        found: Hashes = made[self._values[at] == made]
        return found

    def _of(self, strings: Sequence[str], *, short: bool) -> Iterator[int]:
        lines = [shingles.normalise(line) for string in strings for line in string.splitlines()]
        whole = "".join(lines)
        for size in self._sizes:
            if size == shingles.HAN and not shingles.has_han(whole):
                continue
            pieces = set(shingles.shingles(whole, size=size)) if len(whole) >= size else set()
            if short:
                pieces.update(line for line in lines if 0 < len(line) < size)
            yield from map(self._made[size].__getitem__, pieces)


class _PieceHashCache(dict[str, int]):
    def __init__(self, key: bytes, size: int) -> None:
        self._key, self._size = key, size

    def __missing__(self, piece: str) -> int:
        if len(self) >= _KEPT:
            self.clear()
        made = self[piece] = _hash(piece.encode(), key=self._key, size=self._size)
        return made


class TextFingerprints(Fingerprints):
    """A search for texts given in full.

    Texts shorter than a shingle are found anywhere in a field.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        plain = list(filter(None, map(shingles.normalise, texts)))
        found = [known for text in plain if (known := fingerprint(text, key=b"by hand"))]
        super().__init__(b"by hand", [(known.size, known.hashes) for known in found])
        self._short = [
            (number, text)
            for number, text in enumerate(plain)
            if len(text) < shingles.size_for(text)
        ]

    def texts_found_in(self, strings: Sequence[str], *, short: bool = True) -> list[FoundText]:
        found = super().texts_found_in(strings, short=short)
        known = {text.number for text in found}
        whole = "\n".join(map(shingles.normalise, strings))
        nothing = np.empty(0, dtype=np.int64)
        more = [n for n, text in self._short if n not in known and text in whole]
        return found + [FoundText(number, nothing) for number in more]


def _hash(piece: bytes, *, key: bytes, size: int) -> int:
    made = blake2b(piece, digest_size=8, key=key, salt=bytes([size]))
    return int.from_bytes(made.digest(), "big", signed=True)


def strings_in(value: Any) -> Iterator[str]:
    """Yield every string in the value.

    A string of JSON is replaced with the strings in it. Base64 text is yielded both as it is and
    decoded.
    """
    if isinstance(value, str):
        yield from _strings_of_text(value)
    elif isinstance(value, bytes | bytearray | memoryview):
        yield from _strings_of_text(bytes(value).decode("utf-8", errors="ignore"))
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield from strings_in(name)
            yield from strings_in(item)
    elif isinstance(value, list | tuple | set | frozenset):
        for item in value:
            yield from strings_in(item)


def _strings_of_text(text: str) -> Iterator[str]:
    inside = _parsed(text)
    if inside is not None:
        yield from strings_in(inside)
        return
    yield text
    plain = _decoded(text)
    if plain is not None:
        yield from strings_in(plain)


def _parsed(text: str) -> Any:
    if text[:1] not in ("{", "[", '"'):
        return None
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return None


def _decoded(text: str) -> str | None:
    if len(text) < _ENCODED_AT_LEAST or len(text) % 4 or " " in text:
        return None
    try:
        return base64.b64decode(text, validate=True).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return None
