"""The bundled extractor for Chinese and English, without a chat model, a key or a network.

A message goes through five steps. Secrets and all that isn't the person's own statement (code,
quotations, pasted text) are covered, sign for sign. Each sentence is read by the rules of its
language (`rules/`), or obeyed if it says "remember" or "forget". What no rule took is judged by the
classifier, if there is one (`judging.py`). What was found becomes candidates with their quotes.
Nothing that only repeats our own prompt text is kept.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, time

from memories.extraction import sensitive
from memories.extraction.classifier.model import Judge
from memories.extraction.judging import Heard, settled
from memories.extraction.rules import accepted, commands, masking, repeated
from memories.extraction.rules.en_clauses import Sentence
from memories.extraction.rules.explicit import as_said
from memories.extraction.rules.reading import Reader, language_of, sentences
from memories.extraction.rules.rule import OPEN, Found, Rule
from memories.extraction.rules.zh_dialect import standard
from memories.extraction.types import Candidate, Extraction, ForgetRequest, Said, TurnText
from memories.screening import finding

_EXPLICIT_IMPORTANCE = 0.9
_EXPLICIT_CONFIDENCE = 0.95
_HEDGED = 0.3  # taken off the confidence of "I think", "maybe", 好像
_ACCEPTED = 0.1  # taken off what the assistant said and the user agreed to
_ANSWERED = Rule("answered", "fact", 0.6, 0.9, OPEN.pattern)
_MOST = 40  # candidates of one message; more is a list, not a conversation


@dataclass(frozen=True)
class _Message:
    """What one person said: `text` as it was, `covered` without its secrets."""

    said: Said
    role: str
    spans: tuple[finding.Span, ...]
    covered: str

    @classmethod
    def of(cls, said: Said, role: str) -> "_Message":
        spans = finding.find(said.text)
        covered = sensitive.covered(said.text, spans)
        return cls(said, role, spans, covered)


class BundledExtractor:
    """Precise rather than greedy: what it isn't sure to understand, it leaves.

    `judge` decides on what the rules don't know; without one they are alone. `rules=False` leaves
    all to the judge, which is only good for measuring.
    """

    name = "bundled"

    def __init__(self, judge: Judge | None = None, *, rules: bool = True) -> None:
        self._judge = judge
        self._rules = rules

    def extract(self, turn: TurnText) -> Extraction:
        user = _Message.of(turn.user, "user")
        known = repeated.folded(turn.known_block)
        found, forget = self._heard(user, turn)
        found += self._from_named_assistant(turn)
        candidates = _without_repeats(found, known=known)
        kept = any(
            mark in candidate.content
            for candidate in candidates
            for mark in (sensitive.MARK_EN, sensitive.MARK_ZH)
        )
        refused = sensitive.refusals(user.spans, kept=kept)
        return Extraction(tuple(candidates), refused, tuple(forget))

    def _heard(
        self, message: _Message, turn: TurnText
    ) -> tuple[list[Candidate], list[ForgetRequest]]:
        """Candidates and forget requests of the user's message, in the order they were said."""
        own = masking.own_words(message.covered)
        if masking.is_play(own):
            return [], []
        said = message.said
        reader = Reader(said.spoken_at.date(), speaker=said.speaker, rules=self._rules)
        for earlier in turn.before[-2:]:
            reader.note(masking.own_words(sensitive.cover(earlier.text))[:2000])
        candidates = list(_from_assistant(turn, message, reader, self._judge))
        heard, forget = _sentences(own, turn, message, reader)
        for one in settled(heard, self._judge):
            if candidate := _candidate(one.found, message, explicit=one.explicit):
                candidates.append(candidate)
        return candidates, forget

    def _from_named_assistant(self, turn: TurnText) -> list[Candidate]:
        """Between two named people, the other side's statements are remembered by their name."""
        if not (turn.user.speaker and turn.assistant.speaker):
            return []
        message = _Message.of(turn.assistant, "assistant")
        return self._heard(message, replace(turn, before=(), before_assistant=""))[0]


def _sentences(
    own: str, turn: TurnText, message: _Message, reader: Reader
) -> tuple[list[Heard], list[ForgetRequest]]:
    heard: list[Heard] = []
    forget: list[ForgetRequest] = []
    listing = False
    for sentence in sentences(own):
        if commands.opens_list(sentence.text):
            listing = True
            continue
        order = commands.command(standard(sentence.text), question=sentence.question)
        if order is not None and order.todo and turn.assistant.speaker:
            continue  # "remember to rest" is said to the other person, not to a memory
        if order is not None and order.verb == "forget":
            if sentence.question and not commands.is_polite_request(sentence.text):
                continue
            forget.append(_forget_request(order, sentence, message))
        else:
            heard += _of_sentence(sentence, order, message, reader, listing=listing)
        reader.note(sentence.text)
    return heard, forget


def _forget_request(
    order: commands.Command, sentence: Sentence, message: _Message
) -> ForgetRequest:
    about = sensitive.blanked(_as_typed(order.what, sentence, message))
    end = sentence.start + len(sentence.text)
    return ForgetRequest(about, sensitive.blanked(message.covered[sentence.start : end]))


