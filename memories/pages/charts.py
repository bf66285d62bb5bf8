"""Charts of the user's stored data. Each chart is drawn from a table that the page also shows."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.defaultfilters import filesizeformat
from django.urls import reverse
from django.utils import dateformat, timezone
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext
from django.views.decorators.http import require_safe

from foundation.database import statements
from memories.extraction.masking import additions_in_words
from memories.models import Kind, Memory
from memories.portrait import TITLES, group_of
from memories.selectors import in_use
from ops.models import User
from ops.pages.base import own_transaction, person, personal_page

_WIDTH, _HEIGHT = 600, 160  # pixels


@require_safe
@personal_page
def memory_pictures(request: HttpRequest) -> HttpResponse:
    with own_transaction(request):
        user = person(request)
        growth = growth_of(user)
        context = {
            "curves": [_curve(name, grown) for name, grown in growth.items() if grown.totals],
            "bars": [
                _topics(topics_of(user)),
                _uses(uses_of(user)),
                _kinds(kinds_of(user)),
                _storage(storage_of(user)),
            ],
            "speed": _latency(latency_of(user)),
            "section": "memory",
        }
        return render(request, "memories/memory_pictures.html", context)


def _curve(name: str, growth: Growth) -> dict[str, Any]:
    """Return the data of a curve; `line` and `area` are points in an SVG of 600 by 160 pixels."""
    titles = {"memories": _("Memories over time"), "messages": _("Messages over time")}
    most = growth.totals[-1] or 1
    shown = [dateformat.format(day, pgettext("date with year", "j M Y")) for day in growth.days]
    points = _points(growth.totals, most=max(growth.totals) or 1)
    return {
        "title": titles[name],
        "said": _growth_in_words(shown[0], shown[-1], _number(most)),
        "line": " ".join(points),
        "area": " ".join([f"0,{_HEIGHT}", *points, f"{_WIDTH},{_HEIGHT}"]),
        "first": shown[0],
        "last": shown[-1],
        "most": _number(most),
        "rows": [(day, _number(n)) for day, n in zip(shown, growth.totals, strict=True)],
        "tone": name,
    }


def _growth_in_words(first: str, last: str, most: str) -> str:
    if first == last:
        return _("Today is the first day: %(most)s so far.") % {"most": most}
    words = _("It grew to %(most)s between %(first)s and %(last)s.")
    return words % {"first": first, "last": last, "most": most}


def _points(totals: Sequence[int], *, most: int) -> list[str]:
    values = totals if len(totals) > 1 else [totals[0], totals[0]]
    step = _WIDTH / (len(values) - 1)
    high = _HEIGHT - 4  # leaves room for the width of the line
    return [f"{n * step:.1f},{_HEIGHT - high * value / most:.1f}" for n, value in enumerate(values)]


def _topics(topics: dict[str, int]) -> dict[str, Any]:
    bars = [_Bar(name, count) for name, count in topics.items()]
    said = _("Grouped by topic, as in “About you”.") if bars else _("Nothing yet.")
    return _bars("topics", _("Memories by topic"), said, (_("Topic"), _("Memories")), bars)


def _uses(found: Uses) -> dict[str, Any]:
    bars = [
        _Bar(
            additions_in_words(one.content),
            one.access_count,
            one.kind,
            reverse("memory_page", args=[one.public_id]),
        )
        for one in found.most
    ]
    words = ngettext(
        "%(used)s of %(n)s memory was used in answers.",
        "%(used)s of %(n)s memories were used in answers.",
        found.memories,
    )
    said = words % {"used": _number(found.used), "n": _number(found.memories)}
    return _bars("uses", _("Used most often"), said, (_("Memory"), _("Used in answers")), bars)


def _kinds(kinds: Mapping[str, int]) -> dict[str, Any]:
    bars = [_Bar(str(Kind(kind).label), count, kind) for kind, count in kinds.items()]
    total = sum(kinds.values())
    words = ngettext("%(n)s memory in use.", "%(n)s memories in use.", total)
    said = words % {"n": _number(total)}
    return _bars("kinds", _("Memories by kind"), said, (_("Kind"), _("Memories")), bars)


def _storage(sizes: dict[str, int]) -> dict[str, Any]:
    words = {
        "messages": _("What you said"),
        "memories": _("Memories and their history"),
        "meaning": _("Search index: meaning"),
        "words": _("Search index: words"),
        "recalls": _("Usage records"),
    }
    bars = [_Bar(words[name], size) for name, size in sizes.items()]
    said = _("%(size)s in total.") % {"size": filesizeformat(sum(sizes.values()))}
    heads = (_("What"), _("Size"))
    return _bars("storage", _("Storage"), said, heads, bars, show=filesizeformat)


def _latency(found: Latency) -> dict[str, Any]:
    ends = [_number(end) for end in CLASSES]
    labels = [
        _("under %(end)s ms") % {"end": ends[0]},
        *(
            _("%(start)s to %(end)s ms") % {"start": start, "end": end}
            for start, end in pairwise(ends)
        ),
        _("over %(end)s ms") % {"end": ends[-1]},
    ]
    bars = [_Bar(*one) for one in zip(labels, found.counts, strict=True) if found.total]
    numbers = {"n": _number(found.total), "p50": _ms(found.p50), "p99": _ms(found.p99)}
    words = ngettext(
        "The last recall took %(p50)s ms.",
        "Half of the last %(n)s recalls took less than %(p50)s ms, and 99%% took less than"
        " %(p99)s ms.",
        found.total,
    )
    said = words % numbers if found.total else _("Nothing has been recalled yet.")
    return _bars("speed", _("Recall time"), said, (_("Time"), _("Recalls")), bars)


class _Bar(NamedTuple):
    """A bar of a chart. If `href` is set, the label is a link.

    `tone` is the name of a colour in the style sheet.
    """

    label: str
    size: int
    tone: str = ""
    href: str = ""


def _number(value: int) -> str:
    return number_format(value, force_grouping=True)


def _bars(
    name: str,
    title: str,
    said: str,
    heads: tuple[str, str],
    bars: Sequence[_Bar],
    *,
    show: Callable[[int], str] = _number,
) -> dict[str, Any]:
    """Return the data of a bar chart; `heads` are the column headings of the table with its values.

    The length of each bar is a percentage of the longest bar, at least 1 unless the value is 0.
    """
    longest = max((bar.size for bar in bars), default=0)
    shown = [
        bar._asdict()
        | {
            "value": show(bar.size),
            "percent": max(1, round(100 * bar.size / longest)) if bar.size else 0,
        }
        for bar in bars
    ]
    return {"id": name, "title": title, "said": said, "bars": shown, "heads": heads}


def _ms(value: float) -> str:
    return number_format(value, decimal_pos=0 if value >= 10 else 1)


POINTS = 60
MOST_USED = 10
TRACES = 500
# Upper bounds of the latency classes in ms; slower recalls are in an additional last class.
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
    """A growing count: `totals` has its value at the end of each of `days` (at most `POINTS`)."""

    days: Sequence[date]
    totals: Sequence[int]


@dataclass(frozen=True)
class Latency:
    """How long the newest recalls (at most `TRACES`) took.

    `counts` holds the number of recalls in each class of `CLASSES`, and then of slower recalls. The
    percentiles `p50` and `p99` are in milliseconds.
    """

    counts: Sequence[int]
    p50: float
    p99: float

    @property
    def total(self) -> int:
        return sum(self.counts)


@dataclass(frozen=True)
class Uses:
    """The number of memories in use, the number ever used in a prompt, and the most used ones."""

    memories: int
    used: int
    most: Sequence[Memory]


def topics_of(user: User) -> dict[str, int]:
    """Return the number of memories in use for each topic, by the topic's title.

    The topics are the groups of the portrait, and "Projects" for all memories of projects.
    """
    rows = Memory.objects.filter(in_use(), user=user)
    alike = rows.filter(project=None).values("tags", "kind", "standing").annotate(n=Count("pk"))
    counted: Counter[str] = Counter()
    for row in alike.order_by():
        counted[group_of(tags=row["tags"], kind=row["kind"], standing=row["standing"])] += row["n"]
    found = {str(TITLES[key]): counted[key] for key in TITLES if counted[key]}
    in_projects = rows.exclude(project=None).count()
    return found | ({_("Projects"): in_projects} if in_projects else {})


def kinds_of(user: User) -> dict[str, int]:
    """Return how many memories of each kind are in use, largest number first."""
    rows = Memory.objects.filter(in_use(), user=user).values("kind")
    counted = rows.annotate(n=Count("pk")).order_by("-n", "kind")
    return {row["kind"]: row["n"] for row in counted}


def uses_of(user: User) -> Uses:
    rows = Memory.objects.filter(in_use(), user=user)
    counts = rows.aggregate(memories=Count("pk"), used=Count("pk", filter=Q(access_count__gt=0)))
    most = rows.filter(access_count__gt=0).order_by("-access_count", "-pk")[:MOST_USED]
    return Uses(counts["memories"], counts["used"], list(most))


def growth_of(user: User) -> dict[str, Growth]:
    """Return the growth of "memories" (those in use today) and of "messages".

    A memory counts from the day of its oldest source message, or from the day of its creation if it
    has no source message.
    """
    zone = timezone.get_current_timezone_name()
    said = (
        "coalesce((SELECT min(m.created_at) FROM memories_source s"
        " JOIN conversations_message m ON m.id = s.message_id"
        " WHERE s.user_id = r.user_id AND s.memory_id = r.id), r.created_at)"
    )
    used_now = (
        "AND r.deleted_at IS NULL AND r.status = 'active'"
        " AND (r.valid_until IS NULL OR r.valid_until > statement_timestamp())"
    )
    return {
        "memories": _growth(_by_day(user, "memories_memory", said, used_now, zone=zone)),
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
    """Return how many bytes the user's rows take in each category, excluding database indexes."""
    parts = [
        " + ".join(
            f"(SELECT coalesce(sum(pg_column_size(r.*)), 0) FROM {table} r WHERE r.user_id = %s)"
            for table in tables
        )
        for _name, tables in _STORED
    ]
    values = [user.pk for _name, tables in _STORED for _table in tables]
    found = statements.rows(f"SELECT {', '.join(parts)}", values)[0]
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
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))] if ordered else 0.0
