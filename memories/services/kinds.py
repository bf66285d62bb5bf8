"""Which kind a statement is of, for people who would rather not choose."""

from __future__ import annotations

from django.utils import timezone

from memcenter.lib import segment
from memories.extraction.bundled import BundledExtractor
from memories.extraction.types import Said, TurnText
from memories.models import Kind

_ASKED = {"en": "Remember that ", "zh": "记住："}


def kind_of(text: str) -> str:
    """The kind that the bundled rules see in "remember that …"; a fact where they see several."""
    now = timezone.localtime()
    asked = Said(_ASKED[segment.language(text)] + text, now)
    found = BundledExtractor().extract(TurnText(user=asked, assistant=Said("", now)))
    kinds = {candidate.kind for candidate in found.candidates}
    return kinds.pop() if len(kinds) == 1 else Kind.FACT.value
