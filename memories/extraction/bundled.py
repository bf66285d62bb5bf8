"""The bundled extractor: it makes candidates from the statements that the reader model finds.

A message is analysed together with up to three earlier messages and the message that it answers. A
statement worth keeping becomes a candidate in the person's own words (`own_words`). Secrets, code
and quoted lines are left out. Candidates that only repeat memories from the prompt are dropped.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, Protocol

from memories.extraction import masking
from memories.extraction.arbitration.pairs import CONFLICTS, PairReader, Thresholds
from memories.extraction.corrections.cancellations import (
    cancellations,
    endings,
    extended_to_sentence,
    retracted_at_once,
    retraction_sentences,
    retractions,
)
from memories.extraction.corrections.contrasts import renaming
from memories.extraction.corrections.corrected_candidates import corrected_candidates
from memories.extraction.corrections.corrected_messages import (
    Correction,
    bare_corrections,
    correction,
    without_old_value,
)
from memories.extraction.corrections.corrected_statements import (
    COMPARED,
    ComparedPair,
    EarlierChanges,
    find_earlier_changes,
    similarities,
    starts_of_new_value,
    with_changes,
)
from memories.extraction.corrections.new_values import new_amount
from memories.extraction.corrections.self_repairs import repaired_text, self_repairs
from memories.extraction.corrections.values import PATTERNS
from memories.extraction.message_reading import statement_labels as labels
from memories.extraction.message_reading.explicit_candidates import (
    EXPLICIT_CONFIDENCE,
    EXPLICIT_IMPORTANCE,
    accepted_claims,
    mention_wish_candidate,
    ordered_candidates,
    with_speaker,
)
from memories.extraction.message_reading.foreign_texts import alone_if_foreign, without_foreign_text
from memories.extraction.message_reading.heard_message import (
    FLAG,
    NOT_OWN,
    HeardMessage,
    ReadParts,
    ReferentFinder,
    forget_requests,
    is_in_a_role,
    is_not_to_keep,
    is_of_client,
    orders_of,
    overrules_in_words,
    quotation,
    role_play_of,
    spans_outside_real_life,
)
from memories.extraction.message_reading.statement_checks import check_statements, own_statements
from memories.extraction.requests import answer_wishes
from memories.extraction.requests.commands import (
    asks_not_to_mention,
    mention_wish,
    without_openers,
)
from memories.extraction.types import (
    DOUBTFUL,
    Candidate,
    Extraction,
    ForgetRequest,
    TurnText,
    Utterance,
)
from memories.extraction.wording.languages import language_of, tag_of
from memories.extraction.wording.own_words import data_of, own_words
from memories.extraction.wording.people import lacks_name
from memories.reader import Reading, Statement
from memories.reader.pair_layers import PairComparison
from memories.screening import learned_secrets as screened

_MOST = 40  # most candidates per message; the others are dropped
_LETTER = re.compile(r"[^\W_]")
# Flags for requests, which count only if the message makes them, not one of its context messages.
_ORDERS = ("remember", "dont_keep_this", "dont_keep_topic")


class MessageReader(PairReader, ReferentFinder, Protocol):
    """The methods of `memories.reader.Reader` that the extractor needs."""

    def read(self, text: str, *, before: Sequence[str] = (), assistant: str = "") -> Reading: ...

    def unread(self, text: str) -> tuple[int, int]: ...

    def compare(self, known: str, message: str) -> PairComparison: ...


@dataclass(frozen=True)
class Marks:
    """The tags and data that the reader model finds in a text submitted as a memory."""

    tags: tuple[str, ...] = ()
    data: Mapping[str, Any] = field(default_factory=dict)
    says_how_to_answer: bool = False


class BundledExtractor:
    """Extract statements with the reader model; uncertain statements wait for review."""

    name = "bundled"

    def __init__(
        self, reader: MessageReader, *, embedder: answer_wishes.TextEmbedder | None = None
    ) -> None:
        self._reader, self._embedder = reader, embedder

    def extract(self, turn: TurnText) -> Extraction:
        """Extract candidates, secrets and requests from the user's message.

        If both speakers have names, also extract candidates from the reply. Secrets are found in
        the whole message, everything else in the part that the reader model reads.
        """
        unread = self._reader.unread(turn.user.text)
        if not any(unread):
            return self._repaired(turn)
        parts = ReadParts.of(turn.user.text, unread, screened.find(turn.user.text))
        return parts.in_message(
            self._extract(replace(turn, user=replace(turn.user, text=parts.text)))
        )

    def _repaired(self, turn: TurnText) -> Extraction:
        """Extract from a message after repairing the slips that it corrects itself.

        For example, "I live in York, no wait, Leeds" is read as "I live in Leeds". A message with
        secrets isn't repaired.
        """
        repairs = self_repairs(turn.user.text, self.conflict)
        if repairs and screened.find(turn.user.text):
            repairs = []
        user = replace(turn.user, text=repaired_text(turn.user.text, repairs))
        before = [
            replace(one, text=repaired_text(one.text, self_repairs(one.text, self.conflict)))
            for one in turn.before
        ]
        found = self._extract(replace(turn, user=user, before=before))
        for repair in reversed(repairs):
            found = repair.in_message(found)
        return found

    def _extract(self, turn: TurnText) -> Extraction:
        message = self._heard(turn.user, "user", turn)
        forget = tuple(forget_requests(message))
        not_to_keep = is_not_to_keep(message)
        corrected, said, changes = (
            ([], None, EarlierChanges()) if not_to_keep else self._corrected(turn, message)
        )
        handled = [*bare_corrections(turn.user.text), *([(said.start, said.end)] if said else [])]
        off = cancellations(turn.user.text)
        ended = [] if not_to_keep else list(endings(off, turn.user.text, *self._earlier(turn)))
        handled += [(start, end) for start, end, what in off if ended or not what]
        own = own_statements(message, handled=handled)
        restating = starts_of_new_value(
            changes.corrected, message.covered, own, self.conflict, self._reader.compare
        )
        found = [] if not_to_keep else [*corrected, *_candidates(message, own, restating)]
        changes = replace(changes, ended=()) if ended else changes
        found = with_changes(found, changes, self.conflict, self._reader.compare)
        if not (not_to_keep or found or ended):
            ended = self._taken_back(turn, message)
            forget = forget or (() if ended else self._retracted(message))
        candidates = [*ended, *(extended_to_sentence(one, off, turn.user.text) for one in found)]
        may_end = not (not_to_keep or ended or forget)
        forget = () if ended else forget
        if forget:  # what a request to forget mentions isn't a new statement
            candidates = [one for one in candidates if one.confidence > DOUBTFUL]
        if turn.user.speaker and turn.assistant.speaker:
            other = self._heard(turn.assistant, "assistant", replace(turn, before=()))
            candidates += _candidates(other, own_statements(other))
        kept = masking.without_repeats(candidates, block=turn.known_block, most=_MOST)
        redacted = any(masking.is_redacted(candidate.content) for candidate in kept)
        if kept:  # "scrap that, we moved to York" may only be a correction, so ask first
            forget = tuple(replace(request, in_words=False) for request in forget)
        return Extraction(
            tuple(kept),
            masking.refusals(message.spans, kept=redacted),
            forget,
            secrets=tuple((span.start, span.end) for span in message.spans),
            not_to_keep=not_to_keep,
            outside_real_life=tuple(spans_outside_real_life(message)),
            role_play=role_play_of(message, is_on=turn.in_role_play),
            endings=tuple(_endings(message, own)) if may_end else (),
        )

    def kind_of(self, text: str) -> str:
        """Return the kind that all statements in a text have in common, or an empty string."""
        kinds = {statement.best("kind") for statement in self._reader.read(text).statements}
        return kinds.pop() if len(kinds) == 1 else ""

    def marks_of(
        self,
        text: str,
        *,
        spoken_at: datetime,
        kind: str = "",
        vector: answer_wishes.Floats | None = None,
    ) -> Marks:
        """Return the marks of a text, or empty marks if it is longer than 300 characters.

        `kind` is the kind of the memory, and `vector` is the embedder's vector of the text, if they
        are known. They are used only for `says_how_to_answer`.
        """
        if len(text) > answer_wishes.LONGEST:
            return Marks()
        found = self._reader.read(text).statements
        longest = max(found, key=lambda statement: statement.end - statement.start, default=None)
        language = language_of(text)
        topic = longest.sure("topic", FLAG) if longest else ""
        return Marks(
            tags=(tag_of(topic, language=language),) if topic else (),
            data=data_of(text, spoken_at=spoken_at, language=language),
            says_how_to_answer=answer_wishes.is_wish(
                text, found, embedder=self._embedder, kind=kind, vector=vector
            ),
        )

    def says_how_to_answer(self, text: str, *, kind: str = "") -> bool:
        """Return whether a short text is a wish about answers (language, length, tone, units)."""
        return self.marks_of(text, spoken_at=datetime.now(UTC), kind=kind).says_how_to_answer

    def _corrected(
        self, turn: TurnText, message: HeardMessage
    ) -> tuple[list[Candidate], Correction | None, EarlierChanges]:
        """Return the candidates that correct an earlier message, and their correction.

        The third result holds the earlier statements that the message overrules or ends.
        """
        likely = message.reading.puts_right >= COMPARED
        likely = likely and not is_in_a_role(message) and not any(map(message.flag, NOT_OWN))
        earlier, again = self._earlier(turn, far=True)
        changes = EarlierChanges()
        if likely:
            changes = find_earlier_changes(
                message.covered,
                [one.text for one in earlier],
                again,
                self._reader.compare,
                self.conflict,
                partial(similarities, embedder=self._embedder),
            )
        pair = changes.corrected
        near = [one.text for one in earlier[: len(turn.before)]]
        found = correction(turn.user.text, near) or new_amount(turn.user.text, near)
        if pair and (not found or found.place != pair.place):
            found = None if self._restates_new_value(message, pair) else changes.correction
        candidates = self._with_correction(turn, earlier, found) if found else []
        if candidates:
            return candidates, found, EarlierChanges(ended=changes.ended if pair else ())
        return [], None, changes

    def _restates_new_value(self, message: HeardMessage, pair: ComparedPair) -> bool:
        """Return whether the correcting words contain a complete statement of the new value.

        Such a statement is worth keeping, conflicts with the earlier statement and shares a word
        with it other than the wrong ones, so no further correction is needed.
        """
        said = (
            message.covered[statement.start : statement.end]
            for statement in message.reading.statements
            if pair.includes(statement.start) and statement.share("keep", "yes") >= labels.KEEP
        )
        conflicts = (self.conflict(pair.known.content, one) for one in said if pair.keeps_word(one))
        return any(share >= Thresholds.newer for share in conflicts)

    def _with_correction(
        self, turn: TurnText, earlier: Sequence[Utterance], found: Correction
    ) -> list[Candidate]:
        """Return the candidates that the earlier message gains by being corrected."""
        wrong, right = (
            self._candidates_of_earlier(earlier, found.place, text)
            for text in (earlier[found.place].text, found.text)
        )
        return corrected_candidates(found, turn.user.text, wrong, right, self.conflict)

    def _candidates_of_earlier(
        self, earlier: Sequence[Utterance], place: int, text: str
    ) -> list[Candidate]:
        """Return the candidates of the message `earlier[place]` as if it had this text.

        `earlier` holds the messages latest first.
        """
        said = replace(earlier[place], text=text)
        turn = TurnText(said, Utterance("", said.spoken_at), tuple(reversed(earlier[place + 1 :])))
        message = self._heard(said, "user", turn)
        return list(_candidates(message, own_statements(message)))

    def _earlier(
        self, turn: TurnText, *, far: bool = False
    ) -> tuple[list[Utterance], Callable[[int], list[Candidate]]]:
        """Return the earlier messages, latest first: those of the context, or all if `far` is set.

        The second result is a function that returns the candidates of the message at an index.
        """
        earlier = [*reversed(turn.before), *(reversed(turn.older) if far else ())]
        return earlier, lambda place: self._candidates_of_earlier(
            earlier, place, earlier[place].text
        )

    def _taken_back(self, turn: TurnText, message: HeardMessage) -> list[Candidate]:
        """Return the candidates that end earlier statements which the message calls wrong."""
        if any(map(message.flag, NOT_OWN)) or not (back := retraction_sentences(turn.user.text)):
            return []

        def probability_of_reference(old: str, new: str) -> float:
            meant = self._reader.probability_request_means(new, old)
            return max(self.conflict(old, new), meant)

        return list(retractions(back, *self._earlier(turn), probability_of_reference))

    def _retracted(self, message: HeardMessage) -> tuple[ForgetRequest, ...]:
        """Return requests to forget statements in other conversations that a message calls wrong.

        The person must confirm what is forgotten.
        """
        if any(map(message.flag, NOT_OWN)):
            return ()
        covered = masking.mark_covered_secrets(message.covered)
        sentences = [sentence for _, _, sentence in retraction_sentences(covered)]
        said = [one for one in sentences if PATTERNS["own_statement"].search(one)]
        return tuple(ForgetRequest(one, one, in_words=False) for one in said)

    def conflict(self, old: str, new: str) -> float:
        """Return the reader model's probability that an old and a new statement conflict."""
        (shares,) = self._reader.relations([(old, new)])
        return sum(shares[name] for name in CONFLICTS)

    def asks_not_to_keep_topic(self, text: str) -> bool:
        """Return whether a message asks not to store anything on a topic, now or later.

        A request not to mention something doesn't count.
        """
        asks = self._reader.read(text).flags["dont_keep_topic"] >= FLAG
        return asks and not asks_not_to_mention(text)

    def is_about_people(self, text: str) -> bool:
        """Return whether any statement in a text is about somebody other than the speaker."""
        return any(
            statement.best("topic") in ("family", "people") or statement.best("whose") != "self"
            for statement in self._reader.read(text).statements
        )

    def _heard(self, said: Utterance, role: str, turn: TurnText) -> HeardMessage:
        # An earlier message with the same text is left out, since it adds no context.
        earlier = (one.text for one in reversed(turn.before))
        before = tuple(text for text in earlier if text.strip() != said.text.strip())[:3]
        answers = turn.before_assistant if role == "user" else turn.user.text
        read = partial(self._reader.read, before=before, assistant=answers)
        opened = without_openers(said.text)
        reading = read(opened)
        if role == "user" and (before or answers):
            reading = alone_if_foreign(reading, opened, self._reader.read)
        reading = replace(reading, statements=check_statements(reading.statements, opened))
        asked = [name for name in _ORDERS if reading.flags[name] >= FLAG]
        if asked and (before or answers):
            # "Don't keep this" in an earlier message or reply must not affect this message.
            alone = self._reader.read(opened)
            flags = {name: min(reading.flags[name], alone.flags[name]) for name in asked}
            if min(flags.values()) < FLAG:
                reading = replace(reading, statements=check_statements(alone.statements, opened))
            reading = replace(reading, flags={**reading.flags, **flags})
        if role == "user":
            reading = without_foreign_text(reading, opened, self._reader.read)
        spans = screened.of_reading(said.text, reading, read)
        covered = masking.cover_foreign(masking.cover_spans(said.text, spans))
        return HeardMessage(said, role, before, answers, reading, spans, covered, self._reader)


