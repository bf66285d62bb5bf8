"""Merge two edits of a file line by line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

Change = Literal["same", "removed", "added", "skipped"]
_AROUND = 1  # unchanged lines shown before and after a change


@dataclass(frozen=True)
class DiffLine:
    """A line of a comparison; for `skipped` lines only their number (`count`)."""

    change: Change
    text: str = ""
    count: int = 0


@dataclass(frozen=True)
class Merged:
    """The result of a merge. Not `clean`: both edits changed the same place, and ours was taken."""

    text: str
    clean: bool


def merge(base: str, ours: str, theirs: str) -> Merged:
    """Three-way merge by lines (diff3: Khanna, Kunal, Pierce 2007).

    A place that only one side changed takes that side's lines; a place that both changed alike
    takes them once; a place that both changed differently takes ours. Each line is a statement of
    its own: if all three versions of a place have the same number of lines, each line is its own
    place.
    """
    old = base.splitlines(keepends=True)
    mine, other = (text.splitlines(keepends=True) for text in (ours, theirs))
    lines: list[str] = []
    clean = True
    places = (one for chunk in _chunks(old, mine, other) for one in _places(*chunk))
    for was, left, right in places:
        if left == was:
            lines += right
            continue
        clean = clean and right in (was, left)
        lines += left
    return Merged("".join(lines), clean)


_Chunk = tuple[Sequence[str], Sequence[str], Sequence[str]]


def _chunks(old: Sequence[str], mine: Sequence[str], other: Sequence[str]) -> Iterator[_Chunk]:
    """Cut the three texts at the lines that all of them have kept."""
    here, there = _kept(old, mine), _kept(old, other)
    at = (0, 0, 0)
    for place in [one for one in range(len(old)) if one in here and one in there]:
        ends = (place, here[place], there[place])
        yield _cut(old, mine, other, at, ends)
        at = (place + 1, here[place] + 1, there[place] + 1)
        line = old[place : place + 1]
        yield line, line, line
    yield _cut(old, mine, other, at, (len(old), len(mine), len(other)))


def _cut(
    old: Sequence[str],
    mine: Sequence[str],
    other: Sequence[str],
    start: tuple[int, int, int],
    end: tuple[int, int, int],
) -> _Chunk:
    return old[start[0] : end[0]], mine[start[1] : end[1]], other[start[2] : end[2]]


def _places(was: Sequence[str], left: Sequence[str], right: Sequence[str]) -> Iterator[_Chunk]:
    if not len(was) == len(left) == len(right):
        yield was, left, right
        return
    for place in range(len(was)):
        one = slice(place, place + 1)
        yield was[one], left[one], right[one]


def _kept(old: Sequence[str], new: Sequence[str]) -> dict[int, int]:
    """Map each line of the old text that is in the new one to its position there."""
    blocks = SequenceMatcher(a=old, b=new, autojunk=False).get_matching_blocks()
    return {one.a + n: one.b + n for one in blocks for n in range(one.size)}


def compare(old: str, new: str, *, most: int = 400) -> list[DiffLine]:
    """Return the lines that differ between two texts, with a little context."""
    before, after = old.splitlines(), new.splitlines()
    found: list[DiffLine] = []
    matcher = SequenceMatcher(a=before, b=after, autojunk=False)
    for tag, start, end, start_new, end_new in matcher.get_opcodes():
        if tag == "equal":
            found += _around(before[start:end], first=not found, last=end == len(before))
            continue
        found += [DiffLine("removed", text) for text in before[start:end]]
        found += [DiffLine("added", text) for text in after[start_new:end_new]]
    if len(found) > most:
        return [*found[:most], DiffLine("skipped", count=len(found) - most)]
    return found


def _around(lines: Sequence[str], *, first: bool, last: bool) -> list[DiffLine]:
    head = 0 if first else _AROUND
    tail = 0 if last else _AROUND
    same = [DiffLine("same", text) for text in lines]
    if len(lines) <= head + tail + 1:
        return same
    skipped = DiffLine("skipped", count=len(lines) - head - tail)
    return [*same[:head], skipped, *same[len(lines) - tail :]]
