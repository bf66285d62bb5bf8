"""Summarize a week's changes (memories learned, changed, ended or forgotten), and email the counts.

Days begin and end in the user's time zone. The summary is computed from the memories each time and
isn't stored. Memories that aren't active are left out; forgotten memories are only counted. The
weekly email contains only counts and a link.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from django.db.models import (
    Case,
    Count,
    Exists,
    F,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
    When,
    Window,
)
from django.db.models.functions import Coalesce, RowNumber
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.formats import date_format
from django.utils.functional import Promise
from django.utils.translation import gettext, ngettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from memories.models import Change, Memory, MemoryStatus, MemoryVersion, Tombstone
from ops import weekly_mail
from ops.accounts import users
from ops.models import Kind, User, WeeklyMail
from ops.queue.run import Run
from ops.registry import handles
from ops.weekly_mail import Letter, Link, NotSent

DAYS = 7
SHOWN = 40  # memories per section
TITLES: Mapping[str, str | Promise] = {
    "learned": pgettext_lazy("this week", "Learned"),
    "changed": _("Changed"),
    "ended": _("No longer true"),
}
_COUNTED: Mapping[str, Callable[[int], str]] = {
    "learned": lambda n: ngettext("%(n)d thing was learned.", "%(n)d things were learned.", n),
    "changed": lambda n: ngettext("%(n)d thing has changed.", "%(n)d things have changed.", n),
    "ended": lambda n: ngettext(
        "%(n)d thing is no longer true.", "%(n)d things are no longer true.", n
    ),
    "forgotten": lambda n: ngettext(
        "%(n)d thing was forgotten.", "%(n)d things were forgotten.", n
    ),
}
_FIRST_YEAR = 2000


@dataclass(frozen=True)
class Section:
    """The memories of one section, newest first, each with the time `at` of the change.

    `count` is the number of all memories of the section; only the newest are listed.
    """

    key: str
    count: int
    memories: Sequence[Any]

    @property
    def title(self) -> str:
        return str(TITLES[self.key])

    @property
    def rest(self) -> int:
        return self.count - len(self.memories)


@dataclass(frozen=True)
class Week:
    """The changes to a user's memories within seven days.

    `sections` holds only sections with memories. `earlier` is the last day of the previous week, or
    None if no memory was created before `first` or long-term memory is off. `later` is the last day
    of the next week, but today at the latest; it is None if `last` is today.
    """

    first: date
    last: date
    sections: Sequence[Section]
    forgotten: int
    earlier: date | None
    later: date | None

    @property
    def is_empty(self) -> bool:
        return not self.sections and not self.forgotten


def week_of(user: User, *, last: date | None = None) -> Week:
    """Return the week whose last day is `last`, or today if `last` is None or in the future.

    The week is empty while long-term memory is off.
    """
    own = users.settings_of(user)
    zone = ZoneInfo(own.timezone)
    today = timezone.now().astimezone(zone).date()
    last = min(max(last or today, date(_FIRST_YEAR, 1, 1)), today)
    first = last - timedelta(days=DAYS - 1)
    begins = datetime.combine(first, time(), zone)
    ends = datetime.combine(last + timedelta(days=1), time(), zone)
    is_on = own.longterm_enabled
    later = min(last + timedelta(days=DAYS), today)
    return Week(
        first=first,
        last=last,
        sections=_sections(user, begins, ends) if is_on else [],
        forgotten=_forgotten(user, begins, ends) if is_on else 0,
        earlier=first - timedelta(days=1) if is_on and _is_known(user, before=begins) else None,
        later=later if later > last else None,
    )


def _sections(user: User, begins: datetime, ends: datetime) -> list[Section]:
    newest = [F("at").desc(), F("pk").desc()]
    rows = _rows_by_section(user, begins, ends).annotate(
        count=Window(Count("pk"), partition_by=[F("part")]),
        place=Window(RowNumber(), partition_by=[F("part")], order_by=newest),
    )
    found: dict[str, list[Any]] = {key: [] for key in TITLES}
    for memory in rows.filter(place__lte=SHOWN).order_by("place"):
        found[memory.part].append(memory)
    return [Section(key, shown[0].count, shown) for key, shown in found.items() if shown]


def _rows_by_section(user: User, begins: datetime, ends: datetime) -> QuerySet[Any]:
    """Return the memories, annotated with their section (`part`) and time of the change (`at`).

    A memory that consolidation made from other memories counts as changed, not as learned.
    """
    versions = MemoryVersion.objects.filter(user=user)
    written = versions.filter(_within("created_at", begins, ends), erased_at=None)
    changed_at = written.filter(memory=OuterRef("pk")).order_by("-number").values("created_at")
    joined = versions.filter(memory=OuterRef("pk"), number=1, change=Change.CONSOLIDATED)
    is_ended = _within("valid_until", begins, min(ends, timezone.now()))
    is_new = _within("created_at", begins, ends)
    rows = Memory.objects.filter(
        is_ended | is_new | Q(pk__in=written.values("memory")),
        user=user,
        status=MemoryStatus.ACTIVE,
        removal_asked_at=None,
    )
    part = Case(
        When(is_ended, then=Value("ended")),
        When(is_new & ~Exists(joined), then=Value("learned")),
        default=Value("changed"),
    )
    at = Case(
        When(part="ended", then=F("valid_until")),
        When(part="learned", then=F("created_at")),
        default=Coalesce(Subquery(changed_at[:1]), "created_at"),
    )
    return rows.annotate(part=part).annotate(at=at)


def _within(column: str, begins: datetime, ends: datetime) -> Q:
    return Q(**{f"{column}__gte": begins, f"{column}__lt": ends})


def _forgotten(user: User, begins: datetime, ends: datetime) -> int:
    left = Tombstone.objects.filter(_within("forgotten_at", begins, ends), user=user)
    here = Memory.visible.filter(user=user).values("public_id")
    gone = left.exclude(memory_public_id="").exclude(memory_public_id__in=here)
    return gone.values("memory_public_id").distinct().count()


def _is_known(user: User, *, before: datetime) -> bool:
    return Memory.objects.filter(user=user, created_at__lt=before).exists()


@handles(Kind.WEEKLY_MAIL)
def send_weekly_mail(run: Run) -> None:
    """Send an email with the counts of the week that ended on Sunday, unless the week is empty.

    Safe to run twice: the email is marked as sent before it is sent. If the worker dies in between,
    no email is sent for this week. If the email was definitely not sent, the mark is removed and
    the operation is retried.
    """
    user = run.user()
    if user is None:
        return
    monday = date.fromisoformat(run.payload["monday"])
    with run.applying(user):
        row = weekly_mail.claim(user, monday=monday)
        week = week_of(user, last=monday - timedelta(days=1)) if row else None
    if row is None or week is None or week.is_empty:
        return
    try:
        with translation.override(weekly_mail.language_of(row)):
            weekly_mail.send(_letter(week, row), row)
    except NotSent:
        with run.applying(user):
            weekly_mail.unclaim(row)
        raise


def _letter(week: Week, row: WeeklyMail) -> Letter:
    counts = {one.key: one.count for one in week.sections} | {"forgotten": week.forgotten}
    days = {"first": date_format(week.first), "last": date_format(week.last)}
    page = f"{reverse('memory_week')}?{urlencode({'last': week.last.isoformat()})}"
    return Letter(
        subject=gettext("What I learned this week"),
        lines=(
            gettext("From %(first)s to %(last)s:") % days,
            *(_COUNTED[key](n) % {"n": n} for key, n in counts.items() if n),
            gettext(
                "This email never says what they are, because a sent email can’t be forgotten."
            ),
        ),
        action=gettext("See the week"),
        url=weekly_mail.absolute_url(page),
        stop_url=weekly_mail.url_of(Link.STOP, row),
    )