def _candidates(
    message: HeardMessage, own: Sequence[Statement], restating: Collection[int] = ()
) -> Iterator[Candidate]:
    """Yield the candidates in a message; `own` is the result of `own_statements`.

    The statements that begin at `restating` give the new value of an earlier one.
    """
    asked = message.flag("remember")
    if is_in_a_role(message):
        return
    wish = mention_wish(message.covered) if message.role == "user" else None
    back, perhaps = retracted_at_once(message.covered, [(one.start, one.end) for one in own])
    instead = {*back.values()}
    found = [
        statement
        for statement in own
        if labels.may_be_kept(
            statement,
            asked=asked
            or statement.start in instead
            or statement.start in restating
            or labels.has_phone(statement, message.covered),
        )
        and not (wish and statement.start < wish[1] and wish[0] < statement.end)
        and statement.start not in back
    ]
    if wish:
        yield mention_wish_candidate(message, *wish)
    if asked and not found:
        yield from ordered_candidates(message)
    if not found:
        yield from accepted_claims(message)
    for statement in found:
        if candidate := _candidate(statement, message, explicit=asked):
            if statement.start in restating and not labels.is_of_unsure_owner(statement):
                candidate = replace(candidate, confidence=max(candidate.confidence, labels.KEEP))
            if statement.start in perhaps:
                doubt = min(candidate.confidence, DOUBTFUL)
                candidate = replace(candidate, confidence=doubt)
            yield candidate


