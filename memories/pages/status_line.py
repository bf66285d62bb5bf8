from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from django.http import HttpRequest

from memories.pages.lists.facets import Survey, survey_of
from memories.selectors import Totals
from ops.models import User
from ops.pages.base import own_settings


@dataclass(frozen=True)
class Standing:
    """The status line at the head of the Memory Center: is memory on, and how much is there?"""

    name: str
    is_on: bool
    survey: Survey

    @property
    def totals(self) -> Totals:
        return self.survey.totals


def standing_for(request: HttpRequest) -> Standing:
    """Return the signed-in user's status, read once per request: header and page both show it."""
    standing: Standing | None = getattr(request, "memory_standing", None)
    if standing is None:
        user = cast(User, request.user)
        is_on = own_settings(request).longterm_enabled
        standing = Standing(user.shown_name, is_on, survey_of(user))
        request.memory_standing = standing  # type: ignore[attr-defined]
    return standing
