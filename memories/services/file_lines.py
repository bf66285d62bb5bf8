"""The free text of memory files, line by line, so that it is found and recalled as notes are."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from django.db.models import QuerySet
from django.utils import timezone

from memories.files.grammar import Role
from memories.files.parse import parse
from memories.files.paths import CURATED
from memories.models import DailyNote, MemoryFile, TargetKind, Vector
from memories.services import indexing
from memories.services.indexing import Entry
from ops.access import as_user
from ops.models import Kind, Priority, User
from ops.services import outbox
from ops.services.worker import Run

_MOST = 2_000  # characters of one line; a longer one is several
_AT_ONCE = 200
_MARKS = re.compile(r"(?:(?<![-*+>#])[-*+>#]++|\d{1,3}[.)])[ \t]+|<!--.*?-->")


def follow(file: MemoryFile, *, user: User) -> None:
    """Let the lines be those of the file as it is now, in the caller's transaction.

    They are found by their words from then on, by their meaning once an operation has run. A line
    that stays keeps its row.
    """
    missing = Counter(said(file))
    gone: list[int] = []
    for pk, text in DailyNote.everything.filter(file=file).values_list("pk", "text"):
        if missing[text]:
            missing[text] -= 1
        else:
            gone.append(pk)
    drop(gone, user=user)
    new = list(missing.elements())
    for start in range(0, len(new), _AT_ONCE):
        _add(new[start : start + _AT_ONCE], file=file, user=user)
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
    """Erase these lines with their words and vectors."""
    if lines:
        indexing.erase(user_id=user.pk, kind=TargetKind.NOTE, target_ids=lines)
        DailyNote.everything.filter(user=user, pk__in=lines).delete()


def drop_all(file: MemoryFile, *, user: User) -> None:
    """What lies in the recycle bin is found by nobody."""
    drop(list(DailyNote.everything.filter(file=file).values_list("pk", flat=True)), user=user)


def said(file: MemoryFile) -> Iterator[str]:
    """Each line of a person's own note; of a curated file what is neither memory nor heading."""
    if file.deleted_at is not None:
        return
    for line in parse(file.content).lines:
        if file.path in CURATED and line.role is not Role.FREE:
            continue
        text = bare(line.raw)
        yield from (text[start : start + _MOST] for start in range(0, len(text), _MOST))


def bare(line: str) -> str:
    """What a line says without the marks of lists, headings and comments; "" where nothing."""
    text = _MARKS.sub("", line.strip()).strip()
    return text if any(sign.isalnum() for sign in text) else ""


def index(run: Run, *, user: User, file_id: int) -> None:
    """Give the lines of a file their vectors, those that have none; safe to repeat."""
    while True:
        with as_user(user):
            lines = list(_without_vector(user, file_id)[:_AT_ONCE])
        if not lines:
            return
        vectors = indexing.embed([line.text for line in lines])
        with run.applying(user):
            rows = DailyNote.objects.select_for_update().filter(pk__in=[one.pk for one in lines])
            left = set(rows.values_list("pk", flat=True))
            places = [place for place, line in enumerate(lines) if line.pk in left]
            entries = [_entry(lines[place]) for place in places]
            if entries:
                indexing.store(user=user, entries=entries, vectors=vectors[places])


def _without_vector(user: User, file_id: int) -> QuerySet[DailyNote]:
    rows = DailyNote.objects.filter(user=user, file=file_id)
    known = Vector.objects.filter(user=user, target_kind=TargetKind.NOTE, space__active=True)
    return rows.exclude(pk__in=known.values("target_id")).order_by("pk")


def _add(texts: Sequence[str], *, file: MemoryFile, user: User) -> None:
    now = timezone.now()
    made = DailyNote.objects.bulk_create(
        [
            DailyNote(user=user, file=file, number=number, text=text, created_at=now)
            for number, text in enumerate(texts, start=1)
        ]
    )
    indexing.store_words(user=user, entries=[_entry(line) for line in made])


def _entry(line: DailyNote) -> Entry:
    return Entry(TargetKind.NOTE, line.pk, line.text)
