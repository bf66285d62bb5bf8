"""A message together with the results of the reader model.

The functions find the commands in the message, and the parts that aren't statements about the
person's real life.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

from memories.extraction import masking
from memories.extraction.corrections.values import PATTERNS as CORRECTIONS
from memories.extraction.requests.commands import (
    Command,
    asks_not_to_mention,
    asks_not_to_store,
    commands,
    only_asks_not_to_forget,
    only_asks_to_recall,
    speaks_of_forgetting,
    without_openers,
)
from memories.extraction.types import Candidate, Extraction, ForgetRequest, RolePlay, Utterance
from memories.extraction.wording.languages import language_of
from memories.reader import Reading, Statement
from memories.reader.referents import Referent
from memories.screening.learned_secrets import CATEGORY
from memories.screening.secret_search import Span, joined

LIKELY = 0.6  # minimum probability of "worth keeping" for a statement to become a candidate
FLAG = 0.5  # minimum probability at which a flag of the whole message counts as set
_SURELY_FORGET = 0.9  # this minimum for the flag "forget" if the message has no word for forgetting
_SURELY_ANEW = 0.9  # this minimum for "role_begins" during a role play
_SAID_BEFORE = 24  # characters before a statement that are searched for words of correction
_BREAKS = re.compile(r"[.!?;\n。！？；]")
_CLIENT = re.compile(
    r"(?i)\b(?:my|our|one of (?:my|our)|an?) (?:patient|client|customer|pupil|student|resident)s?\b"
    r"|我们?的?(?:病人|患者|客户|来访者|学员)"
)
LIVED = ("asserted", "hedged", "asked")  # labels of statements about real life
NOT_OWN = ("pasted", "transform", "role_begins", "role")  # flags of foreign text or role play


class ReferentFinder(Protocol):
    """The part of `memories.reader.Reader` that finds whom a pronoun refers to."""

    def referents(
        self, text: str, start: int, end: int, *, before: Sequence[str] = (), assistant: str = ""
    ) -> Sequence[Referent]: ...


@dataclass(frozen=True)
class HeardMessage:
    """A person's message, and the reader model's results for it.

    `role` is "assistant" if a second person takes the assistant's place. In `covered`, each
    character of secrets, code, quoted lines, URLs and HTML tags is replaced, so positions are
    unchanged. `answers` is the other side's message to which this message replies.
    """

    said: Utterance
    role: str
    before: tuple[str, ...]  # latest first
    answers: str
    reading: Reading
    spans: tuple[Span, ...]
    covered: str
    reader: ReferentFinder

    @cached_property
    def language(self) -> str:
        return language_of(self.said.text)

    @cached_property
    def commands(self) -> tuple[Command, ...]:
        return tuple(commands(without_openers(self.covered)))

    def flag(self, name: str) -> bool:
        return self.reading.flags[name] >= FLAG

    def referents(self, start: int, end: int) -> Sequence[Referent]:
        """Return the words to which the pronoun `covered[start:end]` may refer."""
        return self.reader.referents(
            self.covered, start, end, before=self.before, assistant=self.answers
        )


@dataclass(frozen=True)
class ReadParts:
    """A long message without the part that the reader model doesn't read.

    `text` is the first and the last part of the message, with `secrets` covered. In `text`, the
    last part begins at `second`, which is `left_out` characters earlier than in the message. If a
    code block begins or ends in the part left out, its fence is inserted between the two parts.
    """

    text: str
    second: int
    left_out: int
    secrets: tuple[Span, ...]

    @classmethod
    def of(cls, text: str, unread: tuple[int, int], secrets: tuple[Span, ...]) -> ReadParts:
        start, end = unread
        covered = masking.cover_spans(text, secrets)
        fences = [mark for mark in ("```", "~~~") if text.count(mark, start, end) % 2]
        first = "\n".join((covered[:start], *fences, ""))
        return cls(first + covered[end:], len(first), end - len(first), secrets)

    def in_message(self, found: Extraction) -> Extraction:
        """Convert the positions in an extraction from `text` to positions in the whole message."""
        spans = (
            Span(self._place(start), self._place(end), CATEGORY) for start, end in found.secrets
        )
        secrets = joined([*self.secrets, *spans])
        kept = any(masking.is_redacted(candidate.content) for candidate in found.candidates)
        return replace(
            found,
            candidates=tuple(self._quoted(found.candidates)),
            endings=tuple(self._quoted(found.endings)),
            refused=masking.refusals(secrets, kept=kept),
            secrets=tuple((span.start, span.end) for span in secrets),
            outside_real_life=tuple(
                (self._place(start), self._place(end)) for start, end in found.outside_real_life
            ),
        )

    def _place(self, at: int) -> int:
        return at + self.left_out if at >= self.second else at

    def _quoted(self, candidates: Sequence[Candidate]) -> Iterator[Candidate]:
        for candidate in candidates:
            start, end = candidate.quote_start, candidate.quote_start + len(candidate.quote)
            if candidate.quoted_role == "assistant":
                yield candidate
            elif not start < self.second < end:  # a quote that spans the gap was never said
                yield replace(candidate, quote_start=self._place(start))


def is_not_to_keep(message: HeardMessage) -> bool:
    """Return whether the person asked not to store this message or its topic."""
    asked = message.flag("dont_keep_this") or message.flag("dont_keep_topic")
    is_manner = asks_not_to_mention(message.said.text)
    return (asked and not is_manner) or asks_not_to_store(message.said.text)


def is_in_a_role(message: HeardMessage) -> bool:
    """Return whether a message belongs to a role play that begins earlier and ends later."""
    turning = message.flag("role_begins") or message.flag("role_ends")
    return message.flag("role") and not turning


def role_play_of(message: HeardMessage, *, is_on: bool) -> RolePlay:
    """Return whether a message begins or ends a role play, or `GOES_ON` if neither.

    `is_on` means that a role play is in progress; then a new one needs a higher probability.
    """
    if message.flag("role_ends"):
        return RolePlay.ENDS
    begins = message.reading.flags["role_begins"]
    return RolePlay.BEGINS if begins >= (_SURELY_ANEW if is_on else FLAG) else RolePlay.GOES_ON


def spans_outside_real_life(message: HeardMessage) -> Iterator[tuple[int, int]]:
    """Return the spans that aren't statements about anyone's real life.

    These are the statements that the reader model takes for a joke, a quotation or the like. If the
    message contains someone else's text or role play, the spans cover everything except the
    statements about real life.
    """
    lived = [statement for statement in message.reading.statements if is_lived(statement)]
    if not any(message.flag(name) for name in NOT_OWN):
        parts = [(s.start, s.end) for s in message.reading.statements if s not in lived]
    else:
        ends = [0, *(statement.end for statement in lived)]
        starts = [*(statement.start for statement in lived), len(message.said.text)]
        parts = list(zip(ends, starts, strict=True))
    return ((start, end) for start, end in parts if start < end)


def is_lived(statement: Statement) -> bool:
    """Return whether a statement seems to be about the person's real life."""
    lived = sum(statement.share("said", label) for label in LIVED)
    return lived >= FLAG or statement.share("keep", "yes") >= LIKELY


