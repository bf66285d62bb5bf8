import re
from datetime import date, datetime, timedelta

from django import template
from django.template import Context
from django.urls import reverse
from django.utils import dateformat, timezone
from django.utils.safestring import SafeString
from django.utils.timesince import timesince
from django.utils.translation import get_language, ngettext, pgettext
from django.utils.translation import gettext as _

from conversations.models import Conversation, Message
from memcenter.lib import quotes
from memcenter.lib.richtext import as_html
from memories.browsing.standing import Standing, standing_for

register = template.Library()
_MARK = re.compile(r" ?<!-- mem_\w+ -->")


@register.simple_tag(takes_context=True)
def memory_standing(context: Context) -> Standing:
    """Whether memory is on and how much there is; reads, so render inside `as_user`."""
    return standing_for(context["request"])


register.filter("inner", quotes.inner)


@register.filter
def ago(moment: datetime) -> str:
    """ "5 minutes ago", in one unit; "just now" for the last minute."""
    if timezone.now() - moment < timedelta(minutes=1):
        return _("just now")
    return _("%(time)s ago") % {"time": timesince(moment, depth=1)}


@register.filter
def day(moment: datetime | date) -> str:
    """ "3 Nov", with the year where it is another one; of a moment the person's own day."""
    local = timezone.localtime(moment) if isinstance(moment, datetime) else moment
    this_year = local.year == timezone.localtime().year
    near, far = pgettext("date without year", "j M"), pgettext("date with year", "j M Y")
    return dateformat.format(local, near if this_year else far)


@register.filter
def day_and_time(moment: datetime) -> str:
    time = dateformat.time_format(timezone.localtime(moment), "H:i")
    return _("%(day)s, %(time)s") % {"day": day(moment), "time": time}


@register.filter
def days_left(moment: datetime) -> str:
    """How long until then, in whole days: what was thrown away just now has all of its days."""
    left = moment - timezone.now()
    if left < timedelta(days=1):
        return _("less than a day left")
    days = round(left / timedelta(days=1))
    return ngettext("%(n)d day left", "%(n)d days left", days) % {"n": days}


@register.filter
def percent(share: float) -> str:
    return f"{round(100 * share)}%"


@register.filter
def surely(confidence: float) -> str:
    """How sure we are, in words."""
    if confidence >= 0.85:
        return _("I am sure of it.")
    if confidence >= 0.6:
        return _("I am fairly sure.")
    return _("I am not sure of it.")


@register.filter
def prose(text: str) -> SafeString:
    """Markdown as safe HTML below a page's title; what names memories in it is left out."""
    return as_html(unmarked(text), under=1)


@register.filter
def unmarked(text: str) -> str:
    """Without the marks that say which memory a line of a file is."""
    return _MARK.sub("", text)


@register.simple_tag
def gap() -> str:
    """What stands between two sentences: a space, which Chinese has no use for."""
    return "" if (get_language() or "").startswith("zh") else " "


@register.simple_tag
def chat_url(conversation: Conversation, message: Message | None = None) -> str:
    """The conversation in the chat, at a message of it."""
    address = reverse("conversation", args=[conversation.public_id])
    return f"{address}#{message.public_id}" if message else address