def _endings(message: HeardMessage, own: Sequence[Statement]) -> Iterator[Candidate]:
    """Yield candidates for the statements that aren't worth keeping but may end a known memory."""
    if is_in_a_role(message) or message.flag("remember") or any(map(message.flag, NOT_OWN)):
        return
    for statement in own:
        words = message.covered[statement.start : statement.end].strip()
        if not labels.may_end(statement, words):
            continue
        if candidate := _candidate(statement, message, explicit=False):
            yield replace(candidate, confidence=labels.ENDS, only_ends=True)


def _candidate(statement: Statement, message: HeardMessage, *, explicit: bool) -> Candidate | None:
    others = [(s.start, s.end) for s in message.reading.statements if s != statement]
    language = message.language
    begin = statement.start
    if explicit:  # skip a "remember that" at the beginning
        starts = [order.start for order in orders_of(message, "remember")]
        begin = max([begin, *(at for at in starts if begin < at < statement.end)])
    unsure = not explicit and labels.is_of_unsure_owner(statement)
    own = own_words(
        message.covered,
        begin,
        statement.end,
        others=others,
        before=tuple(reversed(message.before)),
        assistant=message.answers,
        spoken_at=message.said.spoken_at,
        language=language,
        whose="others" if unsure else statement.best("whose"),
        holds=statement.best("holds"),
        referents=message.referents,
    )
    content = masking.mark_covered_secrets(own.text)
    quote, start = quotation(message, begin, statement.end)
    if not quote or masking.COVER in content or masking.says_nothing_but_secrets(content):
        return None
    change = labels.change(statement)
    name = renaming(content)
    corrects = bool(change or name) or overrules_in_words(statement, message)
    without, old = without_old_value(content) if corrects else (content, "")
    content = without if name or change == "corrects" else content
    old = name.wrong if name else old
    if not _LETTER.search(content):
        return None
    doubted = unsure or is_of_client(statement, content) or lacks_name(content, language)
    kind = labels.kind_of(statement, message.covered[begin : statement.end])
    topic = statement.sure("topic", FLAG)  # a wrong tag is worse than no tag
    return Candidate(
        kind=kind,
        content=with_speaker(content, message.said.speaker),
        importance=EXPLICIT_IMPORTANCE if explicit else labels.importance(statement, kind),
        confidence=EXPLICIT_CONFIDENCE
        if explicit
        else labels.confidence(statement, unsure=doubted),
        quote=quote,
        quote_start=start,
        quoted_role=message.role,
        tags=(tag_of(topic, language=language),) if topic else (),
        data=own.data,
        occurred_at=message.said.start_of(own.occurred) if kind == "event" else None,
        explicit=explicit,
        corrects=corrects,
        old_value=old,
        reasons=labels.reasons(statement, explicit=explicit, unsure=unsure),
    )