def is_of_client(statement: Statement, text: str) -> bool:
    """Return whether a statement is about the health of a patient or a client.

    Such a statement is confidential, so the person is asked before it is stored.
    """
    return statement.best("topic") == "health" and _CLIENT.search(text) is not None


def overrules_in_words(statement: Statement, message: HeardMessage) -> bool:
    """Return whether the wording shows that a statement overrules an earlier statement.

    Words in the statement and just before it count. The result has an effect only if the statement
    conflicts with a known memory.
    """
    ends = [other.end for other in message.reading.statements if other.end <= statement.start]
    first = max([statement.start - _SAID_BEFORE, 0, *ends])
    before = _BREAKS.split(message.said.text[first : statement.start])[-1]
    said = before + message.said.text[statement.start : statement.end]
    return CORRECTIONS["overruling"].search(said) is not None


def orders_of(message: HeardMessage, verb: str) -> Iterator[Command]:
    """Yield the explicit commands with this verb ("remember" or "forget") in a message.

    "Remember …" counts only if the reader model also recognises the command. "Forget …" counts even
    if the model doesn't, unless the message contains someone else's text or role play. Questions
    such as "forget that I live in Leeds?" never count.
    """
    if message.flag(verb) or (verb == "forget" and not any(map(message.flag, NOT_OWN))):
        yield from (order for order in message.commands if order.verb == verb and not order.wonders)


def quotation(message: HeardMessage, start: int, end: int) -> tuple[str, int]:
    """Return the longest part of a span without any covered text or secret, and its position."""
    best, at = "", start
    for part in re.finditer(f"[^{masking.COVER}{masking.SECRET}]+", message.covered[start:end]):
        text = part[0].strip()
        if len(text) > len(best):
            best, at = text, start + part.start() + part[0].index(text)
    return best, at


def forget_requests(message: HeardMessage) -> Iterator[ForgetRequest]:
    """Yield the person's requests to forget something.

    Explicit commands take precedence. If there are none, yield the request that the reader model
    recognises. If the model recognises none, yield the brief command ("forget coffee"), which the
    user must confirm, or a request to forget the previous message. "Don't save this, I was laid
    off" asks only not to store the message, so nothing is yielded.
    """
    if message.flag("dont_keep_this") and not message.flag("forget"):
        return
    orders = list(orders_of(message, "forget"))
    if any(not order.brief for order in orders):
        yield from map(_request, orders)
        return
    if any(order.wonders or order.verb == "remember" for order in message.commands):
        return  # such as "don't forget that …"
    others = (only_asks_not_to_forget, only_asks_to_recall, asks_not_to_mention)
    if any(asks(message.covered) for asks in others):
        return
    in_words = speaks_of_forgetting(message.covered)
    if CORRECTIONS["overruling_order"].search(message.covered):
        return  # "scrap that, the course is moved to the 16th" is a correction
    whole = masking.mark_covered_secrets(message.covered).strip()[:400]
    forget, before = (message.reading.flags[name] for name in ("forget", "dont_keep_before"))
    if forget > before and forget >= (FLAG if in_words else _SURELY_FORGET):
        yield ForgetRequest(whole, whole, in_words=in_words)
    elif orders:
        yield from map(_request, orders)
    elif before >= FLAG:
        yield ForgetRequest("", whole, in_words=in_words)


def _request(order: Command) -> ForgetRequest:
    what, sentence = map(masking.mark_covered_secrets, (order.what, order.sentence))
    return ForgetRequest(what, sentence, in_words=not order.brief)
