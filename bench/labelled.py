"""Reads the labelled sets of `bench/data` and matches texts with labels."""

from __future__ import annotations

import json
import re
import sys
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

LANGUAGES = ("en", "zh")
PARTS = ("dev", "report")
DATA = Path(__file__).resolve().parent / "data"

# A text must contain at least one keyword of each group.
Groups = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Label:
    """A memory that should be found, or may be found if `optional`."""

    kinds: frozenset[str]
    must: Groups
    must_not: tuple[str, ...]
    optional: bool

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Label:
        return cls(
            kinds=frozenset(row["kinds"]),
            must=groups(row["must"]),
            must_not=tuple(row.get("must_not", ())),
            optional=row.get("optional", False),
        )

    def fits(self, text: str) -> bool:
        return says_all(text, self.must) and not any(says(text, word) for word in self.must_not)


def groups(rows: Iterable[Iterable[str]]) -> Groups:
    return tuple(tuple(row) for row in rows)


def says_all(text: str, wanted: Groups) -> bool:
    return all(any(says(text, keyword) for keyword in group) for group in wanted)


def says(text: str, keyword: str) -> bool:
    """Return whether a text contains a keyword.

    A Latin keyword matches whole words, with `*` for the rest of a word. A Chinese keyword matches
    any part of the text.
    """
    return _pattern(keyword).search(folded(text)) is not None


def folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold().replace("’", "'")


@cache
def _pattern(keyword: str) -> re.Pattern[str]:
    bare = folded(keyword.strip("*"))
    before = r"(?<![a-z0-9])" if _latin(bare[:1]) and not keyword.startswith("*") else ""
    after = r"(?![a-z0-9])" if _latin(bare[-1:]) and not keyword.endswith("*") else ""
    return re.compile(before + re.escape(bare) + after)


def _latin(char: str) -> bool:
    return char.isascii() and char.isalnum()


def read_rows(name: str, language: str) -> list[dict[str, Any]]:
    lines = (DATA / name / f"{language}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def share(part: int, whole: int) -> float | None:
    """Return a fraction, or None if `whole` is 0."""
    return round(part / whole, 4) if whole else None


def prepare_django() -> None:
    """Set up Django, for code that depends on the settings."""
    import os

    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memcenter.settings")
    django.setup()


def print_table(rows: Mapping[str, Mapping[str, float | int | None]]) -> None:
    names = list(next(iter(rows.values())))
    print(f"{'':32}" + "".join(f"{name:>11}" for name in names))
    for label, row in rows.items():
        print(f"{label:32}" + "".join(_cell(row[name]) for name in names))
    sys.stdout.flush()


def _cell(value: float | int | None) -> str:
    if value is None:
        return f"{'-':>11}"
    return f"{value:>11}" if isinstance(value, int) else f"{100 * value:>11.1f}"


def grouped(rows: Sequence[Any], *, by: str) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for row in rows:
        found.setdefault(getattr(row, by), []).append(row)
    return found
