"""Extract candidates with a chat model, whose answers are validated like untrusted input.

The model only proposes candidates. It can't request that something be forgotten, mark a statement
as explicitly requested, refer to a memory that it wasn't shown, or quote words that nobody said.
Requests come only from the bundled extractor, and each quote is checked against the messages. So a
text that says "ignore your instructions" affects only the candidates made from that text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from foundation.providers.base import TooLong
from foundation.text import segment, tokens
from memories.extraction import masking
from memories.extraction.chat_model import model_calls, prompts
from memories.extraction.chat_model.model_calls import Asker, pieces
from memories.extraction.chat_model.proof import (
    ProofTexts,
    Quotable,
    days_named,
    figures,
    prove_candidate,
)
from memories.extraction.types import (
    OWNER_UNSURE,
    Candidate,
    Extraction,
    Extractor,
    JointCandidate,
    JointTurn,
    TurnText,
)
from memories.extraction.wording.languages import language_of
from memories.screening import secret_search

_PIECE = 3_000  # tokens of text in one question; halved until the question fits the model
_SMALLEST_PIECE = 150
_OVERLAP = 30
_NOTHING = Extraction()
_CONTEXT = 400  # tokens of each context message


class ModelExtractor:
    """Extract candidates with a chat model; the bundled extractor finds commands and secrets.

    Secrets are masked in all texts that are sent; in the message itself, quotations and pasted text
    are hidden as well. If the person asked for a statement to be remembered, the statement is kept
    even if the chat model overlooks it.
    """

    name = "model"

    def __init__(self, asker: Asker, *, rules: Extractor) -> None:
        self._asker = asker
        self._rules = rules

    def extract(self, turn: TurnText) -> Extraction:
        ruled = self._rules.extract(turn)
        found = [] if ruled.not_to_keep else self._candidates_in(turn, ruled=ruled)
        if turn.user.speaker and turn.assistant.speaker:
            other = TurnText(turn.assistant, turn.user, known_block=turn.known_block)
            found += self._candidates_in(other, role="assistant")
        found = [_with_bundled_results(candidate, ruled.candidates) for candidate in found]
        orders = [order for order in ruled.candidates if order.explicit]
        found += [order for order in orders if not any(_same_span(order, one) for one in found)]
        kept = masking.without_repeats(found, block=turn.known_block, most=prompts.MOST_CANDIDATES)
        redacted = any(masking.is_redacted(candidate.content) for candidate in kept)
        refused = tuple(replace(report, redacted=redacted) for report in ruled.refused)
        return replace(ruled, candidates=tuple(kept), refused=refused)

    def _candidates_in(
        self, turn: TurnText, *, role: str = "user", ruled: Extraction = _NOTHING
    ) -> list[Candidate]:
        orders = tuple(request.quote for request in ruled.forget)
        own = Quotable.own_words(
            turn.user,
            role=role,
            without=orders,
            outside_real_life=ruled.outside_real_life,
            secrets=ruled.secrets,
        )
        if not own.says_something:
            return []
        spoken = ProofTexts.of(turn, own)
        language = segment.language(own.readable)
        quotes = (
            candidate.quote for candidate in ruled.candidates if candidate.quoted_role == role
        )
        hints = list(dict.fromkeys(quotes))[: prompts.MOST_CANDIDATES]
        around = _context(turn) | {"spans": hints}
        return self._proposed(own.readable, around, spoken, language=language, size=_PIECE)

    def _proposed(
        self, text: str, around: Mapping[str, Any], spoken: ProofTexts, *, language: str, size: int
    ) -> list[Candidate]:
        """Return the candidates that the model finds in `text`, asking about one piece at a time.

        If a question is too long for the model, its context is left out; if that isn't enough, the
        pieces are made smaller. Raise `TooLong` if even the smallest pieces are too long.
        """
        found: list[Candidate] = []
        for piece in tokens.split(text, size=size, overlap=_OVERLAP):
            spans = [span for span in around["spans"] if span in piece]
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


def _memories(spoken: ProofTexts, answer: str) -> model_calls.UsableItems[Candidate]:
    read = model_calls.items(
        answer, name="memories", most=prompts.MOST_CANDIDATES, shape={"content": str, "quote": str}
    )
    found = [
        candidate for item in read.items if (candidate := prove_candidate(item, spoken)) is not None
    ]
    return model_calls.UsableItems(found, read.dropped + len(read.items) - len(found))


def _context(turn: TurnText) -> dict[str, Any]:
    """Return the context of the message for the prompt, shortened and with secrets masked."""
    return {
        "today": f"{turn.user.spoken_at:%Y-%m-%d, %A}",
        "speaker": turn.user.speaker,
        "earlier": [_shown(said.text) for said in turn.before[-2:]],
        "assistant_before": _shown(turn.before_assistant),
        "assistant": _shown(turn.assistant.text),
    }


def _shown(text: str) -> str:
    return tokens.truncate(masking.masked_by_reading(text), limit=_CONTEXT)


def _with_bundled_results(candidate: Candidate, ruled: Sequence[Candidate]) -> Candidate:
    """Complete the chat model's candidate with the bundled extractor's results for this passage.

    The bundled extractor's tags are used if the chat model gave none. If the person asked to save
    the statement, the candidate becomes explicit. If the bundled extractor is unsure whom the
    statement is about, the candidate gets the bundled extractor's text, and the lower of the two
    confidences.
    """
    same = [other for other in ruled if _same_span(other, candidate)]
    tags = candidate.tags or next((other.tags for other in same if other.tags), ())
    marked = replace(candidate, tags=tags)
    if doubted := next((other for other in same if OWNER_UNSURE in other.reasons), None):
        marked = replace(
            marked,
            content=doubted.content,
            confidence=min(candidate.confidence, doubted.confidence),
            reasons=(*candidate.reasons, OWNER_UNSURE),
        )
    if order := next((other for other in same if other.explicit), None):
        marked = replace(
            marked,
            explicit=True,
            importance=max(candidate.importance, order.importance),
            confidence=max(marked.confidence, order.confidence),
            reasons=(*marked.reasons, "explicit"),
        )
    return marked


def _same_span(candidate: Candidate, other: Candidate) -> bool:
    return (
        candidate.quoted_role == other.quoted_role
        and candidate.quote_start < other.quote_start + len(other.quote)
        and other.quote_start < candidate.quote_start + len(candidate.quote)
    )


_QUESTION = 3_000  # maximum number of tokens of the turns in one question
_LONGEST = 400  # maximum number of tokens of one message
_SAID = 0.6  # minimum share of a statement's words that occur in the person's messages
_DOUBTFUL = 0.6  # highest confidence of a statement from several turns


class ModelJointReader:
    """Find statements that follow from several turns together, by asking a chat model."""

    name = "model"

    def __init__(self, asker: Asker) -> None:
        self._asker = asker

    def read(self, turns: Sequence[JointTurn]) -> list[JointCandidate]:
        spoken = [turn for turn in turns if _quotable(turn).says_something]
        found = [
            gathered
            for group in pieces(spoken, cost=_cost, most=_QUESTION, shared=1)
            for gathered in self._read_together(group)
        ]
        kept = masking.without_repeats(
            (gathered.candidate for gathered in found),
            block=turns[0].text.known_block if turns else "",
            most=prompts.MOST_CANDIDATES,
        )
        return [gathered for gathered in found if any(gathered.candidate is item for item in kept)]

    def _read_together(self, turns: Sequence[JointTurn]) -> list[JointCandidate]:
        if len(turns) < 2 or not any(turn.is_new for turn in turns):
            return []
        shown = [_shown_turns(number, turn) for number, turn in enumerate(turns, start=1)]
        language = segment.language(" ".join(turn.text.user.text[:200] for turn in turns))
        prompt = prompts.joint_reading({"turns": shown}, language=language)
        try:
            return list(self._asker.ask(prompt, read=partial(_read, turns)).items)
        except TooLong:
            if len(turns) == 2:
                raise
            half = len(turns) // 2
            return self._read_together(turns[:half]) + self._read_together(turns[half:])


def _read(turns: Sequence[JointTurn], answer: str) -> model_calls.UsableItems[JointCandidate]:
    read = model_calls.items(
        answer,
        name="over_turns",
        most=prompts.MOST_CANDIDATES,
        shape={"content": str, "turns": list},
    )
    found = [
        gathered for item in read.items if (gathered := _joint_candidate(item, turns)) is not None
    ]
    return model_calls.UsableItems(found, read.dropped + len(read.items) - len(found))


def _quotable(heard: JointTurn) -> Quotable:
    return Quotable.own_words(heard.text.user, role="user")


def _shown_turns(number: int, heard: JointTurn) -> dict[str, Any]:
    reply = masking.masked(heard.text.assistant.text)
    return {
        "turn": number,
        "day": f"{heard.text.user.spoken_at:%Y-%m-%d, %A}",
        "user": tokens.truncate(_quotable(heard).readable, limit=_LONGEST),
        "assistant": tokens.truncate(reply, limit=_LONGEST // 4),
    }


def _cost(heard: JointTurn) -> int:
    return min(_LONGEST, tokens.count(heard.text.user.text[:4_000])) + _LONGEST // 4


def _joint_candidate(item: Mapping[str, Any], turns: Sequence[JointTurn]) -> JointCandidate | None:
    listed = item.get("turns")
    numbers = (
        {number for number in listed if isinstance(number, int)}
        if isinstance(listed, list)
        else set()
    )
    meant = [turns[number - 1] for number in sorted(numbers) if 0 < number <= len(turns)]
    if len(meant) < 2 or not any(turn.is_new for turn in meant):
        return None
    content = model_calls.clean_text(item.get("content"))[: prompts.LONGEST_CONTENT]
    if not _is_grounded(content, meant):
        return None
    words = set(segment.terms(content))
    if any(words <= set(segment.terms(_quotable(turn).readable)) for turn in meant):
        return None  # a single turn makes the whole statement
    last = meant[-1]
    own = _quotable(last)
    quotation = own.nearest(content) or own.find(own.said.text.strip()[:200])
    kind = model_calls.one_of(item.get("kind"), among=prompts.KINDS, default="fact")
    candidate = Candidate(
        kind=kind,
        content=content,
        importance=model_calls.share(item.get("importance"), default=0.5),
        confidence=min(_DOUBTFUL, model_calls.share(item.get("confidence"), default=_DOUBTFUL)),
        quote=quotation.text if quotation else "",
        quote_start=quotation.start if quotation else 0,
        reasons=("model", "over_turns"),
    )
    return JointCandidate(candidate, last.turn, needs=tuple(turn.turn for turn in meant[:-1]))


def _is_grounded(content: str, meant: Sequence[JointTurn]) -> bool:
    """Return whether `content` shares its language, most words and all numbers with the turns.

    Return False if `content` is empty or contains a secret.
    """
    said = "\n".join(_quotable(turn).readable for turn in meant)
    if not content or secret_search.find(content) or language_of(content) != language_of(said):
        return False
    words, theirs = _words(content), _words(said)
    if not words or len(words & theirs) < _SAID * len(words):
        return False
    return figures(content) <= figures(f"{said}\n{_days(meant)}")


def _words(text: str) -> set[str]:
    return {term for term in segment.terms(text) if not any(map(str.isdigit, term))}


def _days(meant: Sequence[JointTurn]) -> str:
    """Return the dates that the turns mention, and the years in which the turns were said."""
    days = [
        day
        for turn in meant
        for day in days_named(_quotable(turn).readable, spoken_at=turn.text.user.spoken_at)
    ]
    years = [turn.text.user.spoken_at.year for turn in meant]
    return "\n".join(map(str, [*days, *years]))
