from dataclasses import dataclass

from django import template
from django.template import Context
from django.utils.translation import gettext as _

from ops.models import Delivery, Webhook
from ops.services import webhooks
from ops.services.events import TEST, Event

register = template.Library()
_LAST = 3


@dataclass(frozen=True)
class Shown:
    webhook: Webhook
    last: list[Delivery]

    @property
    def told_when(self) -> list[str]:
        return [event_word(one) for one in self.webhook.events]


@register.filter
def event_word(name: str) -> str:
    if name == TEST:
        return _("a test")
    return str(Event(name).label) if name in Event.values else name


@register.simple_tag(takes_context=True)
def own_webhooks(context: Context) -> list[Shown]:
    """The person's webhooks with the last of their log; render inside `as_user`."""
    rows = list(webhooks.of(context["request"].user).order_by("pk"))
    log: dict[int, list[Delivery]] = {row.pk: [] for row in rows}
    for one in webhooks.last_of(rows, count=_LAST):
        log[one.webhook_id].append(one)
    return [Shown(row, log[row.pk]) for row in rows]


@register.simple_tag
def webhook_events() -> list[Event]:
    return list(Event)
