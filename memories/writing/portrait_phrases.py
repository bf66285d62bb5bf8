"""The short phrases of the portrait page, which a chat model writes for memories.

Each phrase belongs to one version of a memory and is erased with that version. When a memory
changes, its new version has no phrase, so the user's own words are shown until the next run.
Without a chat model no operation is enqueued.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from django.conf import settings
from django.db.models import F
from django.utils import timezone

from memories import language_steps
from memories.models import Memory, MemoryStatus, MemoryVersion, PortraitPhrase
from memories.portrait import portrait_memories
from ops.access import as_user
from ops.accounts import users
from ops.models import Kind, Priority, User
from ops.queue import outbox
from ops.queue.run import Run

DELAY = timedelta(minutes=2)  # so that memories learned together are processed in one run
_AT_ONCE = 20  # memories per model call, stored together


def request_for(memory: Memory) -> None:
    """Request a phrase for a new or changed memory, unless the memory is about a project."""
    if settings.LANGUAGE_METHOD == "model" and memory.project_id is None:
        request(user=memory.user)


def request(*, user: User) -> None:
    """Enqueue an operation that writes the missing phrases, unless one is already queued.

    The operation runs after `DELAY`. Nothing is enqueued if no chat model is configured.
    """
    if settings.LANGUAGE_METHOD != "model":
        return
    outbox.enqueue(
        Kind.WORD_PORTRAIT,
        subject=user.subject,
        payload={},
        priority=Priority.BULK,
        dedupe_key=f"word_portrait:{user.subject}",
        serial_key=str(user.subject),
        run_after=timezone.now() + DELAY,
    )


def write(run: Run, *, user: User) -> int:
    """Write the missing phrases of the portrait; return the number of phrases that aren't empty.

    Raise `ProviderError` if a model call fails; phrases that were already stored are kept.
    """
    phraser = language_steps.phraser()
    if phraser is None:
        return 0
    with as_user(user):
        waiting = _unworded(user)
    count = 0
    for start in range(0, len(waiting), _AT_ONCE):
        batch = waiting[start : start + _AT_ONCE]
        phrases = phraser.word([memory.content for memory in batch])
        with run.applying(user):
            count += _store(batch, phrases, user=user)
    return count


def _unworded(user: User) -> list[Memory]:
    if user.hidden_at is not None or not users.settings_of(user).longterm_enabled:
        return []
    return [one for one in portrait_memories(user) if one.wording is None]  # type: ignore[attr-defined]


def _store(memories: Sequence[Memory], phrases: Sequence[str], *, user: User) -> int:
    current = User.objects.get(pk=user.pk)
    if current.hidden_at is not None or not users.settings_held(user).longterm_enabled:
        return 0
    said = {one.pk: (one.content, phrase) for one, phrase in zip(memories, phrases, strict=True)}
    in_use = Memory.objects.filter(user=user, pk__in=said, status=MemoryStatus.ACTIVE)
    versions = MemoryVersion.objects.filter(
        user=user, memory__in=in_use, number=F("memory__current_version"), phrase=None
    )
    rows = [
        PortraitPhrase(user=user, version=one, text=said[one.memory_id][1])
        for one in versions
        if one.content == said[one.memory_id][0]
    ]
    PortraitPhrase.objects.bulk_create(rows)
    return sum(bool(row.text) for row in rows)
