"""Arbitration by a chat model, which is asked only if the bundled reader model is unsure.

The reader model compares pairs of statements. The chat model's verdict is used unless it would
silently lose or contradict a memory; in that case, the user decides. If its answer isn't one of the
offered verdicts on one of the offered memories, the reader model's decision is used.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from memcenter.lib.errors import ProviderError
from memcenter.lib.text import segment
from memcenter.providers.base import TooLong
from memories.extraction import masking
from memories.extraction.arbitration.pairs import MOST_RESULTS, Joined
from memories.extraction.arbitration.verdicts import (
    SURE_ENOUGH,
    BundledArbiter,
    Met,
    are_strangers,
    decide,
    is_earlier,
    merge,
)
from memories.extraction.chat_model import prompts, questions
from memories.extraction.chat_model.questions import Asker
from memories.extraction.types import Candidate, Decision, Known, Verdict
from memories.extraction.wording.languages import language_of
from memories.screening import secret_search

_OFFERED = 8
_LONGEST = 400  # characters of each statement that are shown
_JOINED = 20  # characters that joining two statements may add
_CHANGES = (Verdict.REPLACE, Verdict.MERGE)
_KEEPS = (Verdict.SKIP, Verdict.KEEP_BOTH, Verdict.MERGE)  # the known memory still holds
_CONTRADICTS = (Verdict.REPLACE, Verdict.REVIEW)


class ModelArbiter:
    """Decide on candidates by asking a chat model.

    Each question gives the memories temporary names (m1, m2 …).
    """

    name = "model"

    def __init__(self, asker: Asker, *, bundled: BundledArbiter) -> None:
        self._asker = asker
        self._bundled = bundled

    def arbitrate(self, candidate: Candidate, known: Sequence[Known], *, now: datetime) -> Decision:
        met = self._bundled.meet(candidate, known)
        decision = self._decided(candidate, met)
        return self._bundled.with_supports(decision, candidate, met)

    def _decided(self, candidate: Candidate, met: Sequence[Met]) -> Decision:
        ruled = decide(candidate, met)
        offered = self._unsure(met, ruled)[:_OFFERED]
        if not offered:
            return ruled
        named, answer = self._answer(candidate, offered)
        verdict = questions.one_of(answer.get("verdict"), among=prompts.VERDICTS, default="")
        target = named.get(questions.cleaned(answer.get("id")))
        if not verdict or (target is None and verdict not in ("ADD", "KEEP_BOTH")):
            return replace(ruled, reasons=(*ruled.reasons, "model_unclear"))
        if target is None or verdict == "ADD":
            return _added(candidate, ruled)
        return _checked(candidate, Verdict(verdict), target, answer, ruled)

    def _unsure(self, met: Sequence[Met], ruled: Decision) -> list[Known]:
        """Return the memories whose relation to the candidate the reader model is unsure of.

        Return an empty list if it is sure about the memory that its verdict is about, unless that
        verdict is to keep both.
        """
        sure = self._bundled.thresholds.sure
        about = next((pair for pair in met if pair.memory.id == ruled.target_id), None)
        if about and about.share >= sure and ruled.verdict is not Verdict.KEEP_BOTH:
            return []
        return [pair.memory for pair in met if pair.share < sure]

    def _answer(
        self, candidate: Candidate, offered: Sequence[Known]
    ) -> tuple[dict[str, Known], dict[str, Any]]:
        """Ask the chat model; return the memories by their temporary names, and the answer.

        If the question is too long for the model, ask again with half of the memories.
        """
        named = {f"m{number}": memory for number, memory in enumerate(offered, start=1)}
        prompt = prompts.arbitration(
            _material(candidate, named),
            ids=list(named),
            language=segment.language(candidate.content),
        )
        try:
            return named, self._asker.ask(prompt, read=_verdict)
        except TooLong:
            if len(offered) == 1:
                raise
            return self._answer(candidate, offered[: len(offered) // 2])


def _verdict(answer: str) -> dict[str, Any]:
    return questions.fields(answer, name="verdict")


def _material(candidate: Candidate, named: dict[str, Known]) -> dict[str, Any]:
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


def _added(candidate: Candidate, ruled: Decision) -> Decision:
    if _is_contradiction(ruled):
        return _contradicted(candidate, ruled)
    return Decision(Verdict.ADD, kind=candidate.kind, reasons=("model",))


def _checked(
    candidate: Candidate, verdict: Verdict, target: Known, answer: dict[str, Any], ruled: Decision
) -> Decision:
    if target.status == "disabled" and verdict is not Verdict.SKIP:
        return Decision(Verdict.ADD, kind=candidate.kind, reasons=("model", "disabled"))
    if verdict in _KEEPS and _is_contradiction(ruled):
        return _contradicted(candidate, ruled)
    if verdict in _CHANGES and are_strangers(candidate, target):
        return Decision(Verdict.ADD, kind=candidate.kind, reasons=("model", "unrelated"))
    if verdict in _CHANGES and (doubt := _doubt(candidate, target)):
        return _for_review(candidate, target.id, doubt)
    if verdict is Verdict.MERGE:
        return _merged(candidate, target, answer)
    return Decision(verdict, target_id=target.id, kind=candidate.kind, reasons=("model",))


def _is_contradiction(ruled: Decision) -> bool:
    return ruled.verdict in _CONTRADICTS and "says_more" not in ruled.reasons


def _contradicted(candidate: Candidate, ruled: Decision) -> Decision:
    """Return a decision that asks the user to review the contradiction.

    If the user has just corrected the memory, or explicitly asked for the new statement to be
    remembered, the decision to replace the memory is returned instead.
    """
    decided = candidate.corrects or candidate.explicit
    if decided and ruled.verdict is Verdict.REPLACE:
        return replace(ruled, reasons=(*ruled.reasons, "model_overruled"))
    return _for_review(candidate, ruled.target_id, "read_as_contradiction")


def _doubt(candidate: Candidate, target: Known) -> str:
    """Return the reason to ask the user before a change, or an empty string if there is none."""
    if candidate.corrects or candidate.explicit:
        return ""
    if target.origin == "user":
        return "written_by_the_person"
    if candidate.confidence < SURE_ENOUGH:
        return "unsure"
    return "said_earlier" if is_earlier(candidate, target) else ""


def _merged(candidate: Candidate, target: Known, answer: dict[str, Any]) -> Decision:
    """Return a merge with the model's text, or with our own if the model adds or omits facts.

    Return a decision to keep both memories if our own text would be too long.
    """
    text = questions.cleaned(answer.get("content"))[: prompts.LONGEST_CONTENT]
    holds = _says_both(text, target.content, candidate.content)
    content = text if holds else merge(target.content, candidate.content)
    if content is None:
        return Decision(
            Verdict.KEEP_BOTH, target.id, kind=candidate.kind, reasons=("model", "not_joined")
        )
    keeps_kind = "constraint" in (candidate.kind, target.kind)
    return Decision(
        Verdict.MERGE,
        target_id=target.id,
        content=masking.screen(content).text,
        kind="constraint" if keeps_kind else candidate.kind,
        reasons=("model",) if holds else ("model", "joined"),
    )


def _says_both(text: str, old: str, new: str) -> bool:
    words, first, second = (set(segment.terms(statement)) for statement in (text, old, new))
    if not words or language_of(text) not in (language_of(old), language_of(new)):
        return False
    if len(text) > len(old) + len(new) + _JOINED:  # it repeats itself
        return False
    complete = all(len(words & side) >= 0.6 * len(side) for side in (first, second))
    figures = {word for word in words if any(sign.isdigit() for sign in word)}
    return (
        complete and figures <= (first | second) and len(words - first - second) <= len(words) / 3
    )


def _for_review(candidate: Candidate, target_id: str | None, reason: str) -> Decision:
    return Decision(
        Verdict.REVIEW, target_id=target_id, kind=candidate.kind, reasons=("model", reason)
    )


_KEPT = 0.6  # share of each memory's words that the joined text must contain
_JOINING = 0.25  # share of the joined text's words that may be new: "both", "as well as"
_DENIES = re.compile(r"\b(?:not|never|no|without|dislikes?)\b|n['’]t\b|[不没别无]", re.IGNORECASE)


class Ungrounded(ProviderError):
    """Raised if a joined text doesn't match its memories; asking again wouldn't help."""

    def __init__(self) -> None:
        super().__init__("The model's answer doesn't say what the memories say.", retryable=False)


class ModelConsolidator:
    """Join memories by asking a chat model.

    Each question gives the memories temporary names (s1, s2 …).
    """

    name = "model"

    def __init__(self, asker: Asker) -> None:
        self._asker = asker

    def consolidate(self, texts: Sequence[str]) -> list[Joined]:
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
    """Return all items of the answer.

    Raise `Unreadable` if the answer was truncated or doesn't contain a list of objects.
    """
    found = questions.fields(answer, name="joined")["joined"]
    if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
        raise questions.Unreadable
    return found


def _joined(item: Mapping[str, Any], names: Mapping[str, int], texts: Sequence[str]) -> Joined:
    said = item.get("from")
    given = [questions.cleaned(name) for name in said] if isinstance(said, list) else []
    places = sorted({names[name] for name in given if name in names})
    content = questions.cleaned(item.get("content"))
    known = all(name in names for name in given)
    if not known or len(places) < 2 or not is_grounded(content, [texts[place] for place in places]):
        raise Ungrounded
    return Joined(content, tuple(places))


def is_grounded(content: str, texts: Sequence[str], *, kept: float = _KEPT) -> bool:
    """Return whether `content` says everything that `texts` say, and nothing else.

    It must also be in the language of one of them. `kept` is the minimum share of each text's words
    that `content` must contain.
    """
    if not content or len(content) > prompts.LONGEST_CONTENT or secret_search.find(content):
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
