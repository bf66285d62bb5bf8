"""What is stored of a person over time, in bytes, and how fast it is recalled: for pictures."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import accumulate

from django.utils import timezone

from memcenter.lib import statements
from ops.models import User

POINTS = 60
TRACES = 500
# Upper ends of the classes of milliseconds; what is slower is the last class.
CLASSES = (5, 10, 20, 50, 100, 200, 500)
_STORED = (
    ("messages", ("conversations_message",)),
    ("memories", ("memories_memory", "memories_memoryversion", "memories_fragment")),
    ("meaning", ("memories_vector",)),
    ("words", ("memories_lexicalentry",)),
    ("recalls", ("memories_recalltrace", "memories_recallhit")),
)


@dataclass(frozen=True)
class Growth:
    """How many there were at the end of each of these days; at most `POINTS` of them."""

    days: Sequence[date]
    totals: Sequence[int]


@dataclass(frozen=True)
class Latency:
    """Of the newest recalls, at most `TRACES`: how many in each class, median, 99th percentile."""

    counts: Sequence[int]
    p50: float
    p99: float

    @property
    def total(self) -> int:
        return sum(self.counts)


def growth_of(user: User) -> dict[str, Growth]:
    """Of messages and of memories, by the day on which each was said."""
    zone = timezone.get_current_timezone_name()
    said = (
        "coalesce((SELECT min(m.created_at) FROM memories_source s"
        " JOIN conversations_message m ON m.id = s.message_id"
        " WHERE s.user_id = r.user_id AND s.memory_id = r.id), r.created_at)"
    )
    in_use = "AND r.deleted_at IS NULL AND r.status IN ('active', 'disabled')"
    return {
        "memories": _growth(_by_day(user, "memories_memory", said, in_use, zone=zone)),
        "messages": _growth(_by_day(user, "conversations_message", "r.created_at", "", zone=zone)),
    }


def _by_day(
    user: User, table: str, moment: str, condition: str, *, zone: str
) -> list[tuple[date, int]]:
    found = statements.rows(
        f"SELECT ({moment} AT TIME ZONE %s)::date, count(*) FROM {table} r"
        f" WHERE r.user_id = %s AND r.hidden_at IS NULL {condition} GROUP BY 1 ORDER BY 1",
        [zone, user.pk],
    )
    return [(day, count) for day, count in found]


def _growth(counted: Sequence[tuple[date, int]]) -> Growth:
    """From the first day to today in equal steps, the last of which ends today."""
    if not counted:
        return Growth((), ())
    today = max(timezone.localdate(), counted[-1][0])
    first = counted[0][0]
    step = (today - first).days // POINTS + 1
    count = (today - first).days // step + 1
    days = [today - timedelta(days=step * (count - 1 - n)) for n in range(count)]
    known = [day for day, _count in counted]
    totals = list(accumulate(count for _day, count in counted))
    reached = [bisect_right(known, day) for day in days]
    return Growth(days, [totals[n - 1] if n else 0 for n in reached])


def storage_of(user: User) -> dict[str, int]:
    """Bytes that the rows take, by what they are; indexes apart."""
    parts = [
        " + ".join(
            f"(SELECT coalesce(sum(pg_column_size(r.*)), 0) FROM {table} r WHERE r.user_id = %s)"
            for table in tables
        )
        for _name, tables in _STORED
    ]
    asked = [user.pk for _name, tables in _STORED for _table in tables]
    found = statements.rows(f"SELECT {', '.join(parts)}", asked)[0]
    return {name: int(size) for (name, _tables), size in zip(_STORED, found, strict=True)}


def latency_of(user: User) -> Latency:
    found = statements.rows(
        "SELECT took_ms FROM memories_recalltrace WHERE user_id = %s AND kind = 'recall'"
        " ORDER BY id DESC LIMIT %s",
        [user.pk, TRACES],
    )
    times = sorted(float(row[0]) for row in found)
    counts = [0] * (len(CLASSES) + 1)
    for time in times:
        counts[bisect_right(CLASSES, time)] += 1
    return Latency(counts, _percentile(times, 0.5), _percentile(times, 0.99))


def _percentile(ordered: Sequence[float], part: float) -> float:
    """The nearest rank; 0 of nothing."""
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))] if ordered else 0.0
