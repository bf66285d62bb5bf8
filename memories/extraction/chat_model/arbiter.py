"""Arbitration by a chat model, which is asked only if the bundled reader model is unsure.

The reader model compares pairs of statements. The chat model's verdict is checked: if it would
silently lose or contradict a memory, the user decides, or the reader model's decision is used if
the candidate is a correction or an explicit request. The reader model's decision is also used if
the chat model's answer isn't one of the offered verdicts on one of the offered memories.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from foundation.errors import ProviderError
from foundation.providers.base import TooLong
from foundation.text import segment
from memories.extraction import masking
from memories.extraction.arbitration.conflicts import CONTRADICTS, are_strangers
from memories.extraction.arbitration.page_editions import Finding
from memories.extraction.arbitration.pairs import MOST_RESULTS, JoinedStatement
from memories.extraction.arbitration.verdicts import (
    SURE_ENOUGH,
    BundledArbiter,
    Comparison,
    decide,
    decision_on,
    restrict_finding,
)
from memories.extraction.chat_model import model_calls, prompts
from memories.extraction.chat_model.model_calls import Asker
from memories.extraction.types import Candidate, Decision, KnownMemory, Verdict
from memories.extraction.wording.languages import language_of
from memories.screening import secret_search

_OFFERED = 8
_LONGEST = 400  # characters of each statement that are shown
_CHANGES = (Verdict.REPLACE, Verdict.MERGE)
_CONTRADICTS = (Verdict.REPLACE, Verdict.REVIEW)


class ModelArbiter:
    """Decide on candidates by asking a chat model."""

    name = "model"

    def __init__(self, asker: Asker, *, bundled: BundledArbiter) -> None:
        self._asker = asker
        self._bundled = bundled

    def arbitrate(
        self, candidate: Candidate, known: Sequence[KnownMemory], *, now: datetime
    ) -> Decision:
        comparisons = self._bundled.compare(candidate, known)
        decision = self._decided(candidate, comparisons)
        return self._bundled.with_supports(decision, candidate, comparisons)

    def _decided(self, candidate: Candidate, comparisons: Sequence[Comparison]) -> Decision:
        ruled = decide(candidate, comparisons)
        offered = self._unsure(comparisons, ruled)[:_OFFERED]
        if not offered:
            return ruled
        named, answer = self._answer(candidate, offered)
        verdict = model_calls.one_of(answer.get("verdict"), among=prompts.VERDICTS, default="")
        target = named.get(model_calls.clean_text(answer.get("id")))
        if not verdict or (target is None and verdict not in ("ADD", "KEEP_BOTH")):
            return replace(ruled, reasons=(*ruled.reasons, "model_unclear"))
        text = model_calls.clean_text(answer.get("content"))[: prompts.LONGEST_CONTENT]
        return _checked(candidate, Verdict(verdict), target, text, ruled)

    def _unsure(self, comparisons: Sequence[Comparison], ruled: Decision) -> list[KnownMemory]:
        """Return the memories whose relation to the candidate the reader model is unsure of.

        `ruled` is the reader model's own decision. If the model is sure of its target and the
        verdict isn't KEEP_BOTH, return an empty list.
        """
        sure = self._bundled.thresholds.sure
        about = next((pair for pair in comparisons if pair.memory.id == ruled.target_id), None)
        if about and about.share >= sure and ruled.verdict is not Verdict.KEEP_BOTH:
            return []
        return [pair.memory for pair in comparisons if pair.share < sure]

    def _answer(
        self, candidate: Candidate, offered: Sequence[KnownMemory]
    ) -> tuple[dict[str, KnownMemory], dict[str, Any]]:
        """Ask the chat model; return the memories by their names in the prompt, and the answer.

        If the prompt is too long, ask about the first half of the memories only.
        """
        named = {f"m{number}": memory for number, memory in enumerate(offered, start=1)}
        prompt = prompts.arbitration(
            _material(candidate, named),
            ids=list(named),
            language=segment.language(candidate.content),
        )
        try:
            return named, self._asker.ask(
                prompt, read=lambda answer: model_calls.fields(answer, name="verdict")
            )
        except TooLong:
            if len(offered) == 1:
                raise
            return self._answer(candidate, offered[: len(offered) // 2])


def _material(candidate: Candidate, named: dict[str, KnownMemory]) -> dict[str, Any]:
    return {
        "new": {
            "kind": candidate.kind,
            "content": candidate.content[:_LONGEST],
            "corrects": candidate.corrects,
        },
        "known": [
            {
                "id": name,
                "kind": memory.kind,
                "content": memory.content[:_LONGEST],
                "since": f"{memory.said_at:%Y-%m-%d}" if memory.said_at else None,
            }
            for name, memory in named.items()
        ],
    }


def _checked(
    candidate: Candidate, verdict: Verdict, target: KnownMemory | None, text: str, ruled: Decision
) -> Decision:
    """Return the decision for the chat model's verdict, after the checks of the bundled arbiter."""
    contradicts = ruled.verdict in _CONTRADICTS and "says_more" not in ruled.reasons
    if contradicts and verdict not in _CONTRADICTS:
        if ruled.verdict is Verdict.REPLACE and (candidate.corrects or candidate.explicit):
            return replace(ruled, reasons=(*ruled.reasons, "model_overruled"))
        reasons = ("model", "read_as_contradiction")
        return Decision(Verdict.REVIEW, ruled.target_id, kind=candidate.kind, reasons=reasons)
    if target is None or verdict is Verdict.ADD:
        return Decision(Verdict.ADD, kind=candidate.kind, reasons=("model",))
    finding = restrict_finding(candidate, target, Finding(verdict, "model"))
    if finding.verdict in _CHANGES and are_strangers(candidate, target):
        finding = Finding(None, "unrelated")
    elif finding.verdict in _CHANGES and not (candidate.corrects or candidate.explicit):
        # The person decides if they wrote the memory, or if the confidence is low.
        is_doubtful = target.origin == "user" or candidate.confidence < SURE_ENOUGH
        finding = CONTRADICTS if is_doubtful else finding
    if finding.verdict is None:
        return Decision(Verdict.ADD, kind=candidate.kind, reasons=("model", finding.reason))
    if text and not is_grounded(text, [target.content, candidate.content]):
        text = ""
    decision = decision_on(candidate, target, finding, merged=masking.screen(text).text)
    joined = ("joined",) if decision.verdict is Verdict.MERGE and not text else ()
    return replace(decision, reasons=tuple(dict.fromkeys(("model", *decision.reasons, *joined))))


