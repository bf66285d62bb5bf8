"""Unigram tokenizer with offsets: pieces by Viterbi over a dictionary (Kudo, 2018)."""

from dataclasses import dataclass

from training.base import UNKNOWN, Base

SPACE = "\u2581"


@dataclass(frozen=True)
class Token:
    """One piece of a text: `text[start:end]` is what it stands for."""

    id: int
    start: int
    end: int


class Tokenizer:
    """Cuts texts into the pieces of a vocabulary. Deterministic; linear in the text's length."""

    def __init__(self, base: Base) -> None:
        self._found: dict[str, tuple[float, int]] = {}
        for number, piece in enumerate(base.pieces):
            if piece and number > UNKNOWN:
                self._found.setdefault(piece, (float(base.scores[number]), number))
        self._normal = base.normal
        self._longest = min(24, max(map(len, self._found)))
        self._unknown = float(base.scores.min()) - 10

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
            for end in range(start + 1, min(size, start + self._longest) + 1):
                known = self._found.get(text[start:end])
                if known and base + known[0] > score[end]:
                    score[end], back[end] = base + known[0], (start, known[1])
            if base + self._unknown > score[start + 1]:
                score[start + 1], back[start + 1] = base + self._unknown, (start, UNKNOWN)
        path, end = [], size
        while end:
            start, number = back[end]
            path.append((number, start, end))
            end = start
        return path[::-1]
