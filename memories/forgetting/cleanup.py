"""Cleanup of expired rows: the recycle bin, old traces, stored answers, links and tokens."""

from __future__ import annotations

from collections import defaultdict
from datetime import timedelta

from django.conf import settings
from django.utils import timezone

from memories.forgetting import memory_forgets
from memories.models import Memory, MemoryFile, RecallTrace
from ops.access import as_system, as_user
from ops.models import IdempotencyRecord, Operation, SignInLink, User
from ops.queue.batching import AT_ONCE, delete, work_in_batches
from ops.queue.run import Run


def forget_binned(run: Run) -> int:
    """Forget memories whose time in the recycle bin is over; return how many.

    Each user's memories go through the same service as "Forget now", in a separate transaction.
    """
    with as_system():
        due = Memory.visible.filter(purge_at__lte=timezone.now()).order_by("pk")
        owners: dict[int, list[int]] = defaultdict(list)
        for pk, user_id in due.values_list("pk", "user")[:AT_ONCE]:
            owners[user_id].append(pk)
        users = User.objects.in_bulk(list(owners))
    for user_id, memory_ids in owners.items():
        run.step("bin")
        with as_user(users[user_id], changing=True):
            # Read again: a memory may have been restored in the meantime.
            still = list(Memory.visible.filter(pk__in=memory_ids, purge_at__lte=timezone.now()))
            if still:
                memory_forgets.forget_memories(user=users[user_id], memories=still)
    return sum(map(len, owners.values()))


def erase_binned_files(run: Run) -> int:
    """Erase users' own notes whose time in the bin is over, with their versions."""
    due = timezone.now() - timedelta(days=settings.RECYCLE_DAYS)
    with run.applying_as_system():
        old = MemoryFile.everything.filter(deleted_at__lte=due).order_by("pk")
        pks = list(old.values_list("pk", flat=True)[:AT_ONCE])
        MemoryFile.everything.filter(pk__in=pks).delete()
    return len(pks)


def erase_expired(run: Run) -> dict[str, int]:
    """Erase expired traces and stored answers, used or stale links, and stale tokens.

    Rows are erased in batches, each in its own transaction.
    """
    now = timezone.now()
    too_old = now - timedelta(days=settings.TRACE_DAYS)
    tokens = Operation.objects.filter(token_expires_at__lt=now, token_digest__isnull=False)
    answers = IdempotencyRecord.objects.filter(expires_at__lt=now)
    return {
        "traces": work_in_batches(run, RecallTrace.objects.filter(created_at__lt=too_old), delete),
        "answers": work_in_batches(run, answers, delete),
        "links": work_in_batches(run, SignInLink.objects.filter(expires_at__lt=now), delete),
        "tokens": work_in_batches(run, tokens, lambda rows: rows.update(token_digest=None)),
    }
