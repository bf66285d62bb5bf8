"""Consolidation by a chat model; an answer that says more or less than its memories is refused.

A refused answer is a permanent error and none of it is used, so memories never change because of
something that nobody said.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from memcenter.lib.errors import ProviderError
from memcenter.lib.text import segment
from memories.extraction import secret_masking
from memories.extraction.arbitration.consolidation import MOST_RESULTS, Joined
from memories.extraction.chat_model import answers, prompts
from memories.extraction.chat_model.questions import Asker
from memories.extraction.wording.languages import language_of
from memories.screening import secret_search

_KEPT = 0.6  # of each memory's words must stand in what it was joined to
_JOINING = 0.25  # of a result's words may be its own: "both", "as well as"
_DENIES = re.compile(r"\b(?:not|never|no|without|dislikes?)\b|n['’]t\b|[不没别无]", re.IGNORECASE)


class Ungrounded(ProviderError):
    """The answer doesn't match its memories; asking again would give the same answer."""

    def __init__(self) -> None:
        super().__init__("The model's answer doesn't say what the memories say.", retryable=False)


class ModelConsolidator:
    """Memories get temporary names for each question (s1, s2 …)."""

    name = "model"

    def __init__(self, asker: Asker) -> None:
        self._asker = asker

    def consolidate(self, texts: Sequence[str]) -> list[Joined]:
        names = {f"s{place + 1}": place for place in range(len(texts))}
        shown = [
            {"id": name, "content": secret_masking.screen(texts[place]).text}
            for name, place in names.items()
        ]
        language = segment.language(" ".join(texts))
        prompt = prompts.consolidation({"memories": shown}, ids=list(names), language=language)
        found = [_joined(item, names, texts) for item in self._asker.ask(prompt, read=_items)]
        taken = [place for one in found for place in one.inputs]
        if len(found) > MOST_RESULTS or len(taken) != len(set(taken)):
            raise Ungrounded
        return found


def _items(answer: str) -> list[dict[str, Any]]:
    """Return all items; raise if the answer was truncated or isn't a list."""
    found = answers.fields(answer, name="joined")["joined"]
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise answers.Unreadable
    return found


def _joined(item: Mapping[str, Any], names: Mapping[str, int], texts: Sequence[str]) -> Joined:
    said = item.get("from")
    given = [answers.cleaned(one) for one in said] if isinstance(said, list) else []
    places = sorted({names[one] for one in given if one in names})
    content = answers.cleaned(item.get("content"))
    known = all(one in names for one in given)
    if not known or len(places) < 2 or not _grounded(content, [texts[one] for one in places]):
        raise Ungrounded
    return Joined(content, tuple(places))


def _grounded(content: str, texts: Sequence[str]) -> bool:
    """Tell whether it says all that the texts say, in their language, and nothing else."""
    if not content or len(content) > prompts.LONGEST_CONTENT or secret_search.find(content):
        return False
    words, each = set(segment.terms(content)), [set(segment.terms(text)) for text in texts]
    theirs: set[str] = set().union(*each)
    shared: set[str] = theirs.intersection(*each)
    figures = {one for one in words | theirs if any(map(str.isdigit, one))}
    return (
        language_of(content) in {language_of(text) for text in texts}
        and all(_says(words, side - shared) for side in each)
        and all(_says(words, side) for side in each)
        and len(words - theirs) <= _JOINING * len(words)
        and not set(segment.unusual(content)) - theirs
        and figures & words == figures & theirs
        and bool(_DENIES.search(content)) == any(map(_DENIES.search, texts))
    )


def _says(words: set[str], side: set[str]) -> bool:
    return len(words & side) >= _KEPT * len(side)
