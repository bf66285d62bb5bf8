"""Statistics about stored data and the speed of recalls, for one user or for all users."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import connection
from django.db.models import Avg, Count, Model

from conversations.models import Conversation, Episode, Message
from foundation.database import statements
from memories.models import Fragment, LexicalEntry, Memory, MemoryVersion, RecallTrace, Vector
from ops.models import User

_STORED: Sequence[type[Model]] = (Message, Memory, MemoryVersion, Fragment, Vector, LexicalEntry)
_RECALLED: Sequence[type[Model]] = (Memory, Fragment, Vector, LexicalEntry)
_PAGES = """
SELECT coalesce(sum(heap_blks_hit + coalesce(idx_blks_hit, 0) + coalesce(toast_blks_hit, 0)
                    + coalesce(tidx_blks_hit, 0)), 0),
       coalesce(sum(heap_blks_read + coalesce(idx_blks_read, 0) + coalesce(toast_blks_read, 0)
                    + coalesce(tidx_blks_read, 0)), 0)
  FROM pg_statio_user_tables WHERE relname = ANY(%s)
"""


def metrics_for(user: User | None) -> dict[str, Any]:
    """Return the response of `GET /memory/metrics` for `user`; None stands for all users."""
    mine = {} if user is None else {"user": user}
    memories = Memory.objects.filter(**mine)
    return {
        "memories": {
            "total": memories.count(),
            "by_kind": _count_by(memories, "kind"),
            "by_status": _count_by(memories, "status"),
        },
        "average_importance": memories.aggregate(mean=Avg("importance"))["mean"],
        "conversations": Conversation.objects.filter(**mine).count(),
        "messages": Message.objects.filter(**mine).count(),
        "episodes": Episode.objects.filter(**mine).count(),
        "storage_bytes": sum(_bytes(model, user) for model in _STORED),
        "recall": _recall(user),
        "cache_hit_rate": cache_hit_rate(),
    }


def cache_hit_rate() -> float:
    """Return the share (0-1) of page reads that PostgreSQL's cache served, for recall's tables.

    The share covers all users and the time since PostgreSQL's statistics were last reset. Return 1
    if no page has been read.
    """
    [(hits, misses)] = statements.rows(_PAGES, [[model._meta.db_table for model in _RECALLED]])
    return share(int(hits), int(misses))


def share(hits: int, misses: int) -> float:
    return hits / (hits + misses) if hits + misses else 1.0


def _count_by(rows: Any, column: str) -> dict[str, int]:
    return dict(rows.order_by().values_list(column).annotate(count=Count("pk")))


def _bytes(model: type[Model], user: User | None) -> int:
    table = connection.ops.quote_name(model._meta.db_table)
    condition, values = ("", []) if user is None else ("WHERE user_id = %s", [user.pk])
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT coalesce(sum(pg_column_size(one.*)), 0) FROM {table} one {condition}", values
        )
        return int(cursor.fetchone()[0])


def _recall(user: User | None) -> dict[str, Any]:
    table = connection.ops.quote_name(RecallTrace._meta.db_table)
    condition, values = ("", []) if user is None else ("AND user_id = %s", [user.pk])
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*), percentile_cont(ARRAY[0.5, 0.99]) WITHIN GROUP (ORDER BY took_ms)"
            f" FROM {table} WHERE kind = 'recall' {condition}",
            values,
        )
        count, percentiles = cursor.fetchone()
    p50, p99 = percentiles or (None, None)
    return {"count": count, "p50_ms": p50, "p99_ms": p99}
