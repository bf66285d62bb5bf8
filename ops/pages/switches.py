"""The four memory switches: what ON does, what OFF means, and what stays stored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django.urls import NoReverseMatch, reverse
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from ops.models import UserSettings


@dataclass(frozen=True)
class Switch:
    """`does` says what ON does, `help` what OFF means. `offer` links to deleting stored rows; it is
    empty if there are none or the switch is on.
    """

    name: str
    title: str
    does: str
    help: str
    kept: str
    is_on: bool
    offer: str
    action: str


@dataclass(frozen=True)
class _Layer:
    participant: str
    kept: Callable[[int], str]


_LAYERS = {
    "longterm_enabled": _Layer(
        "memory",
        lambda n: ngettext(
            "%(n)s memory is kept, in use or not.", "%(n)s memories are kept, in use or not.", n
        ),
    ),
    "summary_enabled": _Layer(
        "summary", lambda n: ngettext("%(n)s summary is kept.", "%(n)s summaries are kept.", n)
    ),
    "episodic_enabled": _Layer(
        "episode",
        lambda n: ngettext("%(n)s earlier moment is kept.", "%(n)s earlier moments are kept.", n),
    ),
}
COUNTED = {layer.participant for layer in _LAYERS.values()}


def of(own: UserSettings, counts: dict[str, int]) -> list[Switch]:
    """Return the switches. `counts` holds the number of rows by participant."""
    return [_switch(name, is_on=getattr(own, name), counts=counts) for name in _words()]


def said(name: str, *, is_on: bool) -> str:
    title = _words()[name][0]
    words = _("%(what)s is now on.") if is_on else _("%(what)s is now off.")
    return words % {"what": title}


def _switch(name: str, *, is_on: bool, counts: dict[str, int]) -> Switch:
    title, does, help_text = _words()[name]
    layer = _LAYERS.get(name)
    count = counts.get(layer.participant, 0) if layer else 0
    kept = (
        layer.kept(count) % {"n": number_format(count, force_grouping=True)}
        if layer and count
        else ""
    )
    offer = _delete_page(layer.participant) if layer and count and not is_on else ""
    action = reverse("set_switch", args=[name])
    return Switch(name, title, does, help_text, kept, is_on, offer, action)


def _delete_page(layer: str) -> str:
    try:
        return reverse("data_layer_delete", args=[layer])
    except NoReverseMatch:
        return ""


def _words() -> dict[str, tuple[str, str, str]]:
    """Return the texts in the order of the page."""
    return {
        "longterm_enabled": (
            _("Long-term memory"),
            _(
                "When on, what will still matter later is remembered from what you say, and "
                "used in answers."
            ),
            _(
                "When off, nothing new is learned from what you say, and nothing learned "
                "before is used in answers."
            ),
        ),
        "summary_enabled": (
            _("Summaries of conversations"),
            _(
                "When on, the older part of a long conversation is summarized, so that "
                "answers still take it into account."
            ),
            _(
                "When off, the older part of a long conversation is no longer "
                "summarized, and earlier summaries aren’t used."
            ),
        ),
        "episodic_enabled": (
            _("Earlier moments"),
            _("When on, “as I said last time” finds what was said before."),
            _("When off, “as I said last time” finds nothing, and nothing new is stored for it."),
        ),
        "confirm_before_remembering": (
            _("Ask before remembering"),
            _("When on, what is learned waits in the review inbox until you approve it."),
            _("When off, what is learned is used at once."),
        ),
    }
