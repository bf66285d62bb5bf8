"""Compare two texts word by word. Chinese text is divided into words; spaces are kept."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

import rjieba

Change = Literal["same", "removed", "added"]
_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = f"(?:(?![{_HAN}])\\w)+"
_TOKEN = re.compile(f"([{_HAN}]+)|{_WORD}(?:['’.,:-]{_WORD})*|\\s+|.", re.DOTALL)
_SENTENCE = re.compile(r"[^.!?。！？\n]*+[.!?。！？\s]*+")
_MAX_COMPARISONS = 20_000_000
_ONLY_MARKS = re.compile(r"[\W_]*")


@dataclass(frozen=True)
class Part:
    change: Change
    text: str


def diff_words(old: str, new: str) -> list[Part]:
    """Return the parts of both texts in order, each marked as same, removed or added.

    The same and the added parts together make up `new`.
    """
    before, after = _split(old, new)
    parts: list[Part] = []
    for tag, start, end, start_new, end_new in _steps(before, after):
        if tag == "equal":
            parts.append(Part("same", "".join(before[start:end])))
            continue
        if start < end:
            parts.append(Part("removed", "".join(before[start:end])))
        if start_new < end_new:
            parts.append(Part("added", "".join(after[start_new:end_new])))
    return parts


def _split(old: str, new: str) -> tuple[list[str], list[str]]:
    """Split both texts into words.

    If comparing words would take too long, split them into sentences or not at all.
    """
    for pieces in (_words, _sentences):
        before, after = list(pieces(old)), list(pieces(new))
        if _comparisons(before, after) <= _MAX_COMPARISONS:
            return before, after
    return [old], [new]


def _comparisons(before: list[str], after: list[str]) -> int:
    """Return an upper bound for the number of comparisons that difflib makes.

    It may compare each pair of equal pieces once per match.
    """
    of_after = Counter(after)
    pairs = sum(count * of_after[piece] for piece, count in Counter(before).items())
    return pairs * min(len(before), len(after))


Step = tuple[str, int, int, int, int]


def _steps(before: list[str], after: list[str]) -> list[Step]:
    """Return difflib's opcodes, with neighbouring changes merged into one.

    Changes count as neighbouring if only spaces and punctuation separate them.
    """
    steps: list[Step] = []
    opcodes = SequenceMatcher(a=before, b=after, autojunk=False).get_opcodes()
    for number, step in enumerate(opcodes):
        tag, start, end, start_new, end_new = step
        between = 0 < number < len(opcodes) - 1
        if tag == "equal" and between and _ONLY_MARKS.fullmatch("".join(before[start:end])):
            tag = "replace"
        if steps and tag != "equal" and steps[-1][0] != "equal":
            steps[-1] = ("replace", steps[-1][1], end, steps[-1][3], end_new)
        else:
            steps.append((tag, start, end, start_new, end_new))
    return steps


def _sentences(text: str) -> Iterator[str]:
    return (found[0] for found in _SENTENCE.finditer(text) if found[0])


def _words(text: str) -> Iterator[str]:
    for found in _TOKEN.finditer(text):
        if found[1]:
            yield from rjieba.cut(found[1])
        else:
            yield found[0]
