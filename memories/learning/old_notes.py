"""Learn from old daily notes: durable statements in them become memories.

Notes of today and yesterday appear in the block as they are. Each line of an older note is read as
a statement, arbitrated like any other, and becomes the source of what it taught. The lines stay:
they are append-only, and search finds them. Lines written by a flush are skipped, since they were
memories first.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from django.conf import settings
from django.db.models import Q, QuerySet
from django.utils import timezone

from memories.extraction.types import Candidate, Said, TurnText
from memories.extraction.wording import agent_notes
from memories.learning import flush_candidates, ingest, learnability, single_texts, turn_context
from memories.learning.single_texts import Lone
from memories.models import DailyNote, Origin
from memories.writing.memory_writes import SourceInput
from memories.writing.verdicts import Decided
from ops.access import as_user
from ops.accounts import users
from ops.models import User
from ops.queue.run import Run

_AT_ONCE = 500  # lines per run; the next night continues


def waiting(now: datetime) -> QuerySet[DailyNote]:
    """Return all users' lines that are old enough and haven't been read yet, oldest first."""
    last = now.date() - timedelta(days=settings.NOTES_LEARN_DAYS)
    found = DailyNote.objects.filter(day__lte=last, learned_at__isnull=True)
    return found.exclude(source=flush_candidates.SOURCE).order_by("day", "number")


def people_with_some(now: datetime) -> Iterator[User]:
    """Yield the users with waiting notes; must run as the system."""
    owners = waiting(now).order_by().values("user").distinct()
    on = User.objects.filter(pk__in=owners, hidden_at__isnull=True)
    yield from on.exclude(settings__longterm_enabled=False).order_by("pk")


def learn_from_old(run: Run, *, user: User) -> list[Decided]:
    """Read a user's old lines, one after the other. Raises `ProviderError`.

    Does nothing while long-term memory is off. A repeated run after a kill skips candidates that
    were decided before.
    """
    with as_user(user):
        if user.hidden_at is not None or not users.settings_of(user).longterm_enabled:
            return []
        lines = list(waiting(timezone.now()).filter(user=user)[:_AT_ONCE])
    return [one for line in lines for one in _learn(run, user, line)]


def _learn(run: Run, user: User, line: DailyNote) -> list[Decided]:
    with as_user(user):
        zone = ZoneInfo(users.settings_of(user).timezone)
        block = turn_context.recently_shown(user.pk)
    said = Said(agent_notes.as_said(line.text), line.created_at.astimezone(zone))
    text = TurnText(user=said, assistant=Said("", said.spoken_at), known_block=block)
    extraction = ingest.extract(text)
    decided = [
        one
        for candidate in extraction.candidates
        if (one := single_texts.learn(run, candidate, user=user, text=_lone(user, line)))
    ]
    with run.applying(user):
        if _still_there(user, line):
            learnability.note(extraction.refused, user_id=user.pk)
            DailyNote.objects.filter(pk=line.pk).update(learned_at=timezone.now())
    return decided


def _lone(user: User, line: DailyNote) -> Lone:
    def hold(candidate: Candidate) -> SourceInput | None:
        if not _still_there(user, line):
            return None
        return SourceInput(origin=Origin.EXTRACTED, quote=line.text, reference=line.public_id)

    taught = Q(sources__reference=line.public_id)
    return Lone(learnability.telling_of_note(line), taught, hold, confirms_all=True)


def _still_there(user: User, line: DailyNote) -> bool:
    found = DailyNote.objects.select_for_update().filter(user=user, pk=line.pk)
    return found.first() is not None
