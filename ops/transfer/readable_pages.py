"""The first readable page of an export."""

from __future__ import annotations

from collections.abc import Iterator

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from ops.accounts import users
from ops.models import User
from ops.registry import Page, reads_well

INDEX = "README.md"


@reads_well
def first_page(user: User, conversation: int | None) -> Iterator[Page]:
    yield Page(INDEX, _lines(user, conversation))


def _lines(user: User, conversation: int | None) -> Iterator[str]:
    own = users.settings_of(user)
    made_at = date_format(timezone.now(), "DATETIME_FORMAT")
    title = _("What is remembered") if conversation is None else _("One conversation")
    yield f"# {title}"
    yield ""
    yield _("Exported on %(when)s (UTC).") % {"when": made_at}
    yield ""
    yield _(
        "The pages here are for reading. “memory-center.json” has the same content and more, "
        "and can be imported again without loss."
    )
    yield ""
    yield "## " + _("Switches")
    yield ""
    on, off = _("on"), _("off")
    for name, title in _switches():
        yield f"- {title}: {on if getattr(own, name) else off}"


def _switches() -> list[tuple[str, str]]:
    return [
        ("longterm_enabled", _("Long-term memory")),
        ("summary_enabled", _("Summaries")),
        ("episodic_enabled", _("Earlier moments")),
        ("confirm_before_remembering", _("Ask before remembering")),
    ]
