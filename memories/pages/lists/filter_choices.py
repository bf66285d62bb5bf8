"""The options of the list's filters and of its bulk bar."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from memories.models import Kind, Origin
from memories.pages.forms import DAYS, SORT_WORDS, STATUS_WORDS
from memories.pages.lists.facets import Survey


@dataclass(frozen=True)
class Choice:
    value: str
    words: str
    count: int | None = None


def choices_of(survey: Survey) -> dict[str, Sequence[Choice]]:
    """Return only options that match something, each with its count."""
    return {
        "kind": [Choice(one.value, str(Kind(one.value).label), one.count) for one in survey.kinds],
        "project": [Choice(one.value, one.name or one.value, one.count) for one in survey.projects],
        "tag": [Choice(one.value, one.value, one.count) for one in survey.tags],
        "status": [Choice(value, str(words)) for value, words in STATUS_WORDS if value],
        "origin": [
            Choice(one.value, str(Origin(one.value).label), one.count) for one in survey.origins
        ],
        "days": [Choice(value, str(words)) for value, words in DAYS if value],
        "sort": [Choice(value, str(words)) for value, words in SORT_WORDS.items()],
    }


def bulk_actions() -> list[tuple[str, str, str]]:
    """Return the actions for selected memories, with icon and label."""
    return [
        ("disable", "disable", _("Disable")),
        ("enable", "enable", _("Enable")),
        ("pin", "pin", pgettext("verb", "Pin")),
    ]
