"""Replace a name or a noun of an earlier message by the one that a correction gives.

The functions that replace return an empty string if it is unclear which words are wrong.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher

import rjieba

from memories.extraction.wording.chinese_subjects import leading_name, names

ALIKE = 0.6  # similarity from which a word counts as a misspelling of the right word
NAME = re.compile(r"\b[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)*")
_WORD = re.compile(r"[^\W\d_]{3,}")
_HAN = re.compile(r"[\u4e00-\u9fff]")


def substituted(earlier: str, right: str, wrong: str) -> str:
    return earlier.replace(wrong, right) if wrong else ""


def with_same_sort(earlier: str, right: str) -> str:
    """Replace the only Chinese noun in `earlier` with the part-of-speech tag of `right` by `right`.

    For example, 无锡 ("Wuxi") replaces 苏州 ("Suzhou"), because both are place names.
    """
    (_, sort), *more = rjieba.tag(right)
    if more or not _HAN.match(right) or not sort.startswith("n"):
        return ""
    found = {word for word, tag in rjieba.tag(earlier) if tag == sort}
    return substituted(earlier, right, found.pop() if len(found) == 1 else "")


def with_like_name(earlier: str, right: str) -> str:
    """Replace the only Chinese name that is as long as `right` and shares a character with it."""
    name = right.removeprefix("是")
    if not (1 < len(name) < 4 and leading_name(name) == name):
        return ""
    known = [one for _, one in names(earlier)]
    known += [word for word, _ in rjieba.tag(earlier) if word[0] == name[0] and word[0] in "小老阿"]
    found = {one for one in known if len(one) == len(name) and set(one) & set(name)}
    return substituted(earlier, name, found.pop() if len(found) == 1 else "")


def likeness(word: str, other: str) -> float:
    """Return how similarly two words are spelled, from 0 to 1 (`difflib`), ignoring case."""
    return SequenceMatcher(None, word.casefold(), other.casefold()).ratio()


def with_name(earlier: str, right: str) -> str:
    """Replace the word spelled most like `right`, or the only name if no word is similar.

    A name at the beginning of the text doesn't count as the only name, since any word is
    capitalised there.
    """
    words = {match[0] for form in (_WORD, NAME) for match in form.finditer(earlier)}
    alike = {word: likeness(word, right) for word in words}
    best = max(alike, key=lambda word: alike[word], default="")
    if best and best != right and alike[best] >= ALIKE:
        return re.sub(rf"\b{re.escape(best)}\b", right, earlier)
    inside = {match[0] for match in NAME.finditer(earlier) if match.start()}
    return substituted(earlier, right, inside.pop() if len(inside) == 1 else "")
