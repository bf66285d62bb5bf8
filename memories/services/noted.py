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
from django.db.models import QuerySet
from django.utils import timezone

from memories.extraction import noted
from memories.extraction.types import Candidate, Said, TurnText
from memories.models import Arbitration, DailyNote, Memory, Origin
from memories.services import (
    deciding,
    flush_writing,
    indexing,
    ingest,
    listening,
    providers,
    refusals,
    similar,
    tombstones,
)
from memories.services.deciding import Decided
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
        if (one := _learn_one(run, candidate, user=user, line=line))
    ]
    with run.applying(user):
        if _still_there(user, line):
            refusals.note(extraction.refused, user_id=user.pk)
            DailyNote.objects.filter(pk=line.pk).update(learned_at=timezone.now())
    return decided


def _learn_one(run: Run, candidate: Candidate, *, user: User, line: DailyNote) -> Decided | None:
    """Decide on one candidate and apply it in a transaction of its own."""
    vectors, pieces = indexing.embed_memory(candidate.content)
    with as_user(user):
        if not _is_new(user, line, candidate):
            return None
        known = similar.similar_to(vectors[0], user=user, content=candidate.content)
    meeting = deciding.meet(candidate, known=known, arbiter=providers.arbiter())
    draft = ingest.draft_of(candidate, vectors, pieces, None)
    merged = deciding.merged_draft(meeting, draft)
    with run.applying(user):
        own = users.settings_held(user)
        if not _still_there(user, line) or not own.longterm_enabled:
            return None
        return deciding.apply(
            meeting,
            draft,
            user=user,
            source=SourceInput(origin=Origin.EXTRACTED, quote=line.text, reference=line.public_id),
            always_review=own.confirm_before_remembering,
            merged=merged,
        )


def _is_new(user: User, line: DailyNote, candidate: Candidate) -> bool:
    text, ids = candidate.content, [line.public_id]
    if tombstones.is_forgotten(user=user, text=text, message_ids=ids):
        return False
    learned = Memory.everything.filter(user=user, sources__reference=line.public_id)
    decided = Arbitration.objects.filter(user=user, memory__in=learned, candidate_text=text)
    return not decided.exists()


def _still_there(user: User, line: DailyNote) -> bool:
    found = DailyNote.objects.select_for_update().filter(user=user, pk=line.pk)
    return found.first() is not None