_KEPT = 0.6  # share of each memory's words that the joined text must contain
_JOINED = 20  # maximum number of characters that joining statements may add
_JOINING = 0.25  # maximum share of new words in a joined text, such as "both", "as well as"
_DENIES = re.compile(r"\b(?:not|never|no|without|dislikes?)\b|n['’]t\b|[不没别无]", re.IGNORECASE)


class Ungrounded(ProviderError):
    """Raised if a joined text doesn't match its memories, or if an answer joins a memory twice.

    The error isn't retryable.
    """

    def __init__(self) -> None:
        super().__init__("The model's answer doesn't say what the memories say.", retryable=False)


class ModelConsolidator:
    """Join memories by asking a chat model."""

    name = "model"

    def __init__(self, asker: Asker) -> None:
        self._asker = asker

    def consolidate(self, texts: Sequence[str]) -> list[JoinedStatement]:
        names = {f"s{place + 1}": place for place in range(len(texts))}
        shown = [
            {"id": name, "content": masking.screen(texts[place]).text}
            for name, place in names.items()
        ]
        language = segment.language(" ".join(texts))
        prompt = prompts.consolidation({"memories": shown}, ids=list(names), language=language)
        found = [_joined(item, names, texts) for item in self._asker.ask(prompt, read=_items)]
        taken = [place for joined in found for place in joined.inputs]
        if len(found) > MOST_RESULTS or len(taken) != len(set(taken)):
            raise Ungrounded
        return found


def _items(answer: str) -> list[dict[str, Any]]:
    """Return all items of the answer; raise `UnreadableAnswer` if an item isn't a JSON object."""
    found = model_calls.fields(answer, name="joined")["joined"]
    if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
        raise model_calls.UnreadableAnswer
    return found


def _joined(
    item: Mapping[str, Any], names: Mapping[str, int], texts: Sequence[str]
) -> JoinedStatement:
    value = item.get("from")
    listed = [model_calls.clean_text(name) for name in value] if isinstance(value, list) else []
    places = sorted({names[name] for name in listed if name in names})
    content = model_calls.clean_text(item.get("content"))
    known = all(name in names for name in listed)
    if not known or len(places) < 2 or not is_grounded(content, [texts[place] for place in places]):
        raise Ungrounded
    return JoinedStatement(content, tuple(places))


def is_grounded(content: str, texts: Sequence[str], *, kept: float = _KEPT) -> bool:
    """Return whether `content` seems to say the same as all `texts` together.

    `content` must contain most words of each text (`kept` is the minimum share), the same numbers,
    few other words and no secret, and be in the language of one of the texts.
    """
    longest = min(prompts.LONGEST_CONTENT, sum(map(len, texts)) + _JOINED)
    if not content or len(content) > longest or secret_search.find(content):
        return False
    words, each = set(segment.terms(content)), [set(segment.terms(text)) for text in texts]
    theirs: set[str] = set().union(*each)
    shared: set[str] = theirs.intersection(*each)
    figures = {word for word in words | theirs if any(map(str.isdigit, word))}
    return (
        language_of(content) in {language_of(text) for text in texts}
        and all(_covers(words, side - shared, kept) for side in each)
        and all(_covers(words, side, kept) for side in each)
        and len(words - theirs) <= _JOINING * len(words)
        and not set(segment.unusual(content)) - theirs
        and figures & words == figures & theirs
        and bool(_DENIES.search(content)) == any(map(_DENIES.search, texts))
    )


def _covers(words: set[str], side: set[str], kept: float) -> bool:
    return len(words & side) >= kept * len(side)
