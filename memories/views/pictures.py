"""What is stored, in pictures: each is drawn from the table that stands behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.defaultfilters import filesizeformat
from django.utils import dateformat
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext
from django.views.decorators.http import require_safe

from memories.browsing import pictures
from memories.browsing.pictures import CLASSES, Growth, Latency
from memories.browsing.standing import standing_for
from memories.browsing.survey import Facet
from memories.models import Kind
from ops.pages import own_transaction, person, personal_page

_WIDE, _HIGH = 600, 160


@dataclass(frozen=True)
class Bar:
    """`percent` is of the longest; `tone` names a colour of the style sheet."""

    label: str
    value: str
    percent: int
    tone: str = ""


@dataclass(frozen=True)
class Bars:
    title: str
    said: str
    bars: Sequence[Bar]
    heads: tuple[str, str]


@dataclass(frozen=True)
class Curve:
    """`line` and `area` are points of an SVG of 600 by 160."""

    title: str
    said: str
    line: str
    area: str
    first: str
    last: str
    most: str
    rows: Sequence[tuple[str, str]]
    tone: str


@require_safe
@personal_page
def memory_pictures(request: HttpRequest) -> HttpResponse:
    with own_transaction(request):
        user = person(request)
        growth = pictures.growth_of(user)
        context = {
            "curves": [one for name in growth if (one := _curve(name, growth[name]))],
            "bars": [
                _kinds(standing_for(request).survey.kinds),
                _storage(pictures.storage_of(user)),
                _latency(pictures.latency_of(user)),
            ],
            "section": "memory",
        }
        return render(request, "memories/memory_pictures.html", context)


def _curve(name: str, growth: Growth) -> Curve | None:
    if not growth.totals:
        return None
    titles = {"memories": _("Memories over time"), "messages": _("Messages over time")}
    most = growth.totals[-1] or 1
    shown = [dateformat.format(day, pgettext("date with year", "j M Y")) for day in growth.days]
    points = _points(growth.totals, most=max(growth.totals) or 1)
    return Curve(
        title=titles[name],
        said=_("From %(first)s to %(last)s it grew to %(most)s.")
        % {"first": shown[0], "last": shown[-1], "most": _number(most)},
        line=" ".join(points),
        area=" ".join([f"0,{_HIGH}", *points, f"{_WIDE},{_HIGH}"]),
        first=shown[0],
        last=shown[-1],
        most=_number(most),
        rows=[(day, _number(n)) for day, n in zip(shown, growth.totals, strict=True)],
        tone=name,
    )


def _points(totals: Sequence[int], *, most: int) -> list[str]:
    """One value alone is drawn as a level."""
    values = totals if len(totals) > 1 else [totals[0], totals[0]]
    step = _WIDE / (len(values) - 1)
    high = _HIGH - 4  # the stroke stays inside
    return [f"{n * step:.1f},{_HIGH - high * value / most:.1f}" for n, value in enumerate(values)]


def _kinds(kinds: Sequence[Facet]) -> Bars:
    longest = max((one.count for one in kinds), default=0)
    bars = [
        Bar(str(Kind(one.value).label), _number(one.count), _percent(one.count, longest), one.value)
        for one in kinds
    ]
    total = sum(one.count for one in kinds)
    words = ngettext("%(n)s memory in use.", "%(n)s memories in use.", total)
    said = words % {"n": _number(total)}
    return Bars(_("Memories by kind"), said, bars, (_("Kind"), _("Memories")))


def _storage(sizes: dict[str, int]) -> Bars:
    words = {
        "messages": _("What was said"),
        "memories": _("Memories and their history"),
        "meaning": _("Search index: meaning"),
        "words": _("Search index: words"),
        "recalls": _("Records of recall"),
    }
    longest = max(sizes.values(), default=0)
    bars = [
        Bar(words[name], filesizeformat(size), _percent(size, longest))
        for name, size in sizes.items()
    ]
    said = _("%(size)s in all.") % {"size": filesizeformat(sum(sizes.values()))}
    return Bars(_("Storage"), said, bars, (_("What"), _("Size")))


def _latency(found: Latency) -> Bars:
    ends = [_number(end) for end in CLASSES]
    labels = [
        _("under %(end)s ms") % {"end": ends[0]},
        *(
            _("%(start)s to %(end)s ms") % {"start": start, "end": end}
            for start, end in pairwise(ends)
        ),
        _("over %(end)s ms") % {"end": ends[-1]},
    ]
    longest = max(found.counts)
    bars = [
        Bar(label, _number(count), _percent(count, longest))
        for label, count in zip(labels, found.counts, strict=True)
        if found.total
    ]
    told = {"n": _number(found.total), "p50": _ms(found.p50), "p99": _ms(found.p99)}
    words = ngettext(
        "The last recall took %(p50)s ms.",
        "Of the last %(n)s recalls half took less than %(p50)s ms, 99 of 100 less than %(p99)s ms.",
        found.total,
    )
    said = words % told if found.total else _("Nothing was recalled yet.")
    return Bars(_("How long recalling takes"), said, bars, (_("Time"), _("Recalls")))


def _percent(count: int, longest: int) -> int:
    """What is there at all is seen."""
    return max(1, round(100 * count / longest)) if count else 0


def _number(value: int) -> str:
    return number_format(value, force_grouping=True)


def _ms(value: float) -> str:
    return number_format(value, decimal_pos=0 if value >= 10 else 1)
