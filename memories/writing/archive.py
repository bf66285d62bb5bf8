"""Archive memories that weren't used for `ARCHIVE_DAYS` days.

Old memories that resemble each other are first joined by `consolidation`. Archived memories aren't
put into prompts. They keep their text, versions and sources, and search still finds them. They
become active again if a user or a program restores them, or if the statement is repeated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from foundation.text import segment
from memories import language_steps
from memories.extraction.wording import own_words
from memories.extraction.wording.languages import TOPICS
from memories.models import Arbitration, Kind, Memory, MemoryStatus, MemoryVersion
from memories.retrieval.query import mentioned_dates
from memories.writing import memory_writes, verdict_effects
from ops.accounts import users
from ops.models import User

# Maximum number of texts that the reader model checks per user and night.
_MAX_TEXTS = 500
_OF_PEOPLE = [name for topic in ("family", "people") for name in (topic, TOPICS[topic])]
_DATED = ["date", "since", "until"]
_PROTECTED = (Kind.CONSTRAINT, Kind.SKILL, Kind.EVENT)


def unused_memories(now: datetime) -> QuerySet[Memory]:
    """Return all users' memories that weren't used, changed or repeated for `ARCHIVE_DAYS` days.

    Some memories are never returned: constraints, events, pinned or standing memories, memories of
    projects, memories that were used at least `CONSOLIDATE_USES` times, rated positively, disputed
    or valid for a limited time, and memories whose tags or data refer to people or dates. Skills
    aren't returned either; they are archived when their confidence is too low (`learning.skills`).
    """
    since = now - timedelta(days=settings.ARCHIVE_DAYS)
    changed = MemoryVersion.objects.filter(
        memory=OuterRef("pk"), number__gt=1, created_at__gt=since
    )
    said_again = Arbitration.objects.filter(
        memory=OuterRef("pk"), verdict="SKIP", created_at__gt=since
    )
    return (
        Memory.objects.filter(
            Q(last_accessed_at__isnull=True) | Q(last_accessed_at__lte=since),
            status=MemoryStatus.ACTIVE,
            project__isnull=True,
            pinned=False,
            standing=False,
            created_at__lte=since,
            access_count__lt=settings.CONSOLIDATE_USES,
            valid_from__isnull=True,
            valid_until__isnull=True,
            conflicts_with__isnull=True,
            contested_by__isnull=True,
            removal_asked_at__isnull=True,
        )
        .exclude(kind__in=_PROTECTED)
        .exclude(feedback="positive")
        .exclude(Q(tags__overlap=_OF_PEOPLE) | Q(data__has_any_keys=_DATED))
        .exclude(Exists(changed) | Exists(said_again))
    )


def find_archivable(user: User, *, now: datetime) -> list[Memory]:
    """Return the user's unused memories whose text isn't about people or dates.

    The reader model checks the texts that the rules can't decide on, at most `_MAX_TEXTS` a night.
    Memories about people aren't archived and would be checked again every night, so each night
    starts with a different memory (`_rotated`). The list is empty while long-term memory is off.
    """
    if user.hidden_at is not None or not users.settings_of(user).longterm_enabled:
        return []
    extractor, found = language_steps.bundled_extractor(), list[Memory]()
    asked = 0
    for memory in _rotated(unused_memories(now).filter(user=user).order_by("pk"), now=now):
        if _names_people_or_dates(memory):
            continue
        asked += 1
        if asked > _MAX_TEXTS:
            break
        if not extractor.is_about_people(memory.content):
            found.append(memory)
    return found


def _rotated(memories: QuerySet[Memory], *, now: datetime) -> Iterator[Memory]:
    """Yield all memories, starting at a different memory each night."""
    keys = list(memories.values_list("pk", flat=True))
    if not keys:
        return
    first = keys[now.toordinal() * _MAX_TEXTS % len(keys)]
    for part in (memories.filter(pk__gte=first), memories.filter(pk__lt=first)):
        yield from part.iterator(chunk_size=_MAX_TEXTS)


def _names_people_or_dates(memory: Memory) -> bool:
    text, language = memory.content, segment.language(memory.content)
    if mentioned_dates(text):  # also dates without a year, such as a birthday
        return True
    return own_words.names_people_or_dates(text, spoken_at=memory.created_at, language=language)


def apply(memories: Sequence[Memory], *, user: User) -> list[str]:
    """Archive the memories in the caller's transaction; return their public ids.

    Memories that were used or changed in the meantime remain active. Safe to repeat.
    """
    if not memories or not users.settings_held(user).longterm_enabled:
        return []
    now = timezone.now()
    said = {memory.pk: memory.content for memory in memories}
    rows = Memory.objects.select_for_update(of=("self",)).filter(user=user, pk__in=said)
    still = rows.filter(pk__in=unused_memories(now).values("pk")).order_by("pk")
    found = [memory for memory in still if memory.content == said[memory.pk]]
    if found:
        verdict_effects.archive(found, user=user, at=now)
        memory_writes.drop_cached_counts(user.pk)
    return [one.public_id for one in found]


def unarchive(memory: Memory) -> None:
    """Make an archived memory active again and set the time of its last use to now.

    The memory must be locked; the caller saves it.
    """
    memory.status, memory.archived_at = MemoryStatus.ACTIVE, None
    memory.last_accessed_at = timezone.now()
