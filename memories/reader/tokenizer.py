"""Split texts into the tokens of a Unigram vocabulary, with character offsets (Kudo, 2018)."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

import marisa_trie
import numpy as np
from numpy.typing import NDArray

BEGIN, PAD, END, UNKNOWN = 0, 1, 2, 3
SPACE = "\u2581"
# The ids of the pieces; the places of their scores in the file of scores.
_ARRAYS = ("pieces_ids.npy", "pieces_places.npy", "pieces_scores.npy")
_LONGEST = 24  # characters; no piece of the vocabulary is longer
_NO_PIECE = -1
_FEWEST_CAPITALS, _FEWEST_WORDS = 12, 3  # a text with fewer may be a code or a name
_SPACES = re.compile(f"(?<=[ {SPACE}]) +")
_CAPITALS = 0.8  # share of capitals among all letters


class Token(NamedTuple):
    """A token of the vocabulary; it encodes `text[start:end]`."""

    id: int
    start: int
    end: int


class Tokenizer:
    """A tokenizer that finds the most probable tokens by the Viterbi algorithm over a trie.

    The time is linear in the length of the text. `ids[n]` is the id of the piece with the number n
    in the trie, and `scores[n]` is its log-probability. `normal` maps code points to the text that
    replaces them before tokenization.
    """

    def __init__(
        self,
        trie: marisa_trie.Trie,
        ids: NDArray[np.int32],
        scores: NDArray[np.float32],
        normal: Mapping[int, str],
    ) -> None:
        self._trie, self._ids, self._scores = trie, ids, scores
        self._unknown = float(scores.min()) - 10
        # Replace lone surrogates, which the trie can't store.
        self._normal = {**dict.fromkeys(range(0xD800, 0xE000), "\ufffd"), **normal}

    @classmethod
    def of(cls, pieces: Sequence[str], scores: Sequence[float], normal: Mapping[int, str]) -> Self:
        """Build a tokenizer from a vocabulary whose first four pieces are the control tokens."""
        numbers = {piece: n for n, piece in enumerate(pieces) if piece and n > UNKNOWN}
        trie = marisa_trie.Trie(numbers)
        ids = np.zeros(len(numbers), np.int32)
        for piece, number in numbers.items():
            ids[trie[piece]] = number
        return cls(trie, ids, np.asarray(scores, np.float32)[ids], normal)

    @classmethod
    def load(cls, folder: Path, normal: Mapping[int, str]) -> Self:
        """Load the tokenizer that was saved to `folder`; the large files are memory-mapped."""
        trie = marisa_trie.Trie()
        trie.mmap(str(folder / "pieces.marisa"))
        ids, places, scores = (
            np.asarray(np.load(folder / name, mmap_mode="r")) for name in _ARRAYS
        )
        return cls(trie, ids, scores[places], normal)

    def save(self, folder: Path) -> None:
        """Save the tokenizer, except for `normal`, as four files in `folder`.

        Many pieces have the same score, so each different score is stored once. Raise
        `OverflowError` if there are more than 65,536.
        """
        self._trie.save(str(folder / "pieces.marisa"))
        scores, places = np.unique(self._scores, return_inverse=True)
        if len(scores) > np.iinfo(np.uint16).max + 1:
            raise OverflowError("The vocabulary has too many different scores.")
        arrays: tuple[NDArray[Any], ...] = (self._ids, places.astype(np.uint16), scores)
        for name, array in zip(_ARRAYS, arrays, strict=True):
            np.save(folder / name, array)

    def tokens(self, text: str, *, most: int | None = None) -> list[Token]:
        """Return the tokens of `text`, or only the first `most`, with offsets into `text`.

        A text written in capitals is tokenized in lower case, because its words would otherwise be
        split into pieces that the encoder does not know.
        """
        if not text:
            return []
        normal, origin = self._normalize(text.lower() if _is_in_capitals(text) else text)
        return [
            Token(number, origin[start], origin[end - 1] + 1)
            for number, start, end in self._best(normal, most)[:most]
        ]

    def _normalize(self, text: str) -> tuple[str, list[int]]:
        """Return the normalized text, and the original position of each of its characters."""
        replacements = {sign: self._normal.get(ord(sign), sign) for sign in set(text)}
        if all(len(letters) == 1 for letters in replacements.values()):
            plain = text.translate({ord(sign): letters for sign, letters in replacements.items()})
            origin = list(range(len(text)))
        else:
            plain = "".join(map(replacements.__getitem__, text))
            origin = [at for at, sign in enumerate(text) for _ in replacements[sign]]
        parts, starts, last = [SPACE], [0], 0
        for spaces in _SPACES.finditer(SPACE + plain):  # collapse several spaces
            start, end = spaces.start() - 1, spaces.end() - 1
            parts.append(plain[last:start])
            starts += origin[last:start]
            last = end
        parts.append(plain[last:])
        return "".join(parts).replace(" ", SPACE), starts + origin[last:]

    def _best(self, text: str, most: int | None) -> list[tuple[int, int, int]]:
        """Return the id, start and end of each token of the most probable split.

        If `most` is given, the split may stop early, but not before `most` tokens are found. It
        stops at a position that no piece of the vocabulary can span, because the tokens before such
        a position are final.
        """
        size, prefixes, worth = len(text), self._trie.iter_prefixes_with_ids, self._scores.item
        score = [0.0] + [float("-inf")] * size
        back = [(0, _NO_PIECE)] * (size + 1)
        path: list[tuple[int, int, int]] = []
        decided = end = reach = 0
        for start in range(size):
            if start == reach and most is not None:
                path += self._path(back, decided, start)
                if len(path) >= most:
                    return path
                decided = start
            base = score[start]
            for piece, place in prefixes(text[start : start + _LONGEST]):
                end, reached = start + len(piece), base + worth(place)
                if reached > score[end]:
                    score[end], back[end] = reached, (start, place)
            if base + self._unknown > score[start + 1]:
                score[start + 1], back[start + 1] = base + self._unknown, (start, _NO_PIECE)
            if end > reach or reach == start:  # the last piece is the longest
                reach = max(end, start + 1)
        return path + self._path(back, decided, size)

    def _path(
        self, back: Sequence[tuple[int, int]], first: int, end: int
    ) -> list[tuple[int, int, int]]:
        path = []
        while end > first:
            start, place = back[end]
            path.append((UNKNOWN if place == _NO_PIECE else int(self._ids[place]), start, end))
            end = start
        return path[::-1]


def _is_in_capitals(text: str) -> bool:
    """Return whether a text of several words is written almost entirely in capitals.

    Return False if its length would change in lower case, because offsets would then be wrong.
    """
    capitals = sum(map(str.isupper, text))
    if capitals < _FEWEST_CAPITALS or capitals < _CAPITALS * sum(map(str.isalpha, text)):
        return False
    words = sum(word.isalpha() and word.isupper() for word in text.split())
    return words >= _FEWEST_WORDS and len(text.lower()) == len(text)
