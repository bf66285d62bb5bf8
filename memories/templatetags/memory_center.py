from datetime import datetime, timedelta

from django import template
from django.template import Context
from django.utils import timezone
from django.utils.timesince import timesince
from django.utils.translation import gettext as _

from memories.browsing.standing import Standing, standing_of

register = template.Library()


@register.simple_tag(takes_context=True)
def memory_standing(context: Context) -> Standing:
    """Whether memory is on and how much there is; reads, so render inside `as_user`."""
    return standing_of(context["request"].user)


@register.filter
def ago(moment: datetime) -> str:
    """ "5 minutes ago", in one unit; "just now" for the last minute."""
    if timezone.now() - moment < timedelta(minutes=1):
        return _("just now")
    return _("%(time)s ago") % {"time": timesince(moment, depth=1)}