def _as_typed(what: str, sentence: Sentence, message: _Message) -> str:
    """The user's own characters for a part that was found in the simplified sentence."""
    at = standard(sentence.text).find(what)
    return sentence.text[at : at + len(what)] if at >= 0 else what


def _of_sentence(
    sentence: Sentence,
    order: commands.Command | None,
    message: _Message,
    reader: Reader,
    *,
    listing: bool,
) -> Iterator[Heard]:
    if order is None:
        for found in reader.read(sentence):
            yield Heard(found, message.covered[found.start : found.end], explicit=listing)
        return
    start = sentence.start + order.start
    what = sentence.text[order.start : order.start + len(order.what)]
    before = message.covered[: sentence.start]
    for found in _ordered(Sentence(what, start, question=False), order, reader, before=before):
        yield Heard(found, what, explicit=True)


def _ordered(
    sentence: Sentence, order: commands.Command, reader: Reader, *, before: str
) -> list[Found]:
    """What "remember …" asks to keep: what the rules see in it, else the words themselves."""
    plain = order.todo or masking.SECRET in sentence.text
    read = [] if plain else reader.read(sentence)
    found = [one for one in read if not one.is_open]
    if found:
        return found
    said = as_said(
        sentence.text,
        start=sentence.start,
        today=reader.today,
        language=language_of(sentence.text),
        todo=order.todo,
        before=before,
    )
    return [said] if said else []


def _candidate(found: Found, message: _Message, *, explicit: bool) -> Candidate | None:
    quote, start = _clean_quote(found, message)
    content = sensitive.blanked(found.content)
    if not quote or masking.COVER in content or sensitive.says_nothing_but_secrets(content):
        return None
    confidence = found.rule.confidence - (_HEDGED if found.hedged else 0)
    when = found.when
    return Candidate(
        kind=found.rule.kind,
        content=content,
        importance=_EXPLICIT_IMPORTANCE if explicit else found.rule.importance,
        confidence=_EXPLICIT_CONFIDENCE if explicit else round(confidence, 2),
        quote=quote,
        quote_start=start,
        quoted_role=message.role,
        data={"date": when.isoformat()} if when else {},
        occurred_at=_moment(found, message.said),
        explicit=explicit,
        corrects=found.corrects,
        language=found.language,
        reasons=_reasons(found, explicit=explicit),
    )


def _reasons(found: Found, *, explicit: bool) -> tuple[str, ...]:
    flags = (("explicit", explicit), ("hedged", found.hedged), ("corrects", found.corrects))
    return (found.rule.code, *(name for name, holds in flags if holds and name != found.rule.code))


def _moment(found: Found, said: Said) -> datetime | None:
    if found.when is None or found.rule.kind != "event":
        return None
    return datetime.combine(found.when, time(), tzinfo=said.spoken_at.tzinfo)


def _clean_quote(found: Found, message: _Message) -> tuple[str, int]:
    """The longest part of the found span without a secret or covered text."""
    best, at = "", found.start
    begin = found.start
    span = message.covered[found.start : found.end]
    for part in span.replace(masking.COVER, masking.SECRET).split(masking.SECRET):
        text = part.strip()
        if len(text) > len(best):
            best, at = text, begin + part.index(text)
        begin += len(part) + 1
    return best, at


def _from_assistant(
    turn: TurnText, message: _Message, reader: Reader, judge: Judge | None
) -> Iterator[Candidate]:
    """What the user only agreed to, or answered in a word."""
    said, before = message.said.text, turn.before_assistant
    if claim := accepted.accepted_claim(said, before):
        yield from _turned_round(
            claim, _Message.of(replace(turn.assistant, text=before), "assistant"), reader, judge
        )
    elif message.spans == () and (answer := accepted.answered(said, before)):
        yield from _turned_round(answer, message, reader, judge)
        reader.note(answer.text)


def _turned_round(
    turned: accepted.Turned, message: _Message, reader: Reader, judge: Judge | None
) -> Iterator[Candidate]:
    end = turned.start + len(turned.quote)
    if masking.SECRET in message.covered[turned.start : end]:
        return
    read = reader.read(Sentence(turned.text, 0, question=False))
    if turned.reason == "answer":  # our own words round a direct answer: nothing is left to judge
        read = [replace(one, rule=_ANSWERED) if one.is_open else one for one in read]
    for one in settled([Heard(found, turned.text) for found in read], judge):
        placed = replace(one.found, start=turned.start, end=end)
        if candidate := _candidate(placed, message, explicit=False):
            yield replace(
                candidate,
                confidence=round(candidate.confidence - _ACCEPTED, 2),
                reasons=(*candidate.reasons, turned.reason),
            )


def _without_repeats(candidates: list[Candidate], *, known: str) -> list[Candidate]:
    kept: dict[str, Candidate] = {}
    for candidate in candidates:
        fresh = candidate.explicit or not repeated.repeats(
            candidate.content, candidate.quote, known=known
        )
        if fresh:
            kept.setdefault(repeated.folded(candidate.content), candidate)
    return list(kept.values())[:_MOST]
