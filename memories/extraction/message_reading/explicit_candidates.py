"""Build candidates from "remember …", "don't mention …", and agreement with a claim."""

from __future__ import annotations

from collections.abc import Iterator

from memories.extraction import masking
from memories.extraction.message_reading import statement_labels as labels
from memories.extraction.message_reading.heard_message import HeardMessage, orders_of, quotation
from memories.extraction.requests.commands import accepted_claim
from memories.extraction.types import Candidate
from memories.extraction.wording.languages import tag_of

EXPLICIT_IMPORTANCE = 0.9
EXPLICIT_CONFIDENCE = 0.95


def mention_wish_candidate(message: HeardMessage, start: int, end: int) -> Candidate:
    """Return a candidate for the person's wish that the assistant doesn't mention something."""
    quote, at = quotation(message, start, end)
    return Candidate(
        kind="preference",
        content=with_speaker(
            masking.mark_covered_secrets(message.covered[start:end]), message.said.speaker
        ),
        importance=labels.IMPORTANCE["preference"],
        confidence=labels.ACCEPTED,
        quote=quote,
        quote_start=at,
        tags=(tag_of("answers", language=message.language),),
        reasons=("self.lasting",),
    )


def accepted_claims(message: HeardMessage) -> Iterator[Candidate]:
    """Yield a candidate for a claim by the assistant that the person agreed with."""
    claim = accepted_claim(message.said.text, message.answers)
    if claim is None or message.role != "user":
        return
    content = f"[{claim.text}] {message.said.text.strip()}"
    yield Candidate(
        kind="fact",
        content=with_speaker(content, message.said.speaker),
        importance=labels.IMPORTANCE["fact"],
        confidence=labels.ACCEPTED,
        quote=claim.text,
        quote_start=claim.start,
        quoted_role="assistant",
        reasons=("accepted",),
    )


def ordered_candidates(message: HeardMessage) -> Iterator[Candidate]:
    """Yield a candidate for each "remember …" in a message.

    Call this function if the reader model found no statement in the message.
    """
    for order in orders_of(message, "remember"):
        quote, at = quotation(message, order.start, order.start + len(order.what))
        content = masking.mark_covered_secrets(order.what).strip(" \t,，.。!！:：;；")
        if not quote or masking.COVER in content or masking.says_nothing_but_secrets(content):
            continue
        yield Candidate(
            kind="task" if order.todo else "fact",
            content=with_speaker(content, message.said.speaker),
            importance=EXPLICIT_IMPORTANCE,
            confidence=EXPLICIT_CONFIDENCE,
            quote=quote,
            quote_start=at,
            quoted_role=message.role,
            explicit=True,
            reasons=("explicit",),
        )


def with_speaker(content: str, speaker: str) -> str:
    """Put the speaker's name, if given, before the text, so that it is clear who "I" is."""
    return f"{speaker}: {content}" if speaker else content
