import re
from datetime import date, datetime, timedelta
from typing import Any

from django import template
from django.template import Context
from django.urls import reverse
from django.utils import dateformat, timezone
from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.timesince import timesince
from django.utils.translation import get_language, ngettext, pgettext
from django.utils.translation import gettext as _

from conversations.models import Conversation, Message
from foundation.text import richtext
from foundation.text.richtext import as_html
from memories.extraction.masking import ADDITION, addition_in_words, additions_in_words
from memories.models import Kind, Memory, MemoryStatus
from memories.pages.charts import kinds_of
from memories.pages.memory_list import Standing, standing_for
from memories.pages.memory_rows import shown_tags
from ops.pages.time_zones import time_zone_name

register = template.Library()
_MARK = re.compile(r" ?<!-- mem_\w+ -->")


@register.simple_tag(takes_context=True)
def memory_standing(context: Context) -> Standing:
    """Return the status line of the Memory Center: whether memory is on, and the totals.

    The tag reads the database, so use it inside `as_user`.
    """
    return standing_for(context["request"])


register.filter("inner", richtext.with_inner_quotation_marks)
register.filter("shown_tags", shown_tags)
register.filter("plain_additions", additions_in_words)


@register.filter
def has_additions(text: str) -> bool:
    """Return whether the text contains additions, so that pages show it differently."""
    return additions_in_words(text) != text


@register.filter
def additions(text: str) -> SafeString:
    """Return the text as HTML, in which every addition is marked and explained.

    An addition, such as a name or a date, makes a statement understandable by itself. The stored
    text has additions in square brackets. Pages show them without brackets at the start of a
    clause, and in parentheses inside a clause. Brackets with another meaning, such as checkboxes,
    are kept.
    """
    why = _("added so that the sentence makes sense on its own")
    pieces, end = [], 0
    for found in ADDITION.finditer(text):
        words = addition_in_words(found)
        pieces.append(conditional_escape(text[end : found.start()]))
        is_kept = words == found[0]
        pieces.append(
            conditional_escape(words)
            if is_kept
            else format_html('<span class="addition" title="{}">{}</span>', why, words)
        )
        end = found.end()
    pieces.append(conditional_escape(text[end:]))
    return mark_safe("".join(pieces))  # nosec: every piece is escaped


@register.filter
def ago(moment: datetime) -> str:
    """Return how long ago the moment was, such as "5 minutes ago" or "just now"."""
    if timezone.now() - moment < timedelta(minutes=1):
        return _("just now")
    return _("%(time)s ago") % {"time": timesince(moment, depth=1)}


@register.filter
def day(moment: datetime | date) -> str:
    """Return the day in the user's time zone, such as "3 Nov".

    The year is added unless it is the current year.
    """
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
    """Return in words how many days are left until this moment."""
    left = moment - timezone.now()
    if left < timedelta(days=1):
        return _("less than a day left")
    days = round(left / timedelta(days=1))
    return ngettext("%(n)d day left", "%(n)d days left", days) % {"n": days}


@register.filter
def percent(share: float) -> str:
    return f"{round(100 * share)}%"


@register.filter
def how_much(part: float) -> str:
    """Return in words how much a component (weight × value) contributed to a score."""
    if part >= 0.3:
        return pgettext("share of a score", "high")
    if part >= 0.12:
        return pgettext("share of a score", "medium")
    return pgettext("share of a score", "low") if part > 0.02 else _("none")


@register.filter
def receipt_moment(moment: datetime) -> str:
    """Return the moment in the user's time zone: "3 November 2025, 14:02 (Kolkata, UTC+5:30)"."""
    local = timezone.localtime(moment)
    hours, minutes = divmod(int((local.utcoffset() or timedelta()).total_seconds()) // 60, 60)
    zone = f"UTC{hours:+d}" + (f":{minutes:02d}" if minutes else "") if hours or minutes else "UTC"
    if (place := timezone.get_current_timezone_name()) != "UTC":
        zone = _(", ").join((time_zone_name(place), zone))
    day = dateformat.format(local, pgettext("date in full", "j F Y"))
    time = dateformat.time_format(local, "H:i")
    return _("%(day)s, %(time)s (%(zone)s)") % {"day": day, "time": time, "zone": zone}


@register.filter
def confidence_in_words(confidence: float) -> str:
    if confidence >= 0.85:
        return _("I’m sure about this.")
    if confidence >= 0.6:
        return _("I’m fairly sure about this.")
    return _("I’m not sure about this.")


@register.filter
def file_title(path: str) -> str:
    """Return a readable title for a memory file with a standard name, otherwise the path."""
    titles = {
        "MEMORY.md": _("All your memories"),
        "LEARNINGS.md": _("Skills and lessons"),
        "USER.md": _("Who you are"),
        "SOUL.md": _("How your assistant behaves"),
        "TOOLS.md": _("Tools you use"),
    }
    return titles.get(path, path)


@register.filter
def prose(text: str) -> SafeString:
    """Render Markdown as safe HTML, for display below a page's title.

    The comments that link lines to memories are removed.
    """
    return as_html(unmarked(text), under=1)


@register.filter
def unmarked(text: str) -> str:
    """Remove the comments that link lines of a memory file to memories."""
    return _MARK.sub("", text)


@register.simple_tag
def gap() -> str:
    """Return the space to put between two sentences; in Chinese, an empty string."""
    return "" if (get_language() or "").startswith("zh") else " "


@register.simple_tag
def chat_url(conversation: Conversation, message: Message | None = None) -> str:
    """Return the URL of the conversation in the chat, or of the message if one is given."""
    address = reverse("conversation", args=[conversation.public_id])
    return f"{address}#{message.public_id}" if message else address


@register.simple_tag(takes_context=True)
def memory_states(context: Context, largest: float) -> list[tuple[str, int, float]]:
    """Return the label, the number of memories and its share of `largest` for each memory state.

    States without memories are left out. The numbers match the status line and the lists. Use the
    tag inside `as_user`.
    """
    request = context["request"]
    totals = standing_for(request).totals
    old = Memory.objects.filter(
        user=request.user, status__in=(MemoryStatus.SUPERSEDED, MemoryStatus.ARCHIVED)
    )
    states = [
        (_("Memories in use"), totals.memories),
        (_("Memories disabled or expired"), totals.listed - totals.memories),
        (_("Memories waiting for your review"), totals.waiting),
        (_("Memories outdated or archived"), old.count()),
        (_("Memories in the recycle bin"), totals.binned),
    ]
    return [(label, count, count / max(largest, count)) for label, count in states if count]


@register.simple_tag(takes_context=True)
def memory_kinds(context: Context) -> list[dict[str, Any]]:
    """Return each kind with its number of memories in use, largest number first.

    `share` is the number divided by the largest number. Use the tag inside `as_user`.
    """
    kinds = kinds_of(context["request"].user)
    largest = max(kinds.values(), default=1)
    return [
        {"kind": kind, "word": Kind(kind).label, "count": count, "share": count / largest}
        for kind, count in kinds.items()
    ]
