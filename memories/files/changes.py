"""What an edited memory file asks for, beside the file as last synced and the memories by now.

The words of the last sync decide who changed what: a line that is still as it was asks for
nothing, so a file that merely lags behind never undoes what was done elsewhere. Where both sides
changed, the file wins unless the memory is newer than the sync; then a person decides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import StrEnum

from memories.files.grammar import Line, Role
from memories.files.parse import Document
from memories.files.render import Shown

FEWEST_FOR_REVIEW = 5
MOST_REMOVED = 5  # one in so many


class Reason(StrEnum):
    """Why a person is asked."""

    NEWER = "newer"  # the memory was changed after the last sync
    GONE = "gone"  # it was removed after the last sync, while its line was edited
    LONG = "long"  # the line showed a summary, which is no place to edit the content
    MANY = "many"  # so many lines were removed that it may be a mistake


@dataclass(frozen=True)
class Known(Shown):
    """A memory by now; `newer` when it was changed after the file's last sync."""

    newer: bool = False


@dataclass(frozen=True)
class Edited:
    """A memory that takes the line's words or kind; None where it keeps its own."""

    id: str
    content: str | None
    kind: str | None


@dataclass(frozen=True)
class Created:
    """A new statement, to be arbitrated. `place` is that of its line among all lines.

    `formerly` is the id that the line carries when no memory has it (any longer), as in an old
    version of the file; `kind` is "" when such a line stands in no section.
    """

    place: int
    content: str
    kind: str
    formerly: str = ""


@dataclass(frozen=True)
class Disputed:
    """What a person decides: the memory as it is, or what the file says.

    `content` is the line's text, None when the line was removed; `kind` that of its section.
    """

    id: str
    reason: Reason
    content: str | None = None
    kind: str = ""


@dataclass(frozen=True)
class Changes:
    """What the edit asks for; `removed` are the ids that go to the recycle bin.

    `repeated` are the places of lines that say again what another line of the same memory says.
    """

    edited: tuple[Edited, ...] = ()
    created: tuple[Created, ...] = ()
    removed: tuple[str, ...] = ()
    disputed: tuple[Disputed, ...] = ()
    repeated: tuple[int, ...] = ()


def between(
    synced: Document,
    edited: Document,
    *,
    memories: Iterable[Known],
    elsewhere: Collection[str] = (),
) -> Changes:
    """What became of the file since it was last synced (an empty document when it never was).

    `memories` are the present ones; those without a line in either document are nobody's concern
    here. Lines of `elsewhere`, the ids in the person's other files, moved and weren't removed.
    """
    known = {memory.id: memory for memory in memories}
    before = _by_id(synced, known)
    after, created, repeated = _told_apart(edited, before, known)
    judged = [_judge(line, before.get(id), known.get(id)) for id, line in after.items()]
    removed, disputed = _removals(
        [id for id in before if id not in after and id not in elsewhere], before, known
    )
    return Changes(
        edited=tuple(one for one in judged if isinstance(one, Edited)),
        created=tuple(sorted([*created, *_new(synced, edited)], key=lambda one: one.place)),
        removed=removed,
        disputed=(*(one for one in judged if isinstance(one, Disputed)), *disputed),
        repeated=repeated,
    )


def _by_id(document: Document, known: dict[str, Known]) -> dict[str, Line]:
    """The line of each memory; of several, the one that says what the memory says."""
    lines: dict[str, Line] = {}
    for _, line in document.statements:
        if line.id and (line.id not in lines or _says(line, known.get(line.id))):
            lines[line.id] = line
    return lines


def _told_apart(
    edited: Document, before: dict[str, Line], known: dict[str, Known]
) -> tuple[dict[str, Line], list[Created], tuple[int, ...]]:
    """Each memory's own line; what is new although it carries an id; mere repetitions.

    Somebody who copies a line and alters the copy means a new memory. The memory's own line is
    the one that says what it says, else what it said at the last sync, else the first.
    """
    own: dict[str, Line] = {}
    created: list[Created] = []
    repeated: list[int] = []
    for id, lines in _copies(edited).items():
        memory, was = known.get(id), before.get(id)
        said = {""}
        if memory is not None or was is not None:
            place = min(lines, key=lambda one: _strangeness(lines[one], memory, was))
            line = lines.pop(place)
            said.add(line.text.strip())
            if line.text.strip() or _says(line, memory):
                own[id] = line
        for place, line in lines.items():
            if line.text.strip() in said:
                repeated.append(place)
            else:
                said.add(line.text.strip())
                created.append(Created(place, line.text.strip(), line.kind, formerly=id))
    return own, created, tuple(sorted(repeated))


def _copies(edited: Document) -> dict[str, dict[int, Line]]:
    """The lines of each id by their places."""
    copies: dict[str, dict[int, Line]] = {}
    for place, line in edited.statements:
        if line.id:
            copies.setdefault(line.id, {})[place] = line
    return copies


def _strangeness(line: Line, memory: Known | None, before: Line | None) -> int:
    if _says(line, memory):
        return 0
    if before is not None and _same(line, before):
        return 1
    return 2 if line.text.strip() else 3


def _judge(line: Line, before: Line | None, memory: Known | None) -> Edited | Disputed | None:
    """What one line asks of its memory; None when nothing."""
    if before is not None and _same(line, before) and line.kind == before.kind:
        return None
    text, kind = line.text.strip(), line.kind
    if memory is None:
        return Disputed(line.id, Reason.GONE, text, kind)
    says, moved = _says(line, memory), kind not in ("", memory.kind)
    if says and not moved:
        return None
    if _changed_elsewhere(memory, before):
        return Disputed(line.id, Reason.NEWER, text, kind)
    if memory.long and not says:
        return Disputed(line.id, Reason.LONG, text, kind)
    return Edited(line.id, None if says else text, kind if moved else None)


def _removals(
    gone: list[str], before: dict[str, Line], known: dict[str, Known]
) -> tuple[tuple[str, ...], tuple[Disputed, ...]]:
    present = [id for id in gone if id in known]
    standing = sum(id in known for id in before)
    if len(present) >= FEWEST_FOR_REVIEW and len(present) * MOST_REMOVED > standing:
        return (), tuple(Disputed(id, Reason.MANY) for id in present)
    newer = [id for id in present if _changed_elsewhere(known[id], before[id])]
    removed = tuple(id for id in present if id not in newer)
    return removed, tuple(Disputed(id, Reason.NEWER) for id in newer)


def _new(synced: Document, edited: Document) -> list[Created]:
    """The new lines, but for those that the last sync left as they were."""
    left = Counter(_words(line) for _, line in synced.statements if line.role is Role.NEW)
    found: list[Created] = []
    for place, line in edited.statements:
        if line.role is not Role.NEW:
            continue
        if left[_words(line)]:
            left[_words(line)] -= 1
        else:
            found.append(Created(place, line.text, line.kind))
    return found


def _changed_elsewhere(memory: Known, before: Line | None) -> bool:
    """Newer counts only where it says something else: a pin or a read is no dispute."""
    if before is None:
        return memory.newer
    return memory.newer and not (_says(before, memory) and before.kind in ("", memory.kind))


def _says(line: Line, memory: Known | None) -> bool:
    return memory is not None and line.text.strip() == memory.text.strip()


def _same(one: Line, other: Line) -> bool:
    return one.text.strip() == other.text.strip()


def _words(line: Line) -> tuple[str, str]:
    return line.kind, line.text
