"""The bundled extractor: a learned reader finds the statements, and a memory is made of each.

A message is read whole, with up to three messages before it and what it answers. A statement that
is worth keeping is kept in the person's own words (`own_words`). Secrets, code and quoted lines
never become a part of one, and nothing that only repeats our own prompt text is kept.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from typing import Protocol

from memories.extraction import accepted, commands, keeping, masking, repeated, sensitive
from memories.extraction.languages import language_of
from memories.extraction.own_words import own_words
from memories.extraction.topics import tag_of
from memories.extraction.types import Candidate, Extraction, ForgetRequest, Said, TurnText
from memories.reader import Reading, Statement
from memories.screening import finding
from memories.screening import reading as screened
from memories.screening.finding import Span

KEEP = 0.6  # share of "worth keeping" from which a statement is kept
DOUBTED = 0.35  # from which one that is "perhaps worth keeping" goes to the review
ASKED_TO_KEEP = 0.15  # the same where the person said "remember this"
FLAG = 0.5  # share from which a mark of the whole message holds
_DOUBTFUL = 0.4  # the confidence of what waits for the person
_ACCEPTED = 0.8  # the confidence of what the assistant said and the person agreed to
_HEDGED = 0.15  # taken off the confidence of "I think", "maybe", 好像
_EXPLICIT_IMPORTANCE = 0.9
_EXPLICIT_CONFIDENCE = 0.95
_IMPORTANCE = {
    "constraint": 0.85,
    "preference": 0.6,
    "fact": 0.6,
    "task": 0.6,
    "event": 0.5,
    "pattern": 0.5,
    "skill": 0.55,
}
_OWN_LIFE = ("self", "related")
_LIVED = ("asserted", "hedged", "asked")
_NOT_OWN = ("pasted", "transform", "role_begins", "role")  # marks of others' words and of games
_MOST = 40  # candidates of one message; more is a list, not a conversation
_SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？]*")
_LONGEST_ORDER = 600  # signs of a sentence in which "remember" and "forget" are looked for
_HAN = ("zh", "ja")
_SAID_BEFORE = 24  # signs before a statement in which a word of correction is looked for
_OVERRULES = re.compile(
    r"(?i)\b(?:actually|typo|i mean|i meant|correction|now|instead|any ?more|no longer|wrong"
    r"|ahora|en realidad|perdón|quise decir|ya no|jetzt|eigentlich|ich meinte|nicht mehr"
    r"|maintenant|en fait|je voulais dire|ne plus)\b"
    r"|说错|打错|写错|记错|說錯|打錯|其实|其實|更正|纠正|改成|改到|改为|换成|现在|現在|不再|已经不"
    r"|間違え|じゃなくて|ではなく|今は"
)
_SAYS = re.compile(r"[^\W_]")


class MessageReader(Protocol):
    """What the extractor needs of `memories.reader.Reader`."""

    def read(self, text: str, *, before: Sequence[str] = (), assistant: str = "") -> Reading: ...


@dataclass(frozen=True)
class _Order:
    """ "Remember …" or "forget …". `what` stands in the message at `start`; empty: what was said
    before.
    """

    verb: str  # remember | forget
    what: str
    start: int
    sentence: str
    todo: bool
    wonders: bool  # "forget that I live in Leeds?"


@dataclass(frozen=True)
class _Message:
    """What one person said. `covered` is as long as the text, without secrets and code."""

    said: Said
    role: str
    before: tuple[str, ...]  # latest first
    answers: str
    reading: Reading
    spans: tuple[Span, ...]
    covered: str
    commands: tuple[_Order, ...]

    def flag(self, name: str) -> bool:
        return self.reading.flags[name] >= FLAG


class BundledExtractor:
    """Keeps what the reader is sure of; what it doubts waits for the person's review."""

    name = "bundled"

    def __init__(self, reader: MessageReader) -> None:
        self._reader = reader

    def extract(self, turn: TurnText) -> Extraction:
        message = self._heard(turn.user, "user", turn)
        forget = tuple(_forget_requests(message))
        withheld = _is_withheld(message)
        candidates = [] if withheld else list(_candidates(message))
        if turn.user.speaker and turn.assistant.speaker:
            other = self._heard(turn.assistant, "assistant", replace(turn, before=()))
            candidates += _candidates(other)
        kept = list(_without_repeats(candidates, known=repeated.folded(turn.known_block)))
        redacted = any(sensitive.is_redacted(one.content) for one in kept)
        return Extraction(
            tuple(kept),
            sensitive.refusals(message.spans, kept=redacted),
            forget,
            secrets=tuple((one.start, one.end) for one in message.spans),
            withheld=withheld,
            not_lived=tuple(_not_lived(message)),
        )

    def kind_of(self, text: str) -> str:
        """The kind of the one statement that a text makes; empty where it makes none or several."""
        kinds = {one.best("kind") for one in self._reader.read(text).statements}
        return kinds.pop() if len(kinds) == 1 else ""

    def _heard(self, said: Said, role: str, turn: TurnText) -> _Message:
        before = tuple(one.text for one in reversed(turn.before))[:3]
        answers = turn.before_assistant if role == "user" else turn.user.text
        reading = self._reader.read(said.text, before=before, assistant=answers)
        spans = screened.of_reading(said.text, reading)
        covered = masking.covered(sensitive.covered(said.text, spans))
        orders = tuple(_commands(covered))
        return _Message(said, role, before, answers, reading, spans, covered, orders)


