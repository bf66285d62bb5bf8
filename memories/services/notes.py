"""Daily notes: lines that are written first and made findable after."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from zoneinfo import ZoneInfo

from django.conf import settings
from django.db.models import Max
from django.utils import timezone

from memcenter.lib import statements
from memcenter.lib.errors import Invalid
from memories.extraction.sensitive import masked, screen
from memories.files import noting
from memories.files.noting import Noted
from memories.files.paths import MEMORY
from memories.models import DailyNote, TargetKind
from memories.services import indexing, remembering
from memories.services.indexing import Entry
from ops.access import as_user
from ops.models import Kind, Priority, User
from ops.services import audit, outbox, users
from ops.services.worker import Run

FOLDER = "memory"  # of the days' notes among the memory files
MAX_SOURCE = 200
_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))"


@dataclass(frozen=True)
class Appended:
    """The line that was written; `redacted` when a secret in it was blanked out."""

    note: DailyNote
    redacted: bool


def append(text: str, *, user: User, source: str = "") -> Appended:
    """Write one line at the end of today's note, today being where the person is.

    All or nothing, in the order of arriving however many write at once. It is found by its words
    from then on, by its meaning once an operation has run. Raises `Invalid`, and `Conflict`
    (`memory_off`, `being_forgotten`).
    """
    screened = _checked(text, source)
    remembering.check_on(user)
    zone = ZoneInfo(users.settings_of(user).timezone)
    statements.rows(_LOCK, [f"notes:{user.pk}"])
    now = timezone.now()  # taken under the lock, so that later lines are never older
    day = now.astimezone(zone).date()
    number = _last(user, day) + 1
    note = DailyNote.objects.create(
        user=user, day=day, number=number, text=screened, source=masked(source), created_at=now
    )
    indexing.store_words(user=user, entries=[_entry(note)])
    audit.gather("note.appended", subject=user.subject, target=f"note {note.pk}")
    outbox.enqueue(
        Kind.INDEX_MEMORY,
        subject=user.subject,
        payload={"note": note.pk},
        priority=Priority.INDEX,
        serial_key=str(user.subject),
    )
    return Appended(note, redacted=screened != text.strip())


def index(run: Run, *, user: User, note_id: int) -> None:
    """Give one line its vector, unless it went meanwhile; running it again writes the same."""
    with as_user(user):
        note = DailyNote.objects.filter(user=user, pk=note_id).first()
    if note is None:
        return
    vectors = indexing.embed([note.text])
    with run.applying(user):
        there = DailyNote.objects.select_for_update().filter(pk=note.pk).first()
        if there is not None:
            indexing.store(user=user, entries=[_entry(there)], vectors=vectors)


_COLUMNS = statements.columns(DailyNote, "n")
_RECENT = f"""
(SELECT {_COLUMNS} FROM memories_dailynote n
  WHERE n.user_id = %s AND n.hidden_at IS NULL AND n.day BETWEEN %s AND %s
  ORDER BY n.day DESC, n.number DESC LIMIT %s)
UNION ALL
(SELECT {_COLUMNS} FROM memories_dailynote n
  WHERE n.hidden_at IS NULL AND n.file_id =
        (SELECT f.id FROM memories_memoryfile f WHERE f.user_id = %s AND f.path = %s
            AND f.hidden_at IS NULL AND f.deleted_at IS NULL)
  ORDER BY n.id LIMIT %s)
"""


def recent(user: User, *, zone: ZoneInfo, limit: int = 30) -> list[DailyNote]:
    """The latest lines of today and yesterday where the person is, newest first.

    After them what `MEMORY.md` says beside the memories.
    """
    today = timezone.now().astimezone(zone).date()
    of_days = [user.pk, today - timedelta(days=1), today, limit]
    found = statements.rows(_RECENT, [*of_days, user.pk, MEMORY, limit])
    lines = [statements.instance(DailyNote, values) for values in found]
    noted = [line for line in lines if line.day]
    beside = [line for line in lines if not line.day]
    return [
        *sorted(noted, key=lambda line: (line.on, line.number), reverse=True),
        *sorted(beside, key=lambda line: line.pk),
    ]


def path_of(day: date) -> str:
    """Where the day's note stands among the memory files."""
    return f"{FOLDER}/{day.isoformat()}.md"


def line_of(note: DailyNote, *, zone: ZoneInfo) -> str:
    """The line as a person reads it: `- 14:03 [source] text`; `noting.read` reads it back."""
    time = f"{note.created_at.astimezone(zone):%H:%M}"
    return noting.written(Noted(time, note.text, note.source))


def _checked(text: str, source: str) -> str:
    """The text without secrets. Raises `Invalid` naming each field."""
    problems: dict[str, list[str]] = {}
    if not text.strip():
        problems["text"] = ["The text must not be empty."]
    elif len(text) > settings.MAX_MEMORY_CHARS:
        problems["text"] = [f"A line has at most {settings.MAX_MEMORY_CHARS:,} characters."]
    if len(source) > MAX_SOURCE:
        problems["source"] = [f"At most {MAX_SOURCE} characters."]
    if problems:
        raise Invalid("The line is not valid.", fields=problems)
    screened = screen(text.strip())
    if screened.drop:
        raise Invalid.field("text", "This looks like a secret, and secrets are not remembered.")
    return screened.text


def _last(user: User, day: date) -> int:
    """Also of lines that are being forgotten: a number is never given twice."""
    rows = DailyNote.everything.filter(user=user, day=day)
    return int(rows.aggregate(last=Max("number"))["last"] or 0)


def _entry(note: DailyNote) -> Entry:
    return Entry(TargetKind.NOTE, note.pk, note.text)
