"""The weekly email: counts of learned, changed, outdated and forgotten memories, and a link."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, timedelta
from urllib.parse import urlencode

from django.urls import reverse
from django.utils import translation
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from memories.week import Week, week_of
from ops import weekly_mail
from ops.models import Kind, WeeklyMail
from ops.queue.run import Run
from ops.registry import handles
from ops.weekly_mail import Letter, Link, NotSent

_COUNTED: Mapping[str, Callable[[int], str]] = {
    "learned": lambda n: ngettext("%(n)d thing was learned.", "%(n)d things were learned.", n),
    "changed": lambda n: ngettext("%(n)d thing has changed.", "%(n)d things have changed.", n),
    "ended": lambda n: ngettext(
        "%(n)d thing is no longer the case.", "%(n)d things are no longer the case.", n
    ),
    "forgotten": lambda n: ngettext(
        "%(n)d thing was forgotten.", "%(n)d things were forgotten.", n
    ),
}


@handles(Kind.WEEKLY_MAIL)
def send_weekly_mail(run: Run) -> None:
    """Send an email with the counts of the week that ended on Sunday, unless the week is empty.

    Safe to run twice: the email is marked as sent before it is sent. If the worker dies in between,
    no email is sent for this week. If sending certainly failed, the mark is removed and the
    operation is retried.
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
        subject=_("What I learned this week"),
        lines=(
            _("From %(first)s to %(last)s:") % days,
            *(_COUNTED[key](n) % {"n": n} for key, n in counts.items() if n),
            _("This email never says what they are, because a sent email can’t be forgotten."),
        ),
        action=_("See the week"),
        url=weekly_mail.absolute(page),
        stop_url=weekly_mail.url_of(Link.STOP, row),
    )