def _is_withheld(message: _Message) -> bool:
    """Whether the person asked that this message, or what it is about, isn't kept."""
    asked = message.flag("dont_keep_this") or message.flag("dont_keep_topic")
    return asked or keeping.is_asked_not_to(message.said.text)


def _candidates(message: _Message) -> Iterator[Candidate]:
    asked = message.flag("remember")
    unwanted = [order.start for order in _orders(message, "forget") if order.what]
    found = [
        one
        for one in message.reading.statements
        if _is_ours(one, asked=asked) and not any(one.start <= at < one.end for at in unwanted)
    ]
    if asked and not found:
        yield from _ordered(message)
    if not found:
        yield from _accepted(message)
    for one in found:
        if candidate := _candidate(one, message, explicit=asked):
            yield candidate


def _accepted(message: _Message) -> Iterator[Candidate]:
    """What the assistant said of the person and they only agreed to, with their answer."""
    claim = accepted.accepted_claim(message.said.text, message.answers)
    if claim is None or message.role != "user" or finding.find(claim.quote):
        return
    content = f"[{claim.quote}] {message.said.text.strip()}"
    yield Candidate(
        kind="fact",
        content=_named(content, message.said.speaker),
        importance=_IMPORTANCE["fact"],
        confidence=_ACCEPTED,
        quote=claim.quote,
        quote_start=claim.start,
        quoted_role="assistant",
        language=language_of(claim.quote),
        reasons=("accepted",),
    )


def _is_ours(one: Statement, *, asked: bool) -> bool:
    """Whether it may be kept, surely or perhaps."""
    if one.best("whose") not in _OWN_LIFE or one.best("said") not in _LIVED:
        return asked and one.share("keep", "yes") >= KEEP
    keep, perhaps = one.share("keep", "yes"), one.share("keep", "unsure")
    least = ASKED_TO_KEEP if asked else KEEP
    return keep >= least or (perhaps >= DOUBTED and keep + perhaps >= 2 * DOUBTED)


def _not_lived(message: _Message) -> Iterator[tuple[int, int]]:
    """The parts that tell nothing of anybody's life; doubtful statements are not among them.

    In a message with a text that isn't the person's, or in a game, it is all but what is lived.
    """
    lived = [one for one in message.reading.statements if _is_lived(one)]
    if not any(message.flag(name) for name in _NOT_OWN):
        parts = [(s.start, s.end) for s in message.reading.statements if s not in lived]
    else:
        ends = [0, *(one.end for one in lived)]
        starts = [*(one.start for one in lived), len(message.said.text)]
        parts = list(zip(ends, starts, strict=True))
    return ((start, end) for start, end in parts if start < end)


def _is_lived(one: Statement) -> bool:
    lived = sum(one.share("said", said) for said in _LIVED)
    return lived >= 0.5 or one.share("keep", "yes") >= KEEP


def _candidate(one: Statement, message: _Message, *, explicit: bool) -> Candidate | None:
    others = [(s.start, s.end) for s in message.reading.statements if s != one]
    language = _language(message.said.text, message.said.text[one.start : one.end])
    begin = _behind_order(one, message) if explicit else one.start
    whose = one.best("whose")
    own = own_words(
        message.covered,
        begin,
        one.end,
        others=others,
        before=tuple(reversed(message.before)),
        assistant=message.answers,
        spoken_at=message.said.spoken_at,
        language=language,
        whose=whose,
        holds=one.best("holds"),
    )
    content = sensitive.blanked(own.text)
    quote, start = _quote(message, begin, one.end)
    if not quote or masking.COVER in content or sensitive.says_nothing_but_secrets(content):
        return None
    if not _SAYS.search(content):
        return None
    kind = one.best("kind")
    tag = tag_of(one.best("topic"), language=language)
    return Candidate(
        kind=kind,
        content=_named(content, message.said.speaker),
        importance=_EXPLICIT_IMPORTANCE if explicit else _importance(one),
        confidence=_EXPLICIT_CONFIDENCE if explicit else _confidence(one),
        quote=quote,
        quote_start=start,
        quoted_role=message.role,
        tags=(tag,),
        data=own.data,
        occurred_at=_moment(own.occurred, message.said) if kind == "event" else None,
        explicit=explicit,
        corrects=_corrects(one, message),
        language=language,
        reasons=_reasons(one, explicit=explicit),
    )


def _orders(message: _Message, verb: str) -> Iterator[_Order]:
    """The sentences that say so in so many words.

    "Forget …" is obeyed in the person's own words whatever the reader makes of it, "remember …"
    where it heard one too.
    """
    if message.flag(verb) or (verb == "forget" and not any(map(message.flag, _NOT_OWN))):
        yield from (one for one in message.commands if one.verb == verb and not one.wonders)


