"""Secrets that span a whole clause: answers, agreed words, expiry dates, described spellings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from memories.screening import linear
from memories.screening.labelled import common_words
from memories.screening.linear import Pattern
from memories.screening.secret_forms import Found

_P = linear.compiled("clauses")


@dataclass(frozen=True)
class Clause:
    """`pattern` finds the secret, group "s", in a text in which `about` matches anywhere."""

    category: str
    about: Pattern
    pattern: Pattern


_CLAUSES = tuple(
    Clause(
        row["category"],
        linear.compile(f"(?i){row['about']}"),
        linear.compile(f"(?i){row['pattern']}"),
    )
    for row in linear.rows("clauses")
)

_LABEL = _P["label"]
_SPELLING = _P["spelling"]
_RULES = _P["rules"]
_LINE = linear.compile(r"[^\n]+")
_LONGEST = 160


def clauses(text: str) -> Iterator[Found]:
    for clause in _CLAUSES:
        if not clause.about.search(text):
            continue
        for match in clause.pattern.finditer(text):
            said = match["s"]
            if clause.category == "card" or said.isdigit() or _may_be_one(said):
                yield Found(match.start(1), match.end(1), clause.category)
    yield from _described(text)


def _may_be_one(said: str) -> bool:
    if "\u3400" <= said[0] <= "\u9fff":
        return common_words.NO_VALUE_ZH.search(said) is None
    first = said.split()[0].lower() if said.split() else ""
    return first not in common_words.NO_VALUE and first not in common_words.FUNCTION_WORDS


def _described(text: str) -> Iterator[Found]:
    """Yield the rest of the line after a label, if the line describes how the secret is spelled."""
    for line in _LINE.finditer(text):
        said = line[0].rstrip()
        if len(said) > _LONGEST or not _is_described(said):
            continue
        if label := _LABEL.search(said):
            start = label.end()
            while start < len(said) and said[start] in " :：=是为,，?？":
                start += 1
            if len(said) - start >= 4:
                yield Found(line.start() + start, line.start() + len(said), "password")


def _is_described(line: str) -> bool:
    """Whether the line tells how a secret is spelled, rather than a rule for secrets."""
    spelling = _SPELLING.search(line)
    return spelling is not None and _RULES.search(line[: spelling.end()]) is None
