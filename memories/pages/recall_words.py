"""Why a memory was recalled, in words. Scores mean nothing to users; they stay in the API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.conf import settings
from django.utils.translation import gettext as _

from memcenter.lib.text import segment

_MOST = 3  # words shown
# The share of the bias that the dense part must exceed to count as close in meaning.
_CLOSE = 0.6


def why(
    components: Mapping[str, float], *, asked: str = "", text: str = "", always: bool = False
) -> str:
    """Explain a recall by its components; `asked` is empty if it has been forgotten.

    `always`: the memory is in every prompt, so it may be there without being relevant.
    """
    if always and not is_relevant(components):
        return _("always included")
    found = [_("always included")] if always else []
    found += _of_words(components, asked=asked, text=text)
    if components.get("concept", 0.0) > 0:
        found.append(_("about the same subject"))
    if components.get("on_date", 0.0) > 0:
        found.append(_("from the time you mention"))
    if components.get("part_dense", 0.0) > _CLOSE * abs(components.get("part_bias", 1.0)):
        found.append(_("close in meaning"))
    return " · ".join(found) or _fallback(components.get("raw_relevance", 0.0))


def is_relevant(components: Mapping[str, float]) -> bool:
    """Tell whether a memory was recalled because it fits the question."""
    return components.get("raw_relevance", 0.0) >= settings.RELEVANCE_FLOOR


def why_alike(similarity: float, *, asked: str, text: str) -> str:
    """Like `why`, for an earlier turn, of which only the similarity is known."""
    words = shared_words(asked, text)
    return _same(words) if words else _fallback(similarity)


def strength(share: float) -> str:
    """Return how strongly two memories are related, in words."""
    if share >= 0.7:
        return _("strongly linked")
    return _("linked") if share >= 0.4 else _("loosely linked")


def shared_words(asked: str, text: str) -> list[str]:
    """Return the words of the question that the text also has, as they were typed."""
    said = set(segment.terms(text))
    found: dict[str, str] = {}
    for word in segment.words(asked):
        plain = word.strip()
        if plain and not said.isdisjoint(segment.terms(plain)):
            found.setdefault(plain.casefold(), plain)
    return list(found.values())[:_MOST]


def _of_words(components: Mapping[str, float], *, asked: str, text: str) -> list[str]:
    if words := shared_words(asked, text):
        return [_same(words)]
    typed = asked.strip()
    if typed and typed.casefold() in text.casefold():
        return [_same([typed])]
    if not components.get("matched", 0.0):
        return []
    return [_("linked to what you said before") if typed else _("same words")]


def _same(words: Sequence[str]) -> str:
    return _("same words: %(words)s") % {"words": ", ".join(words)}


def _fallback(relevance: float) -> str:
    near = relevance >= settings.RELEVANCE_FLOOR
    return _("close in meaning") if near else _("little in common")
