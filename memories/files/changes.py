"""Compute the changes to memories that an edited memory file requests.

The edited file is compared with its text at the last sync: an unchanged line requests nothing, so
an outdated file never undoes changes made elsewhere. If a line was edited and its memory wasn't,
the memory gets the new text. If the line and its memory have changed since the sync, the user
decides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from typing import Literal

from memories.files.grammar import Document, Line, Role, ShownMemory

FEWEST_FOR_REVIEW = 5  # if fewer lines are removed, their number never needs a decision
MOST_REMOVED = 5  # the user decides if more than one in five lines is removed


class Reason(StrEnum):
    """The reason why the user must decide on a change before it is applied."""

    NEWER = "newer"  # the memory was changed after the last sync
    GONE = "gone"  # the memory was removed after the last sync, but its line was edited
    LONG = "long"  # the line shows only a summary, so its edit can't change the content
    MANY = "many"  # so many lines were removed that it may be a mistake


@dataclass(frozen=True)
class CurrentMemory(ShownMemory):
    """A current memory as a file shows it.

    `newer` is True if the memory was changed after the last sync.
    """

    newer: bool = False


@dataclass(frozen=True)
class EditedMemory:
    """A change of a memory's text or kind, taken from its edited line.

    `content` or `kind` is None if it is unchanged.
    """

    id: str
    content: str | None
    kind: str | None


@dataclass(frozen=True)
class NewStatement:
    """A new statement in the file, which is to be compared with the existing memories.

    `place` is the position of its line among all lines. `formerly` is the memory id in the line, or
    "". A new statement has such an id if its line is an altered copy of a memory's line, or if the
    memory no longer exists, for example because an old version of the file was restored. `kind` is
    "" if a line with an id is outside of any section.
    """

    place: int
    content: str
    kind: str
    formerly: str = ""


@dataclass(frozen=True)
class DisputedChange:
    """A change on which the user must decide: keep the memory, or take the text of the file.

    `content` is the line's text, or None if the line was removed. `kind` is the kind of the line's
    section.
    """

    id: str
    reason: Reason
    content: str | None = None
    kind: str = ""


@dataclass(frozen=True)
class Changes:
    """All changes that the edited file requests.

    `removed` holds the ids of memories to move to the recycle bin. `repeated` holds the positions
    of lines that duplicate another line of the same memory.
    """

    edited: tuple[EditedMemory, ...] = ()
    created: tuple[NewStatement, ...] = ()
    removed: tuple[str, ...] = ()
    disputed: tuple[DisputedChange, ...] = ()
    repeated: tuple[int, ...] = ()


def find_changes(
    synced: Document,
    edited: Document,
    *,
    memories: Iterable[CurrentMemory],
    elsewhere: Collection[str] = (),
) -> Changes:
    """Return the changes that an edited file requests, compared with its last synced version.

    `synced` is an empty document if the file was never synced. `memories` are the current memories;
    memories without a line in either document are ignored. `elsewhere` holds the ids in the user's
    other files: lines with these ids were moved there, not removed.
    """
    known = {memory.id: memory for memory in memories}
    # If a memory has several lines, the one with the memory's text is preferred.
    before: dict[str, Line] = {}
    for _, line in synced.statements:
        if line.id and (line.id not in before or _has_text_of(line, known.get(line.id))):
            before[line.id] = line
    after, created, repeated = _separate_copies(edited, before, known)
    judged = [_judge(line, before.get(id), known.get(id)) for id, line in after.items()]
    removed, disputed = _removals(
        [id for id in before if id not in after and id not in elsewhere], before, known
    )
    left = Counter(_key(entry) for _, entry in synced.statements if entry.role is Role.NEW)
    found: list[NewStatement] = []
    for number, entry in edited.statements:
        if entry.role is not Role.NEW:
            continue
        if left[_key(entry)]:
            left[_key(entry)] -= 1
        else:
            found.append(NewStatement(number, entry.text, entry.kind))
    return Changes(
        edited=tuple(change for change in judged if isinstance(change, EditedMemory)),
        created=tuple(sorted([*created, *found], key=lambda statement: statement.place)),
        removed=removed,
        disputed=(*(change for change in judged if isinstance(change, DisputedChange)), *disputed),
        repeated=repeated,
    )


def _separate_copies(
    edited: Document, before: dict[str, Line], known: dict[str, CurrentMemory]
) -> tuple[dict[str, Line], list[NewStatement], tuple[int, ...]]:
    """Divide the lines with an id into memories' own lines, new statements and duplicates.

    Return each memory's own line by id, the new statements, and the positions of duplicates. A
    copied line with altered text is a new statement. A memory's own line is the one that has the
    memory's text, otherwise the one that has the text of the last sync, otherwise the first.
    """
    own: dict[str, Line] = {}
    created: list[NewStatement] = []
    repeated: list[int] = []
    copies: dict[str, dict[int, Line]] = {}
    for place, line in edited.statements:
        if line.id:
            copies.setdefault(line.id, {})[place] = line
    for id, lines in copies.items():
        memory, was = known.get(id), before.get(id)
        said = {""}
        if memory is not None or was is not None:
            place = min(lines, key=lambda place: _mismatch(lines[place], memory, was))
            line = lines.pop(place)
            said.add(line.text.strip())
            if line.text.strip() or _has_text_of(line, memory):
                own[id] = line
        for place, line in lines.items():
            if line.text.strip() in said:
                repeated.append(place)
            else:
                said.add(line.text.strip())
                created.append(NewStatement(place, line.text.strip(), line.kind, formerly=id))
    return own, created, tuple(sorted(repeated))


def _mismatch(line: Line, memory: CurrentMemory | None, before: Line | None) -> int:
    if _has_text_of(line, memory):
        return 0
    if before is not None and _same(line, before):
        return 1
    return 2 if line.text.strip() else 3


def _judge(
    line: Line, before: Line | None, memory: CurrentMemory | None
) -> EditedMemory | DisputedChange | None:
    if before is not None and _same(line, before) and line.kind == before.kind:
        return None
    text, kind = line.text.strip(), line.kind
    if memory is None:
        return DisputedChange(line.id, Reason.GONE, text, kind)
    says, moved = _has_text_of(line, memory), kind not in ("", memory.kind)
    if says and not moved:
        return None
    if _changed_elsewhere(memory, before):
        return DisputedChange(line.id, Reason.NEWER, text, kind)
    if memory.long and not says:
        return DisputedChange(line.id, Reason.LONG, text, kind)
    return EditedMemory(line.id, None if says else text, kind if moved else None)


def _removals(
    gone: list[str], before: dict[str, Line], known: dict[str, CurrentMemory]
) -> tuple[tuple[str, ...], tuple[DisputedChange, ...]]:
    present = [id for id in gone if id in known]
    standing = sum(id in known for id in before)
    if len(present) >= FEWEST_FOR_REVIEW and len(present) * MOST_REMOVED > standing:
        return (), tuple(DisputedChange(id, Reason.MANY) for id in present)
    newer = [id for id in present if _changed_elsewhere(known[id], before[id])]
    removed = tuple(id for id in present if id not in newer)
    return removed, tuple(DisputedChange(id, Reason.NEWER) for id in newer)


def _changed_elsewhere(memory: CurrentMemory, before: Line | None) -> bool:
    """Return whether the memory's text or kind was changed outside the file since the last sync.

    Other changes of a memory (it was pinned or used) don't conflict with an edit.
    """
    if before is None:
        return memory.newer
    return memory.newer and not (_has_text_of(before, memory) and before.kind in ("", memory.kind))


def _has_text_of(line: Line, memory: CurrentMemory | None) -> bool:
    return memory is not None and line.text.strip() == memory.text.strip()


def _same(first: Line, second: Line) -> bool:
    return first.text.strip() == second.text.strip()


def _key(line: Line) -> tuple[str, str]:
    return line.kind, line.text


LineChange = Literal["same", "removed", "added", "skipped"]
_CONTEXT = 1  # unchanged lines shown before and after a change


@dataclass(frozen=True)
class DiffLine:
    """A line of a comparison of two texts.

    A `skipped` line stands for `count` lines that are left out.
    """

    change: LineChange
    text: str = ""
    count: int = 0


@dataclass(frozen=True)
class MergedLines:
    """The result of `merge_lines`.

    If the edits changed the same place differently, `clean` is False and `text` has the lines of
    `ours` in that place.
    """

    text: str
    clean: bool


def merge_lines(base: str, ours: str, theirs: str) -> MergedLines:
    """Merge two edits of a text line by line (three-way merge, diff3: Khanna, Kunal, Pierce 2007).

    `ours` and `theirs` are the edits of `base`. Where only one edit changed the text, its lines are
    taken. Where the edits made the same change, the lines appear once; where their changes differ,
    the lines of `ours` are taken. Since each line is a separate statement, a changed passage is
    merged line by line if it has the same number of lines in all three texts.
    """
    old = base.splitlines(keepends=True)
    mine, other = (text.splitlines(keepends=True) for text in (ours, theirs))
    lines: list[str] = []
    clean = True
    places = (place for chunk in _chunks(old, mine, other) for place in _places(*chunk))
    for was, left, right in places:
        if left == was:
            lines += right
            continue
        clean = clean and right in (was, left)
        lines += left
    return MergedLines("".join(lines), clean)


_Chunk = tuple[Sequence[str], Sequence[str], Sequence[str]]


def _chunks(old: Sequence[str], mine: Sequence[str], other: Sequence[str]) -> Iterator[_Chunk]:
    here, there = _matching_lines(old, mine), _matching_lines(old, other)
    at = (0, 0, 0)
    for place in [place for place in range(len(old)) if place in here and place in there]:
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
        line = slice(place, place + 1)
        yield was[line], left[line], right[line]


def _matching_lines(old: Sequence[str], new: Sequence[str]) -> dict[int, int]:
    blocks = SequenceMatcher(a=old, b=new, autojunk=False).get_matching_blocks()
    return {block.a + n: block.b + n for block in blocks for n in range(block.size)}


def compare_lines(old: str, new: str, *, most: int = 400) -> list[DiffLine]:
    """Compare two texts line by line; return the changes with the unchanged lines next to them.

    After the first `most` lines, a single `skipped` line counts the rest.
    """
    before, after = old.splitlines(), new.splitlines()
    found: list[DiffLine] = []
    matcher = SequenceMatcher(a=before, b=after, autojunk=False)
    for tag, start, end, start_new, end_new in matcher.get_opcodes():
        if tag == "equal":
            found += _with_context(before[start:end], first=not found, last=end == len(before))
            continue
        found += [DiffLine("removed", text) for text in before[start:end]]
        found += [DiffLine("added", text) for text in after[start_new:end_new]]
    if len(found) > most:
        return [*found[:most], DiffLine("skipped", count=len(found) - most)]
    return found


def _with_context(lines: Sequence[str], *, first: bool, last: bool) -> list[DiffLine]:
    head = 0 if first else _CONTEXT
    tail = 0 if last else _CONTEXT
    same = [DiffLine("same", text) for text in lines]
    if len(lines) <= head + tail + 1:
        return same
    skipped = DiffLine("skipped", count=len(lines) - head - tail)
    return [*same[:head], skipped, *same[len(lines) - tail :]]
