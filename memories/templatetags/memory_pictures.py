from dataclasses import dataclass

from django import template
from django.template import Context
from django.utils.translation import gettext as _

from memories.models import Kind, Memory, MemoryStatus
from memories.pages.status_line import standing_for

register = template.Library()


@dataclass(frozen=True)
class KindCount:
    kind: str
    word: str
    count: int
    share: float


@register.simple_tag(takes_context=True)
def memory_states(context: Context, largest: float) -> list[tuple[str, int, float]]:
    """Return the memories apart by what becomes of them: label, number, share of `largest`.

    They agree with the status line and with the lists. Render it inside `as_user`.
    """
    request = context["request"]
    totals = standing_for(request).totals
    old = Memory.objects.filter(
        user=request.user, status__in=(MemoryStatus.SUPERSEDED, MemoryStatus.ARCHIVED)
    )
    states = [
        (_("Memories in use"), totals.memories),
        (_("Memories waiting for your review"), totals.waiting),
        (_("Memories replaced or archived"), old.count()),
        (_("Memories in the recycle bin"), totals.binned),
    ]
    return [(label, count, count / max(largest, count)) for label, count in states if count]


@register.simple_tag(takes_context=True)
def memory_kinds(context: Context) -> list[KindCount]:
    """Return the number of memories of each kind, largest first. Render it inside `as_user`."""
    kinds = standing_for(context["request"]).survey.kinds
    return [
        KindCount(one.value, str(Kind(one.value).label), one.count, one.count / kinds[0].count)
        for one in kinds
    ]
