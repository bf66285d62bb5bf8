"""Judge whether a possible secret is a real secret, by its form and the words around it.

The judge is a logistic regression in two steps. The first step sees only the text: hashed words,
pairs of words and the shape of the span. The second step adds the reader model's probability and
whether a rule found the span. `bench/secret_weights.py` fits both to `bench/data/secrets`.
"""

from __future__ import annotations

import math
import re
import zlib
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memories.screening import safe_patterns

FEATURES = 1 << 16  # number of hashed features
SECRET = 0.42  # minimum probability at which a span counts as a secret
OF_FORM = 0.05  # the same minimum for a span with the form of a secret
WEIGHTS = Path(__file__).parent / "data" / "secret_judge.npz"
_LEAST = 1e-4  # probabilities of the reader model are limited to _LEAST and 1 - _LEAST
# `re` splits ten times as fast as RE2 and can't backtrack here: each match is a single run.
_WORD = re.compile(r"[A-Za-z]+|[0-9]+|[^\t\n\f\r A-Za-z0-9]")
_SHAPES = (
    (safe_patterns.compile(r"[A-Z]+"), "A"),
    (safe_patterns.compile(r"[a-z]+"), "a"),
    (safe_patterns.compile(r"[0-9]"), "0"),
    (safe_patterns.compile(r"\p{Han}+"), "字"),
)
_NEAR, _AROUND = 70, 300  # characters before and after the span
_BEFORE, _AFTER = 14, 9  # number of nearest words whose side (before or after) is a feature
_CLOSE = 4  # number of nearest words whose distance is a feature as well
_LONGEST = 24  # characters of a span and of its shape
Weights = NDArray[np.float32]


@dataclass(frozen=True)
class Candidate:
    """A span `text[start:end]` that may be a secret.

    `share` is the reader model's highest probability in the span. `by_rule` is True if a rule
    found the span, and `by_form` if the span has the form of a secret, such as a card number.
    """

    start: int
    end: int
    category: str
    share: float
    by_rule: bool
    by_form: bool


class Words:
    """The words, numbers and symbols of a text, in lower case. The text is split only once."""

    def __init__(self, text: str) -> None:
        self.text = text

    def between(self, start: int, end: int) -> list[str]:
        """Return the words of `text[start:end]`, with "0" in place of each number.

        Words that cross `start` or `end` are cut.
        """
        words, starts, ends = self._found
        first, last = bisect_right(ends, start), bisect_left(starts, end)
        found = words[first:last]
        for at in {first, last - 1} if found else ():
            found[at - first] = self.text[max(starts[at], start) : min(ends[at], end)].lower()
        return ["0" if word.isdigit() else word for word in found]

    @cached_property
    def _found(self) -> tuple[list[str], list[int], list[int]]:
        spans = [found.span() for found in _WORD.finditer(self.text)]
        words = [self.text[start:end].lower() for start, end in spans]
        return words, [start for start, _ in spans], [end for _, end in spans]


def probability(words: Words, candidate: Candidate) -> float:
    """Return the probability that the candidate is a secret.

    The candidate is a span of the text from which `words` was made.
    """
    weights, signals = _weights()
    found = features(words, candidate.start, candidate.end)
    by_text = float(weights[found].sum()) / math.sqrt(len(found)) + float(weights[FEATURES])
    return 1 / (1 + math.exp(-float(signals @ np.array(values(candidate, by_text)))))


def values(candidate: Candidate, by_text: float) -> list[float]:
    """Return the inputs of the second step; `by_text` is the logit that the first step returns."""
    share = min(max(candidate.share, _LEAST), 1 - _LEAST)
    read = math.log(share / (1 - share))
    return [by_text, read, float(candidate.by_rule), float(candidate.by_form), 1.0]


def features(words: Words, start: int, end: int) -> list[int]:
    """Return the features of the span from `start` to `end`: sorted numbers below `FEATURES`."""
    before = words.between(max(0, start - _NEAR), start)[-_BEFORE:][::-1]
    after = words.between(end, end + _NEAR)[:_AFTER]
    span = words.text[start:end]
    names = {f"whole {span.lower()[:_LONGEST]}", f"shape {_shape(span)[:_LONGEST]}"}
    names |= {f"length {min(len(span), 30)}", f"words {len(span.split())}"}
    names.add(f"digits {sum(map(str.isdigit, span))}")
    for side, near in (("before", before), ("after", after)):
        names |= {f"{side} {word}" for word in near}
        names |= {f"{side} {at} {word}" for at, word in enumerate(near[:_CLOSE])}
        names |= {f"{side} {one} {other}" for one, other in pairwise(near)}
        names |= {
            f"{side} {' '.join(three)}" for three in zip(near, near[1:], near[2:], strict=False)
        }
    around = words.between(max(0, start - _AROUND), end + _AROUND)
    names |= {f"near {word}" for word in around}
    names |= {f"near {one} {other}" for one, other in pairwise(around)}
    return sorted({zlib.crc32(name.encode("utf-8", "replace")) % FEATURES for name in names})


def _shape(span: str) -> str:
    for pattern, sign in _SHAPES:
        span = pattern.sub(sign, span)
    return span


@cache
def _weights() -> tuple[Weights, Weights]:
    """Return the weights of the two steps; the last weight of the first step is its bias."""
    with np.load(WEIGHTS) as stored:
        return stored["words"].astype(np.float32), stored["signals"].astype(np.float32)
