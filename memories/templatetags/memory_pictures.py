from dataclasses import dataclass

from django import template
from django.template import Context

from memories.browsing.standing import standing_for
from memories.models import Kind

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
    kinds = standing_for(context["request"]).survey.kinds
    return [
        KindCount(one.value, str(Kind(one.value).label), one.count, one.count / kinds[0].count)
        for one in kinds
    ]
