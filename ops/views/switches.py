"""The four switches as the page shows them: what OFF means, and what is kept all the same."""

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
    """`offer` leads to deleting what is kept; empty where nothing is or the switch is on."""

    name: str
    title: str
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
        "memory", lambda n: ngettext("%(n)s memory is kept.", "%(n)s memories are kept.", n)
    ),
    "summary_enabled": _Layer(
        "summary", lambda n: ngettext("%(n)s summary is kept.", "%(n)s summaries are kept.", n)
    ),
    "episodic_enabled": _Layer(
        "episode", lambda n: ngettext("%(n)s episode is kept.", "%(n)s episodes are kept.", n)
    ),
}
COUNTED = {layer.participant for layer in _LAYERS.values()}


def of(own: UserSettings, counts: dict[str, int]) -> list[Switch]:
    """`counts` is how many there are of each kind, by participant."""
    return [_switch(name, is_on=getattr(own, name), counts=counts) for name in _words()]


def said(name: str, *, is_on: bool) -> str:
    title = _words()[name][0]
    words = _("%(what)s: on from now on.") if is_on else _("%(what)s: off from now on.")
    return words % {"what": title}


def _switch(name: str, *, is_on: bool, counts: dict[str, int]) -> Switch:
    title, help_text = _words()[name]
    layer = _LAYERS.get(name)
    count = counts.get(layer.participant, 0) if layer else 0
    kept = (
        layer.kept(count) % {"n": number_format(count, force_grouping=True)}
        if layer and count
        else ""
    )
    offer = _delete_page(layer.participant) if layer and count and not is_on else ""
    action = reverse("set_switch", args=[name])
    return Switch(name, title, help_text, kept, is_on, offer, action)


def _delete_page(layer: str) -> str:
    try:
        return reverse("data_layer_delete", args=[layer])
    except NoReverseMatch:
        return ""


def _words() -> dict[str, tuple[str, str]]:
    """In the order of the page."""
    return {
        "longterm_enabled": (
            _("Long-term memory"),
            _(
                "Off means: nothing new is learned from what you say, and nothing learned "
                "before is used in answers."
            ),
        ),
        "summary_enabled": (
            _("Summaries of conversations"),
            _(
                "Off means: what is too far back in a long conversation is no longer "
                "summarized, and earlier summaries are not used."
            ),
        ),
        "episodic_enabled": (
            _("Episodes"),
            _(
                "Off means: “as I said last time” no longer finds the earlier turn, and new "
                "turns are not kept for that."
            ),
        ),
        "confirm_before_remembering": (
            _("Ask before remembering"),
            _(
                "Off means: what is learned counts at once. On, it waits in the review inbox "
                "until you say yes."
            ),
        ),
    }
