"""Keyed hashes of all short windows (substrings) of a text or of raw bytes, computed by numpy.

Text is reduced to letters and digits, character by character, as in `foundation.text.shingles`:
decomposed, casefolded, without diacritics. Spellings that are equal for the residue scan are
therefore equal here too. A window has 16 letters. If at least half of a text's letters are Chinese,
its windows have 6 letters instead, of which at least half are Chinese. A shorter text is a single
window of its own length. No window contains a control character (except line ends and tabs) or
bytes that aren't UTF-8, since these separate the fields of a database page.

To hash the letters c0, c1, ..., take the sum of F(ci) * B^i modulo 2^64, where F is a random table
and B a random odd number, both part of the key. Then mix this sum with four more random words of
the key and the length of the window. The sum of any window is the difference of two prefix sums, so
hashing all windows takes only a few array operations. Two different windows have the same hash with
a probability of about 2^-60.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import shake_256

import numpy as np
import numpy.typing as npt

from foundation.text.shingles import HAN, LONG

AT_ONCE = 1 << 17  # characters
SHORTEST_BYTES = 6  # a shorter text occurs in any megabyte by chance
Words = npt.NDArray[np.uint64]
Letters = npt.NDArray[np.uint32]
Places = npt.NDArray[np.int64]
_CODES = 1 << 18  # no letter has a higher code point
_BREAK = _CODES - 1
_AT_MOST = 2  # the maximum number of letters to which one character is reduced
_HAN_FROM, _HAN_TO, _HAN_ABOVE = 0x3400, 0x9FFF, 0x20000
_NOT_BREAKING = "\t\n\v\f\r\x1c\x1d\x1e\x1f\x85"
_ITSELF = ((_HAN_FROM, _HAN_TO), (0xAC00, 0xD7A3), (_HAN_ABOVE, 0x2F7FF), (0x30000, 0x323AF))


@cache
def _alphabet() -> tuple[Letters, dict[int, str]]:
    table = np.zeros(0x110000, dtype=np.uint32)
    several: dict[int, str] = {}
    for first, last in _ITSELF:
        table[first : last + 1] = np.arange(first, last + 1)
    for code in (*range(_HAN_FROM), *range(_HAN_TO + 1, 0xAC00), *range(0xD7A4, 0xD800)):
        _add(table, several, code)
    for code in (*range(0xF900, _HAN_ABOVE), *range(0x2F800, 0x2FA20)):
        _add(table, several, code)
    return table, several


def _add(table: Letters, several: dict[int, str], code: int) -> None:
    char = chr(code)
    if char == "\ufffd" or (unicodedata.category(char) == "Cc" and char not in _NOT_BREAKING):
        table[code] = _BREAK
        return
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", char).casefold())
    kept = "".join(letter for letter in plain if letter.isalnum())[:_AT_MOST]
    if kept:
        table[code] = ord(kept[0])
    if len(kept) > 1:
        several[code] = kept


@cache
def _becomes_several() -> npt.NDArray[np.bool_]:
    marked = np.zeros(0x110000, dtype=np.bool_)
    marked[list(_alphabet()[1])] = True
    return marked


@dataclass(frozen=True)
class ReducedText:
    """The letters of a text, with `_BREAK` between its parts.

    `begins` is True for each letter that begins a word.
    """

    letters: Letters
    begins: npt.NDArray[np.bool_]


def reduce_text(text: str, *, shortest: int = 1) -> ReducedText:
    """Reduce a text to its letters. Parts with fewer than `shortest` letters are left out."""
    table, several = _alphabet()
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    letters = table[codes]
    more = np.flatnonzero(_becomes_several()[codes])
    if more.size:
        rest = [(at + 1, ord(letter)) for at in more for letter in several[int(codes[at])][1:]]
        places, added = zip(*rest, strict=True)
        letters = np.insert(letters, places, np.array(added, dtype=np.uint32))
    is_break = letters == _BREAK
    kept = letters != 0
    kept[1:] &= ~(is_break[1:] & is_break[:-1])
    at = np.flatnonzero(kept)
    letters = letters[at]
    begins = np.ones(len(at), dtype=np.bool_)
    is_break = letters == _BREAK
    begins[1:] = (np.diff(at) > 1) | is_break[:-1]
    begins &= ~is_break
    if shortest > 1:
        breaks = np.flatnonzero(is_break)
        sizes = np.diff(breaks, prepend=-1, append=len(letters))  # each includes its break
        long = np.repeat(sizes > shortest, sizes)[: len(letters)]
        letters, begins = letters[long], begins[long]
    return ReducedText(letters, begins)


def _are_han(letters: Letters) -> npt.NDArray[np.bool_]:
    low = (letters >= _HAN_FROM) & (letters <= _HAN_TO)
    found: npt.NDArray[np.bool_] = low | ((letters >= _HAN_ABOVE) & (letters != _BREAK))
    return found


def _mostly_han(letters: Letters) -> Places:
    if len(letters) < HAN:
        return np.empty(0, dtype=np.int64)
    upto = np.zeros(len(letters) + 1, dtype=np.int32)
    np.cumsum(_are_han(letters), out=upto[1:])
    return np.flatnonzero((upto[HAN:] - upto[:-HAN]) * 2 >= HAN)


@dataclass(frozen=True)
class WindowHashes:
    """The window hashes of several texts, concatenated; `counts` holds their number per text.

    `lengths` are the lengths of those texts that are shorter than a window. `left_out` counts texts
    so short that a match could be a coincidence.
    """

    hashes: Words
    counts: npt.NDArray[np.uint32]
    lengths: tuple[int, ...]
    left_out: int


class Hasher:
    """Computes the hashes of windows with one key."""

    def __init__(self, key: bytes) -> None:
        made = np.frombuffer(shake_256(key).digest(8 * (_CODES + 8)), dtype="<u8")
        made = made.astype(np.uint64)
        self._values = made[:_CODES]
        odd = int(made[_CODES]) | 1
        size = AT_ONCE * _AT_MOST
        self._up = _powers(odd, size)
        self._down = _powers(pow(odd, -1, 1 << 64), size)
        self._mixing = [np.uint64(int(word) | 1) for word in made[_CODES + 1 : _CODES + 5]]

    def sums(self, reduced: ReducedText) -> Words:
        """Return the sum for each prefix of a text. `all` and `at` compute hashes from these sums.

        Raise `ValueError` if the text has more than `AT_ONCE * _AT_MOST` letters.
        """
        letters = reduced.letters
        if len(letters) > len(self._up):
            raise ValueError("too long")
        sums = np.zeros(len(letters) + 1, dtype=np.uint64)
        terms = self._values[letters]
        terms *= self._up[: len(letters)]
        np.cumsum(terms, out=sums[1:])
        return sums

    def all(self, sums: Words, length: int) -> Words:
        """Return the hash of every run of `length` letters, from the prefix sums of a text."""
        if len(sums) <= length:
            return sums[:0]
        window = sums[length:] - sums[:-length]
        window *= self._down[: len(window)]
        return self._mixed(window, length)

    def at(self, sums: Words, places: Places, length: int) -> Words:
        """Return the hashes of the windows of this length that start at these places.

        Windows that would reach beyond the end are left out.
        """
        places = places[places + length < len(sums)]
        window = sums[places + length] - sums[places]
        window *= self._down[places]
        return self._mixed(window, length)

    def _mixed(self, window: Words, length: int) -> Words:
        """Turn the sums of windows of this length into their hashes, and return the same array.

        The steps are those of splitmix64, with random words of the key.
        """
        first, second, third, fourth = self._mixing
        window += np.uint64(int(first) * length % (1 << 64))
        for shift, word in ((30, second), (27, third), (31, fourth)):
            window ^= window >> np.uint64(shift)
            window *= word
        window ^= window >> np.uint64(32)
        return window

    def window_hashes(self, texts: Iterable[str]) -> Iterable[WindowHashes]:
        """Yield the hashes to be stored for these texts, in batches."""
        batch: list[str] = []
        size = 0
        for text in texts:
            for start in range(0, len(text), AT_ONCE // 2):
                part = text[max(0, start - LONG) : start + AT_ONCE // 2]
                if batch and size + len(part) > AT_ONCE // 2:
                    yield self._hash_batch(batch)
                    batch, size = [], 0
                batch.append(part)
                size += len(part) + 1
        if batch:
            yield self._hash_batch(batch)

    def _hash_batch(self, texts: Sequence[str]) -> WindowHashes:
        reduced = reduce_text("\0".join(texts))
        sums = self.sums(reduced)
        letters = reduced.letters
        breaks = np.flatnonzero(letters == _BREAK)
        firsts = np.concatenate([[0], breaks + 1])
        lasts = np.concatenate([breaks, [len(letters)]])
        han = np.concatenate([[0], np.cumsum(_are_han(letters))])
        sizes = lasts - firsts
        long = np.where((han[lasts] - han[firsts]) * 2 >= sizes, HAN, LONG)
        whole = sizes >= long
        owner = np.repeat(np.arange(len(sizes)), sizes + 1)[: len(letters)]
        found, owners = [], []
        for length, places in (
            (LONG, np.arange(max(0, len(letters) - LONG + 1))),
            (HAN, _mostly_han(letters)),
        ):
            own = owner[places]
            fits = whole[own] & (long[own] == length) & (places + length <= lasts[own])
            found.append(self.at(sums, places[fits], length))
            owners.append(own[fits])
        lengths: set[int] = set()
        left_out = 0
        for number in np.flatnonzero(~whole & (sizes > 0)):
            first, length = int(firsts[number]), int(sizes[number])
            text = "".join(map(chr, letters[first : first + length]))
            if len(text.encode("utf-8", "replace")) < SHORTEST_BYTES:
                left_out += 1
                continue
            lengths.add(length)
            found.append(self.at(sums, np.array([first]), length))
            owners.append(np.array([number]))
        hashes, numbers = np.concatenate(found), np.concatenate(owners)
        order = np.argsort(numbers, kind="stable")
        counts = np.unique(numbers, return_counts=True)[1].astype(np.uint32)
        return WindowHashes(hashes[order], counts, tuple(sorted(lengths)), left_out)


def _powers(base: int, count: int) -> Words:
    powers = np.full(count, base, dtype=np.uint64)
    powers[0] = 1
    np.multiply.accumulate(powers, out=powers)
    return powers


class HashSearch:
    """Known hashes that are searched for in texts."""

    def __init__(self, hasher: Hasher, hashes: Words, lengths: Iterable[int]) -> None:
        self._hasher = hasher
        self.hashes = np.unique(hashes)
        self._lengths = sorted(set(lengths))
        self.shortest = min([HAN, *self._lengths])
        bits = min(26, max(16, len(self.hashes).bit_length() + 4))
        self._shift = np.uint64(64 - bits)
        self._sieve = np.zeros(1 << bits, dtype=np.bool_)
        self._sieve[self.hashes >> self._shift] = True

    def within(self, reduced: ReducedText, *, short: bool = True) -> Places:
        """Return the indexes of the known hashes that occur in a text.

        With `short`, texts shorter than a window are searched for as well, but only at the start of
        a word or one letter later: the byte before a field, which contains its length, may look
        like a letter.
        """
        sums = self._hasher.sums(reduced)
        made = [self._hasher.all(sums, LONG)]
        made.append(self._hasher.at(sums, _mostly_han(reduced.letters), HAN))
        if short and self._lengths:
            begins = reduced.begins.copy()
            begins[1:] |= reduced.begins[:-1] & (reduced.letters[:-1] < 128)
            places = np.flatnonzero(begins)
            made += [self._hasher.at(sums, places, length) for length in self._lengths]
        found = [self._numbers(hashes) for hashes in made]
        return np.unique(np.concatenate(found))

    def _numbers(self, hashes: Words) -> Places:
        some = hashes[self._sieve[hashes >> self._shift]]
        at = np.searchsorted(self.hashes, some)
        at[at == len(self.hashes)] = 0
        found: Places = at[self.hashes[at] == some] if len(self.hashes) else at[:0]
        return found
