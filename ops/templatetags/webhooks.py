from django import template
from django.utils.translation import gettext as _

from ops.webhooks.webhook_events import TEST, Event

register = template.Library()


@register.filter
def event_word(name: str) -> str:
    if name == TEST:
        return _("a test")
    return str(Event(name).label) if name in Event.values else name
