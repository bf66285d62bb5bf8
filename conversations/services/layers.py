"""Deleting all summaries or all episodes of a person, while what was said stays."""

from __future__ import annotations

from collections import Counter
from typing import Any

from conversations.models import Episode, Summary
from memories.models import TargetKind
from memories.services import erasing as known
from memories.services.erasing import by_table
from ops.models import IdempotencyRecord, User
from ops.services import audit, erasing


def delete_summaries(*, user: User) -> int:
    """Erase every summary with its index, at once; gives how many there were.

    The messages stay. Where summaries are on, long conversations are summarized again.
    """
    return _delete(user, Summary.objects.filter(user=user), TargetKind.SUMMARY)


def delete_episodes(*, user: User) -> int:
    """Erase every episode with its index, at once; gives how many there were.

    The turns stay; earlier ones are no longer found when somebody refers to them.
    """
    return _delete(user, Episode.objects.filter(user=user), TargetKind.EPISODE)


def _delete(user: User, rows: Any, kind: TargetKind) -> int:
    """Rows, words, vectors, and what may hold a copy: exports and stored answers."""
    ids = dict(rows.order_by("pk").select_for_update().values_list("pk", "public_id"))
    erased: Counter[str] = known.erase_index(user=user, kind=kind, target_ids=list(ids))
    erased += known.erase_hits(user=user, public_ids=list(ids.values()))
    erased += by_table(rows.filter(pk__in=ids).delete())
    erased += Counter(erasing.erase_transfers(user))
    stored = IdempotencyRecord.objects.filter(user=user, body__isnull=False)
    stored.update(body=None, body_erased=True)
    audit.append(
        f"delete.{kind.value}",
        actor="user",
        surface="page",
        subject=user.subject,
        details={what: count for what, count in erased.items() if count},
    )
    return len(ids)
