from dataclasses import dataclass

from django import template
from django.db.models import Count
from django.template import Context

from memories.models import Kind, Memory
from memories.selectors import IN_USE

register = template.Library()


@dataclass(frozen=True)
class KindCount:
    kind: str
    word: str
    count: int
    share: float


@register.simple_tag(takes_context=True)
def memory_kinds(context: Context) -> list[KindCount]:
    """How many memories there are of each kind, most first; render inside `as_user`."""
    own = Memory.objects.filter(user=context["request"].user, status__in=IN_USE)
    rows = list(own.values_list("kind").annotate(count=Count("pk")).order_by("-count", "kind"))
    return [
        KindCount(kind, str(Kind(kind).label), count, count / rows[0][1]) for kind, count in rows
    ]
