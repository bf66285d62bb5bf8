"""Attributes of which one value excludes every other, from the table `exclusive.txt`.

Rules that read a statement's slot and value miss what is told in a roundabout way: who "writes
with the left hand" and who "is right-handed" gave no two values of one slot. The table says it by
how people tell of each value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from memories.extraction.arbitration.lexicon import with_kinds

if TYPE_CHECKING:
    from memories.extraction.arbitration.statement import Statement

_FILE = Path(__file__).with_name("exclusive.txt")
_HAN = re.compile(r"[\u4e00-\u9fff]")
# What is wished for, imagined or long gone doesn't hold.
_NOT_SO = re.compile(
    r"\b(?:wants?|wish(?:es)?|hopes?|would (?:like|love|rather)|dreams? of|plans?|planning|learning"
    r"|learns?|thinking of|considering|used to|formerly|as a child|in the past|until|if|almost)\b"
    r"|想(?!不|念)|希望|打算|计划|准备|考虑|如果|要是|在学|正学|以前|曾经?|小时候|过去|原来|当年"
)


@dataclass(frozen=True)
class Attribute:
    """`of`: whose mention tells of the user, or one of the words above the table."""

    name: str
    of: frozenset[str]
    values: dict[str, re.Pattern[str]]

    def told_by(self, text: str) -> frozenset[str]:
        """The values of which a text tells; none when it only speaks of a wish."""
        found = frozenset(value for value, form in self.values.items() if form.search(text))
        if found and "wishes" not in self.of and _NOT_SO.search(text):
            return frozenset()
        return found

    def may_join(self, new: Statement, old: Statement) -> bool:
        if "anybody" in self.of:
            return True
        if "thing" in self.of:
            return new.subject == old.subject and _name_one_thing(new, old)
        subjects = {new.subject, old.subject}
        return len(subjects) == 1 or ("user" in subjects and subjects - {"user"} <= self.of)


def exclude_each_other(new: Statement, old: Statement) -> str:
    """The attribute of which the two tell different values; empty when there is none."""
    for attribute, ours in new.told:
        if attribute.may_join(new, old):
            theirs = attribute.told_by(old.text)
            if theirs and not ours & theirs:
                return attribute.name
    return ""


def told(text: str, *, language: str) -> tuple[tuple[Attribute, frozenset[str]], ...]:
    """The attributes of which a text tells a value, with the values."""
    found = ((one, one.told_by(text)) for one in table(language))
    return tuple((attribute, values) for attribute, values in found if values)


def _name_one_thing(new: Statement, old: Statement) -> bool:
    """Two houses may face two ways; where neither names a thing, both mean their own."""
    ours, theirs = with_kinds(new.words), with_kinds(old.words)
    return bool(ours & theirs) or not (new.topic or old.topic)


@cache
def table(language: str) -> tuple[Attribute, ...]:
    """The attributes, with the patterns that can fit a text of this language."""
    return tuple(_attributes(_FILE.read_text(encoding="utf-8"), language=language))


def _attributes(text: str, *, language: str) -> Iterator[Attribute]:
    for block in text.split("\n@ ")[1:]:
        head, *rows = block.strip().splitlines()
        name, _, of = head.partition(" of ")
        forms: dict[str, list[str]] = {}
        for row in rows:
            value, _, form = row.partition(": ")
            if language == "en" and not form.isascii() and "\\b" not in form:
                continue
            if language == "zh" and not _HAN.search(form):
                continue
            forms.setdefault(value, []).append(form)
        values = {value: re.compile("|".join(found)) for value, found in forms.items()}
        yield Attribute(name=name, of=frozenset(of.split()), values=values)
