"""Extraction by a chat model, whose answers are validated like input of a stranger.

A model only proposes. It can't ask to forget, mark a statement as explicit, name a memory that it
wasn't shown or quote what wasn't said: those come from the person's own words, by the bundled
reader. So a text that says "ignore your instructions" affects only the candidate made from it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from memcenter.lib.text import segment, tokens
from memcenter.providers.base import TooLong
from memories.extraction import own_prompts, secret_masking
from memories.extraction.chat_model import answers, prompts
from memories.extraction.chat_model.proof import Spoken, proven
from memories.extraction.chat_model.questions import Asker
from memories.extraction.chat_model.quotations import Quotable
from memories.extraction.types import (
    OWNER_UNSURE,
    Candidate,
    Extraction,
    Extractor,
    TurnText,
)

_PIECE = 3_000  # tokens of one question; halved as long as the model can't read that much
_SMALLEST_PIECE = 150
_OVERLAP = 30
_NOTHING = Extraction()
_CONTEXT = 400  # tokens of what was said around it


class ModelExtractor:
    """Candidates by a model; explicit orders and secrets by the reader.

    Secrets, quotations and pasted text are covered before anything is sent. Orders to remember are
    kept even if the model overlooks them.
    """

    name = "model"

    def __init__(self, asker: Asker, *, rules: Extractor) -> None:
        self._asker = asker
        self._rules = rules

    def extract(self, turn: TurnText) -> Extraction:
        ruled = self._rules.extract(turn)
        found = [] if ruled.withheld else self._said(turn, ruled=ruled)
        if turn.user.speaker and turn.assistant.speaker:
            found += self._said(_other_side(turn), role="assistant")
        kept = own_prompts.without_repeats(
            _with_orders([_as_read(one, ruled.candidates) for one in found], ruled.candidates),
            block=turn.known_block,
            most=prompts.MOST_CANDIDATES,
        )
        redacted = any(secret_masking.is_redacted(one.content) for one in kept)
        refused = tuple(replace(one, redacted=redacted) for one in ruled.refused)
        return replace(ruled, candidates=tuple(kept), refused=refused)

    def _said(
        self, turn: TurnText, *, role: str = "user", ruled: Extraction = _NOTHING
    ) -> list[Candidate]:
        orders = tuple(request.quote for request in ruled.forget)
        own = Quotable.own_words(
            turn.user, role=role, without=orders, not_lived=ruled.not_lived, secrets=ruled.secrets
        )
        if not own.says_something:
            return []
        spoken = Spoken.of(turn, own)
        language = segment.language(own.readable)
        around = _around(turn) | {"spans": _spans(ruled, role=role)}
        return self._proposed(own.readable, around, spoken, language=language, size=_PIECE)

    def _proposed(
        self, text: str, around: Mapping[str, Any], spoken: Spoken, *, language: str, size: int
    ) -> list[Candidate]:
        """Return the model's statements in `text`, asked piece by piece.

        If the model can't handle that much, the context is left out, then the pieces get smaller.
        """
        found: list[Candidate] = []
        for piece in tokens.split(text, size=size, overlap=_OVERLAP):
            spans = [one for one in around["spans"] if one in piece]
            material = {**around, "spans": spans, "message": piece}
            prompt = prompts.extraction(material, language=language)
            try:
                found += self._asker.ask(prompt, read=partial(_memories, spoken)).items
            except TooLong:
                bare = {name: around[name] for name in ("today", "speaker", "spans")}
                length = min(size, tokens.count(piece))
                smaller = length // 2 if around == bare else size
                if smaller < _SMALLEST_PIECE:
                    raise
                found += self._proposed(piece, bare, spoken, language=language, size=smaller)
        return found


def _memories(spoken: Spoken, answer: str) -> answers.Kept[Candidate]:
    read = answers.items(
        answer, name="memories", most=prompts.MOST_CANDIDATES, shape={"content": str, "quote": str}
    )
    found = [one for item in read.items if (one := proven(item, spoken)) is not None]
    return answers.Kept(found, read.dropped + len(read.items) - len(found))


def _spans(ruled: Extraction, *, role: str) -> list[str]:
    """Return what the reader would keep, as hints. Only what stands in the sent text is sent."""
    quotes = (one.quote for one in ruled.candidates if one.quoted_role == role)
    return list(dict.fromkeys(quotes))[: prompts.MOST_CANDIDATES]


def _around(turn: TurnText) -> dict[str, Any]:
    """Return the context of the message, without secrets and shortened."""
    return {
        "today": f"{turn.user.spoken_at:%Y-%m-%d, %A}",
        "speaker": turn.user.speaker,
        "earlier": [_shown(said.text) for said in turn.before[-2:]],
        "assistant_before": _shown(turn.before_assistant),
        "assistant": _shown(turn.assistant.text),
    }


def _shown(text: str) -> str:
    return tokens.truncate(secret_masking.masked_by_reading(text), limit=_CONTEXT)


def _other_side(turn: TurnText) -> TurnText:
    """Between two named people, return the turn from the other one's side."""
    return replace(turn, user=turn.assistant, assistant=turn.user, before=(), before_assistant="")


def _with_orders(found: Sequence[Candidate], ruled: Sequence[Candidate]) -> list[Candidate]:
    """Mark statements as explicit that "remember …" asks for, or add the ones that the model
    overlooked.
    """
    orders = [one for one in ruled if one.explicit]
    kept = [_ordered(one, orders) for one in found]
    return kept + [order for order in orders if not any(_same_span(order, one) for one in found)]


def _as_read(candidate: Candidate, ruled: Sequence[Candidate]) -> Candidate:
    """Add the reader's topic where the model gave none, and its doubt of whose a limit is."""
    same = [one for one in ruled if _same_span(one, candidate)]
    tags = candidate.tags or next((one.tags for one in same if one.tags), ())
    doubted = next((one for one in same if OWNER_UNSURE in one.reasons), None)
    if doubted is None:
        return replace(candidate, tags=tags)
    return replace(
        candidate,
        tags=tags,
        content=doubted.content,
        confidence=min(candidate.confidence, doubted.confidence),
        reasons=(*candidate.reasons, OWNER_UNSURE),
    )


def _ordered(candidate: Candidate, orders: Sequence[Candidate]) -> Candidate:
    for order in orders:
        if _same_span(order, candidate):
            return replace(
                candidate,
                explicit=True,
                importance=max(candidate.importance, order.importance),
                confidence=max(candidate.confidence, order.confidence),
                reasons=(*candidate.reasons, "explicit"),
            )
    return candidate


def _same_span(one: Candidate, other: Candidate) -> bool:
    return (
        one.quoted_role == other.quoted_role
        and one.quote_start < other.quote_start + len(other.quote)
        and other.quote_start < one.quote_start + len(one.quote)
    )
