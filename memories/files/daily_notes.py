"""Daily notes: lines that users and programs append, one note per day.

A line is stored at once and embedded afterwards. The module also finds and erases lines from which
memories were learned.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from django.conf import settings
from django.db.models import Max, QuerySet
from django.utils import timezone
from django.utils.translation import gettext_noop

from foundation.database import cascades, statements
from foundation.errors import Invalid
from memories.extraction.masking import masked, screen
from memories.files import grammar
from memories.files.grammar import LAYERS, MEMORY, NoteEntry
from memories.indexing import search_index
from memories.indexing.search_index import Entry
from memories.models import DailyNote, Source, TargetKind, Vector
from memories.models import LexicalEntry as Words
from memories.writing import direct_writes
from ops import audit_log
from ops.access import as_user
from ops.accounts import users
from ops.models import Kind, Priority, User
from ops.queue import outbox
from ops.queue.run import Run

FOLDER = "memory"  # the folder of the daily notes among the memory files
MAX_SOURCE = 200
_MOST_RECENT = 30  # maximum number of lines of daily notes in a prompt
_OF_FILE = 100  # maximum number of lines of a memory file in a prompt
_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))"


@dataclass(frozen=True)
class AppendResult:
    """The line that was appended; `redacted` is True if a secret in the line was masked."""

    note: DailyNote
    redacted: bool


def append(text: str, *, user: User, source: str = "") -> AppendResult:
    """Append a line to today's note; the user's time zone determines the day.

    Concurrent calls get consecutive numbers. Search finds the line by its words at once, and by its
    meaning after an operation has embedded it. Raise `Invalid` if the text or source is invalid,
    and `Conflict` while memory is off (`memory_off`) or the user is being forgotten
    (`being_forgotten`).
    """
    problems: dict[str, list[str]] = {}
    if not text.strip():
        problems["text"] = ["The text must not be empty."]
    elif len(text) > settings.MAX_MEMORY_CHARS:
        problems["text"] = [gettext_noop("The text is longer than allowed here.")]
    elif "\x00" in text:
        problems["text"] = ["The text must not contain NUL characters."]
    if len(source) > MAX_SOURCE:
        problems["source"] = [f"At most {MAX_SOURCE} characters."]
    if problems:
        raise Invalid("The line is not valid.", fields=problems)
    checked = screen(text.strip())
    if checked.drop:
        raise Invalid.field("text", "This looks like a secret, and secrets are not remembered.")
    screened = checked.text
    direct_writes.check_on(user)
    zone = ZoneInfo(users.settings_of(user).timezone)
    statements.rows(_LOCK, [f"notes:{user.pk}"])
    now = timezone.now()  # read under the lock, so that later lines are never older
    day = now.astimezone(zone).date()
    number = last_number(user.pk, day) + 1
    note = DailyNote.objects.create(
        user=user, day=day, number=number, text=screened, source=masked(source), created_at=now
    )
    search_index.store_words(user=user, entries=[index_entry(note)])
    audit_log.record_together("note.appended", subject=user.subject, target=f"note {note.pk}")
    outbox.enqueue(
        Kind.INDEX_MEMORY,
        subject=user.subject,
        payload={"note": note.pk},
        priority=Priority.INDEX,
        serial_key=str(user.subject),
    )
    return AppendResult(note, redacted=screened != text.strip())


def index(run: Run, *, user: User, note_id: int) -> None:
    """Store the vector of a line if the line still exists. Safe to repeat."""
    with as_user(user):
        note = DailyNote.objects.filter(user=user, pk=note_id).first()
    if note is None:
        return
    vectors = search_index.embed([note.text])
    with run.applying(user):
        there = DailyNote.objects.select_for_update().filter(pk=note.pk).first()
        if there is not None:
            search_index.store(user=user, entries=[index_entry(there)], vectors=vectors)


_COLUMNS = statements.columns(DailyNote, "n")
_RECENT = f"""
(SELECT {_COLUMNS}, '' AS path FROM memories_dailynote n
  WHERE n.user_id = %s AND n.hidden_at IS NULL AND n.day BETWEEN %s AND %s
  ORDER BY n.day DESC, n.number DESC LIMIT %s)
UNION ALL
(SELECT {_COLUMNS}, f.path FROM memories_memoryfile f
  CROSS JOIN LATERAL
        (SELECT * FROM memories_dailynote l
          WHERE l.file_id = f.id AND l.hidden_at IS NULL ORDER BY l.number, l.id LIMIT %s) n
  WHERE f.user_id = %s AND f.path = ANY(%s::text[])
    AND f.hidden_at IS NULL AND f.deleted_at IS NULL)
