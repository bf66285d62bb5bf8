from dataclasses import dataclass

from django import template
from django.template import Context

from memories.models import Kind
from memories.pages.status_line import standing_for

register = template.Library()


@dataclass(frozen=True)
class KindCount:
    kind: str
    word: str
    count: int
    share: float


@register.simple_tag(takes_context=True)
def memory_kinds(context: Context) -> list[KindCount]:
    """Return the number of memories of each kind, largest first. Render it inside `as_user`."""
    kinds = standing_for(context["request"]).survey.kinds
    return [
        KindCount(one.value, str(Kind(one.value).label), one.count, one.count / kinds[0].count)
        for one in kinds
    ]
