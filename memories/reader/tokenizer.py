"""Cuts texts into the pieces of a Unigram vocabulary, with offsets (Kudo, 2018)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import marisa_trie
import numpy as np

BEGIN, PAD, END, UNKNOWN = 0, 1, 2, 3
SPACE = "\u2581"
_LONGEST = 24  # signs; no piece of the vocabulary is longer


@dataclass(frozen=True)
class Token:
    """One piece of a text: `text[start:end]` is what it stands for."""

    id: int
    start: int
    end: int


class Tokenizer:
    """The likeliest pieces of a text, by Viterbi over a trie.

    `pieces` and `scores` are the vocabulary, the first four being the control tokens; `normal`
    maps a code point to the text that replaces it first. Time grows linearly with the text.
    """

    def __init__(
        self, pieces: Sequence[str], scores: Sequence[float], normal: Mapping[int, str]
    ) -> None:
        numbers = {piece: n for n, piece in enumerate(pieces) if piece and n > UNKNOWN}
        self._trie = marisa_trie.Trie(numbers)
        order = np.fromiter((self._trie[piece] for piece in numbers), np.int32, len(numbers))
        self._ids = np.zeros(len(numbers), np.int32)
        self._ids[order] = np.fromiter(numbers.values(), np.int32, len(numbers))
        self._scores = np.asarray(scores, np.float32)
        self._unknown = float(self._scores.min()) - 10
        # Half of a pair of code units, which no trie takes.
        self._normal = {**dict.fromkeys(range(0xD800, 0xE000), "\ufffd"), **normal}

    def tokens(self, text: str) -> list[Token]:
        """The tokens of `text`, with offsets into `text` as it was given."""
        normal, origin = self._normalize(text)
        return [
            Token(number, origin[start], origin[end - 1] + 1)
            for number, start, end in self._best(normal)
        ]

    def _normalize(self, text: str) -> tuple[str, list[int]]:
        letters, origin = [SPACE], [0]
        for at, sign in enumerate(text):
            for letter in self._normal.get(ord(sign), sign):
                if letter != " ":
                    letters.append(letter)
                elif letters[-1] != SPACE:
                    letters.append(SPACE)
                else:
                    continue
                origin.append(at)
        return "".join(letters), origin

    def _best(self, text: str) -> list[tuple[int, int, int]]:
        size = len(text)
        score = [0.0] + [float("-inf")] * size
        back = [(0, UNKNOWN)] * (size + 1)
        for start in range(size):
            base = score[start]
            for piece in self._trie.prefixes(text[start : start + _LONGEST]):
                number = int(self._ids[self._trie[piece]])
                end, reached = start + len(piece), base + float(self._scores[number])
                if reached > score[end]:
                    score[end], back[end] = reached, (start, number)
            if base + self._unknown > score[start + 1]:
                score[start + 1], back[start + 1] = base + self._unknown, (start, UNKNOWN)
        path, end = [], size
        while end:
            start, number = back[end]
            path.append((number, start, end))
            end = start
        return path[::-1]