"""


@dataclass(frozen=True)
class RecentLines:
    """The lines for a prompt: recent notes (newest first), and lines of persona files by path."""

    notes: Sequence[DailyNote] = ()
    layers: Mapping[str, Sequence[DailyNote]] = field(default_factory=dict)


def add_recent_query(
    user: User, *, zone: ZoneInfo, batch: statements.Batch
) -> statements.PendingResult:
    """Add to `batch` the query for the lines of a prompt; pass the result to `recent_lines`."""
    today = timezone.now().astimezone(zone).date()
    of_days = [user.pk, today - timedelta(days=1), today, _MOST_RECENT]
    return batch.add(_RECENT, [*of_days, _OF_FILE, user.pk, [MEMORY, *LAYERS]])


def recent_lines(pending: statements.PendingResult) -> RecentLines:
    """Return the latest lines of the notes of today and yesterday, and the lines of memory files.

    The user's time zone determines the days. The files are `MEMORY.md` and the persona files, each
    with its first `_OF_FILE` lines. In `RecentLines.notes`, the free text of `MEMORY.md` follows
    the lines of daily notes.
    """
    by_path: dict[str, list[DailyNote]] = defaultdict(list)
    for *values, path in pending.rows():
        by_path[path].append(statements.instance(DailyNote, values))
    days = sorted(by_path.pop("", ()), key=lambda line: (line.on, line.number), reverse=True)
    for lines in by_path.values():
        lines.sort(key=lambda line: (line.number, line.pk))
    memory_lines = by_path.pop(MEMORY, [])
    return RecentLines([*days, *memory_lines], by_path)


def path_of(day: date) -> str:
    """Return the path of a day's note among the memory files."""
    return f"{FOLDER}/{day.isoformat()}.md"


def line_of(note: DailyNote, *, zone: ZoneInfo) -> str:
    """Return the line as users see it: `- 14:03 [source] text`.

    `grammar.read_note_line` parses such a line.
    """
    time = f"{note.created_at.astimezone(zone):%H:%M}"
    return grammar.format_note_line(NoteEntry(time, note.text, note.source))


def last_number(user_id: int, day: date | None) -> int:
    """Return the highest line number of a day, or 0 if the day has no lines.

    Lines that are being forgotten count too, so that no number is used twice.
    """
    rows = DailyNote.everything.filter(user=user_id, day=day)
    return int(rows.aggregate(last=Max("number"))["last"] or 0)


def index_entry(note: DailyNote) -> Entry:
    return Entry(TargetKind.NOTE, note.pk, note.text)


GONE = "its note was forgotten"


def hide_cited_lines(*, user: User, memories: Collection[int], at: datetime) -> None:
    """Hide the note lines that are sources of these memories and of no other memories."""
    _lines_cited_only_by(user, memories).filter(hidden_at__isnull=True).update(hidden_at=at)


def erase_cited_lines(*, user: User, memories: Collection[int]) -> Counter[str]:
    """Erase the note lines that are sources of these memories and of no other memories.

    Call this function before the memories are erased.
    """
    pks = list(_lines_cited_only_by(user, memories).values_list("pk", flat=True))
    return erase_note_lines(user=user, lines=pks)


def erase_note_lines(*, user: User, lines: Collection[int]) -> Counter[str]:
    """Erase note lines with their index entries and vectors.

    Sources that cite the lines lose the reference and, unless they come from a turn, the quote.
    Safe to repeat.
    """
    if not lines:
        return Counter()
    rows = DailyNote.everything.filter(user=user, pk__in=lines)
    notes = list(rows.values_list("public_id", flat=True))
    citing = Source.everything.filter(user=user, reference__in=notes)
    citing.filter(turn__isnull=True).update(quote="", reference="", comment=GONE)
    citing.filter(turn__isnull=False).update(reference="")
    target = {"user": user, "target_kind": TargetKind.NOTE, "target_id__in": lines}
    erased = cascades.delete(Vector.objects.filter(**target))
    erased += cascades.delete(Words.objects.filter(**target))
    return erased + cascades.delete(rows)


def _lines_cited_only_by(user: User, memories: Collection[int]) -> QuerySet[DailyNote]:
    cited = Source.everything.filter(user=user, reference__startswith="note_", turn__isnull=True)
    named = set(cited.filter(memory__in=memories).values_list("reference", flat=True))
    others = cited.exclude(memory__in=memories).filter(
        reference__in=named, memory__hidden_at__isnull=True, hidden_at__isnull=True
    )
    named -= set(others.values_list("reference", flat=True))
    return DailyNote.everything.filter(user=user, public_id__in=named)