def _commands(covered: str) -> Iterator[_Order]:
    """All sentences in the form of an order, whether it is meant as one or not."""
    for sentence in _SENTENCE.finditer(covered):
        text = sentence[0].strip()
        plain = masking.simplified(masking.plain(text[:_LONGEST_ORDER]))
        asks = text.endswith(("?", "？"))
        for verb, question in (("remember", asks), ("forget", False)):
            order = commands.command(plain, question=question)
            if order is None or order.verb != verb:
                continue
            wonders = asks and verb == "forget" and not commands.is_polite_request(plain)
            at = max(0, plain.find(order.what, order.start))
            what = text[at : at + len(order.what)]
            start = covered.index(text, sentence.start()) + at
            yield _Order(verb, what, start, text, order.todo, wonders)


def _ordered(message: _Message) -> Iterator[Candidate]:
    """What "remember …" asks to keep where the reader saw no statement: the words themselves."""
    for order in _orders(message, "remember"):
        quote, at = _quote(message, order.start, order.start + len(order.what))
        content = sensitive.blanked(order.what).strip(" \t,，.。!！:：;；")
        if not quote or masking.COVER in content or sensitive.says_nothing_but_secrets(content):
            continue
        yield Candidate(
            kind="task" if order.todo else "fact",
            content=_named(content, message.said.speaker),
            importance=_EXPLICIT_IMPORTANCE,
            confidence=_EXPLICIT_CONFIDENCE,
            quote=quote,
            quote_start=at,
            quoted_role=message.role,
            explicit=True,
            language=language_of(content),
            reasons=("explicit",),
        )


def _language(message: str, statement: str) -> str:
    """That of the message, unless the statement is in another script."""
    of_all, own = language_of(message), language_of(statement)
    return own if (of_all in _HAN) != (own in _HAN) else of_all


def _behind_order(one: Statement, message: _Message) -> int:
    """Where a statement begins without the "remember that" before it."""
    starts = [order.start for order in _orders(message, "remember")]
    return max([one.start, *(at for at in starts if one.start < at < one.end)])


def _quote(message: _Message, start: int, end: int) -> tuple[str, int]:
    """The longest part of the span without a secret or covered text, and where it stands."""
    best, at = "", start
    for part in re.finditer(f"[^{masking.COVER}{masking.SECRET}]+", message.covered[start:end]):
        text = part[0].strip()
        if len(text) > len(best):
            best, at = text, start + part.start() + part[0].index(text)
    return best, at


def _named(content: str, speaker: str) -> str:
    """Between named people "I" says nothing without the name."""
    return f"{speaker}: {content}" if speaker else content


def _corrects(one: Statement, message: _Message) -> bool:
    """Whether it overrules what was known: the reader sees it, or a word in or before it says so.

    It only counts where the statement conflicts with a known one.
    """
    if one.best("change") != "none":
        return True
    before = message.said.text[max(0, one.start - _SAID_BEFORE) : one.start]
    return _OVERRULES.search(before + message.said.text[one.start : one.end]) is not None


def _importance(one: Statement) -> float:
    passed = 0.1 if one.best("holds") in ("past", "passing") else 0.0
    return round(_IMPORTANCE[one.best("kind")] - passed, 2)


def _confidence(one: Statement) -> float:
    keep = one.share("keep", "yes")
    if keep < KEEP:
        return _DOUBTFUL
    hedged = _HEDGED if one.best("said") == "hedged" else 0.0
    return round(min(0.95, keep) - hedged, 2)


def _reasons(one: Statement, *, explicit: bool) -> tuple[str, ...]:
    """`self.lasting` and the like, then what else was seen."""
    seen = {
        "explicit": explicit,
        "hedged": one.best("said") == "hedged",
        "corrects": one.best("change") == "corrects",
        "ends": one.best("change") == "ends",
    }
    heard = f"{one.best('whose')}.{one.best('holds')}"
    return (heard, *(name for name, holds in seen.items() if holds))


def _moment(day: date | None, said: Said) -> datetime | None:
    return datetime.combine(day, time(), tzinfo=said.spoken_at.tzinfo) if day else None


def _forget_requests(message: _Message) -> Iterator[ForgetRequest]:
    """What the person asks to forget: plain orders, else what the reader takes for a request."""
    orders = list(_orders(message, "forget"))
    for order in orders:
        yield ForgetRequest(sensitive.blanked(order.what), sensitive.blanked(order.sentence))
    if orders:
        return
    if any(one.wonders or one.verb == "remember" for one in message.commands):
        return  # "don't forget that …"
    if message.flag("forget"):
        whole = sensitive.blanked(message.covered).strip()
        yield ForgetRequest(whole[:400], whole[:400])
    elif message.flag("dont_keep_before"):
        yield ForgetRequest("", sensitive.blanked(message.covered))


def _without_repeats(candidates: Sequence[Candidate], *, known: str) -> Iterator[Candidate]:
    kept: dict[str, Candidate] = {}
    for one in candidates:
        if one.explicit or not repeated.repeats(one.content, one.quote, known=known):
            kept.setdefault(repeated.folded(one.content), one)
    yield from list(kept.values())[:_MOST]
