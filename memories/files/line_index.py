"""Index the free text of memory files as note lines, so that search and recall find them."""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence

from django.db.models import QuerySet
from django.utils import timezone

from memories.files.daily_notes import index_entry
from memories.files.grammar import CURATED, Role, parse
from memories.indexing import search_index
from memories.models import DailyNote, MemoryFile, TargetKind, Vector
from ops.access import as_user
from ops.models import Kind, Priority, User
from ops.queue import outbox
from ops.queue.run import Run

_MOST = 2_000  # characters per line; a longer line is split
_BATCH = 200
_MARKS = re.compile(r"(?:(?<![-*+>#])[-*+>#]++|\d{1,3}[.)])[ \t]+|<!--.*?-->")


def update_index(file: MemoryFile, *, user: User) -> None:
    """Update the indexed lines to match the file's current content, in the caller's transaction.

    Search finds new lines by their words at once, and by their meaning after an operation has
    embedded them. An unchanged line keeps its row; only the `number` of the row, the line's
    position among the indexed lines of the file, may change.
    """
    missing: dict[str, deque[int]] = defaultdict(deque)
    for number, text in enumerate(texts_to_index(file), start=1):
        missing[text].append(number)
    gone: list[int] = []
    moved: list[DailyNote] = []
    for line in DailyNote.everything.filter(file=file).order_by("number", "pk"):
        if not missing[line.text]:
            gone.append(line.pk)
        elif line.number != (number := missing[line.text].popleft()):
            line.number = number
            moved.append(line)
    drop(gone, user=user)
    DailyNote.everything.bulk_update(moved, ["number"], batch_size=_BATCH)
    new = sorted((number, text) for text, places in missing.items() for number in places)
    for start in range(0, len(new), _BATCH):
        now = timezone.now()
        made = DailyNote.objects.bulk_create(
            [
                DailyNote(user=user, file=file, number=number, text=text, created_at=now)
                for number, text in new[start : start + _BATCH]
            ]
        )
        search_index.store_words(user=user, entries=[index_entry(line) for line in made])
    if new:
        outbox.enqueue(
            Kind.INDEX_MEMORY,
            subject=user.subject,
            payload={"file": file.pk},
            priority=Priority.INDEX,
            dedupe_key=f"index_file:{file.pk}",
            serial_key=str(user.subject),
        )


def drop(lines: Sequence[int], *, user: User) -> None:
    """Erase these lines with their index entries and vectors."""
    if lines:
        search_index.erase(user_id=user.pk, kind=TargetKind.NOTE, target_ids=lines)
        DailyNote.everything.filter(user=user, pk__in=lines).delete()


def texts_to_index(file: MemoryFile) -> Iterator[str]:
    """Yield the texts to index: all lines of a note, or the free text of a curated file."""
    if file.deleted_at is not None:
        return
    for line in parse(file.content).lines:
        if file.path in CURATED and line.role is not Role.FREE:
            continue
        text = strip_marks(line.raw)
        yield from (text[start : start + _MOST] for start in range(0, len(text), _MOST))


def strip_marks(line: str) -> str:
    """Return the text of a line without Markdown markers and HTML comments.

    Return "" if no letter or digit is left.
    """
    text = _MARKS.sub("", line.strip()).strip()
    return text if any(sign.isalnum() for sign in text) else ""


def index(run: Run, *, user: User, file_id: int) -> None:
    """Embed those lines of a file that have no vector yet. Safe to repeat."""
    while True:
        with as_user(user):
            lines = list(_without_vector(user, file_id)[:_BATCH])
        if not lines:
            return
        vectors = search_index.embed([line.text for line in lines])
        with run.applying(user):
            rows = DailyNote.objects.select_for_update().filter(pk__in=[one.pk for one in lines])
            left = set(rows.values_list("pk", flat=True))
            places = [place for place, line in enumerate(lines) if line.pk in left]
            entries = [index_entry(lines[place]) for place in places]
            if entries:
                search_index.store(user=user, entries=entries, vectors=vectors[places])


def _without_vector(user: User, file_id: int) -> QuerySet[DailyNote]:
    rows = DailyNote.objects.filter(user=user, file=file_id)
    known = Vector.objects.filter(user=user, target_kind=TargetKind.NOTE, space__active=True)
    return rows.exclude(pk__in=known.values("target_id")).order_by("pk")
