"""Learning from old daily notes: what is durable in them becomes memories.

A note of today or yesterday stands in the block as it is. Once it is older, each line is read as
something that was said, arbitrated like anything else, and is then the source of what it taught.
The lines stay: they are append-only, and found by search. Those of a flush were memories first.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from django.conf import settings
from django.db.models import Q, QuerySet
from django.utils import timezone

from memories.extraction import noted
from memories.extraction.types import Candidate, Said, TurnText
from memories.models import DailyNote, Origin
from memories.services import flush_writing, ingest, learnability, listening, lone, refusals
from memories.services.deciding import Decided
from memories.services.lone import Lone
from memories.services.writing import SourceInput
from ops.access import as_user
from ops.models import User
from ops.services import users
from ops.services.worker import Run

_AT_ONCE = 500  # lines of one run; the next night goes on


def waiting(now: datetime) -> QuerySet[DailyNote]:
    """Everybody's lines that are old enough and were not read yet, oldest first."""
    last = now.date() - timedelta(days=settings.NOTES_LEARN_DAYS)
    found = DailyNote.objects.filter(day__lte=last, learned_at__isnull=True)
    return found.exclude(source=flush_writing.SOURCE).order_by("day", "number")


def people_with_some(now: datetime) -> Iterator[User]:
    """Whose notes wait; to be read as the system."""
    owners = waiting(now).order_by().values("user").distinct()
    on = User.objects.filter(pk__in=owners, hidden_at__isnull=True)
    yield from on.exclude(settings__longterm_enabled=False).order_by("pk")


def learn_from_old(run: Run, *, user: User) -> list[Decided]:
    """Read the old lines, each in its turn. Raises `ProviderError`.

    Nothing happens while long-term memory is off. Running it again after a kill leaves out what
    was decided before.
    """
    with as_user(user):
        if user.hidden_at is not None or not users.settings_of(user).longterm_enabled:
            return []
        lines = list(waiting(timezone.now()).filter(user=user)[:_AT_ONCE])
    return [one for line in lines for one in _learn(run, user, line)]


def _learn(run: Run, user: User, line: DailyNote) -> list[Decided]:
    with as_user(user):
        zone = ZoneInfo(users.settings_of(user).timezone)
        block = listening.recently_shown(user.pk)
    said = Said(noted.as_said(line.text), line.created_at.astimezone(zone))
    text = TurnText(user=said, assistant=Said("", said.spoken_at), known_block=block)
    extraction = ingest.extract(text)
    decided = [
        one
        for candidate in extraction.candidates
        if (one := lone.learn(run, candidate, user=user, text=_lone(user, line)))
    ]
    with run.applying(user):
        if _still_there(user, line):
            refusals.note(extraction.refused, user_id=user.pk)
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
