"""What is over its time: the recycle bin, old traces, answers, links and tokens."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone

from memories.models import Memory, MemoryFile, RecallTrace
from memories.services import forgetting
from ops.access import as_system, as_user
from ops.models import IdempotencyRecord, Operation, SignInLink, User
from ops.services.worker import Run

_AT_ONCE = 1_000


def forget_binned(run: Run) -> int:
    """Forget what has lain in the recycle bin for long enough; gives how many memories.

    Each person's go through the same service as "Forget now", in a transaction of their own.
    """
    with as_system():
        due = Memory.visible.filter(purge_at__lte=timezone.now()).order_by("pk")
        owners: dict[int, list[int]] = defaultdict(list)
        for pk, user_id in due.values_list("pk", "user")[:_AT_ONCE]:
            owners[user_id].append(pk)
        users = User.objects.in_bulk(list(owners))
    for user_id, memory_ids in owners.items():
        run.step("bin")
        with as_user(users[user_id], changing=True):
            # Looked at again: it may have been taken back meanwhile.
            still = list(Memory.visible.filter(pk__in=memory_ids, purge_at__lte=timezone.now()))
            if still:
                forgetting.forget_memories(user=users[user_id], memories=still)
    return sum(map(len, owners.values()))


def erase_binned_files(run: Run) -> int:
    """Erase the notes of people's own that lay in the bin for long enough, with their versions."""
    due = timezone.now() - timedelta(days=settings.RECYCLE_DAYS)
    with run.applying_as_system():
        old = MemoryFile.everything.filter(deleted_at__lte=due).order_by("pk")
        pks = list(old.values_list("pk", flat=True)[:_AT_ONCE])
        MemoryFile.everything.filter(pk__in=pks).delete()
    return len(pks)


def erase_expired(run: Run) -> dict[str, int]:
    """Erase traces and stored answers past their days, used or stale links, stale tokens.

    Each in batches with a transaction of their own.
    """
    now = timezone.now()
    too_old = now - timedelta(days=settings.TRACE_DAYS)
    tokens = Operation.objects.filter(token_expires_at__lt=now, token_digest__isnull=False)
    return {
        "traces": _in_batches(run, RecallTrace.objects.filter(created_at__lt=too_old), _delete),
        "answers": _in_batches(run, IdempotencyRecord.objects.filter(expires_at__lt=now), _delete),
        "links": _in_batches(run, SignInLink.objects.filter(expires_at__lt=now), _delete),
        "tokens": _in_batches(run, tokens, lambda rows: rows.update(token_digest=None)),
    }


def _in_batches(run: Run, rows: QuerySet[Any], act: Callable[[QuerySet[Any]], object]) -> int:
    """Do it until none is left, which `act` must bring about; gives how many rows there were."""
    count = 0
    while True:
        with run.applying_as_system():
            pks = list(rows.order_by("pk").values_list("pk", flat=True)[:_AT_ONCE])
            act(rows.model._base_manager.filter(pk__in=pks))
        count += len(pks)
        if len(pks) < _AT_ONCE:
            return count


def _delete(rows: QuerySet[Any]) -> None:
    rows.delete()
