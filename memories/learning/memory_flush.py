"""Memory flush: learn from messages that a client is about to drop from its context.

A flush has two stages. The first reads the messages and stores nothing: it returns candidates
(proposed memories), each with the message it was found in. A candidate's id is the signed candidate
itself, so nothing that could be forgotten is stored between the stages. The second stage compares
the accepted candidates with known memories and stores them.

Messages from which nothing may be learned are skipped (`learnability`). Messages that aren't
recorded here count as older than any request to forget, unless the caller gives their time.
"""

from __future__ import annotations

import zoneinfo
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

from django.db.models import Q
from django.utils import timezone

from conversations import selectors
from conversations.models import Conversation, Message, Role, Turn
from foundation.database import statements
from foundation.database.statements import Sql
from foundation.errors import Invalid
from foundation.text import shingles
from memories.extraction.masking import screen
from memories.extraction.types import Candidate, TurnText, Utterance
from memories.files import daily_notes
from memories.forgetting.tombstones import Provenance
from memories.indexing import search_index
from memories.learning import learnability, turn_context, turn_learning
from memories.learning.proposal_ids import SignedIds
from memories.learning.turn_context import RolePlays
from memories.learning.turn_learning import SourceText
from memories.models import Memory, Origin, Source
from memories.writing import direct_writes, memory_writes, verdict_writes
from memories.writing.memory_writes import Draft, SourceInput
from ops.access import as_user
from ops.accounts import users
from ops.models import User

_IDS = SignedIds("cand_", salt="memories.flush")
_AT_ONCE = 200  # maximum turns per flush; the next flush reads the rest
_NUMBERS = ("importance", "confidence")


@dataclass(frozen=True)
class CallerMessage:
    """A message that the caller is about to drop.

    `reference` is the id of the recorded message, or the caller's own id for the message; it is ""
    if only the text is known.
    """

    role: str
    content: str
    reference: str = ""
    at: datetime | None = None


@dataclass(frozen=True)
class ProposedCandidate:
    """A candidate, with its source: a recorded turn, or the caller's message at `index`.

    `through` is the number of the last message that was read in this flush, or 0 if the caller gave
    the messages. If the message isn't recorded, `said` is the keyed hash of its whole text, and
    `at` the time at which it was said, if known.
    """

    candidate: Candidate
    turn: str = ""
    message: str = ""
    index: int | None = None
    through: int = 0
    conversation: int = 0
    said: str = ""
    at: str = ""

    @property
    def provenance(self) -> Provenance:
        """Return where and when a message given by the caller was said.

        In the second stage, only the quoted part of the message is known.
        """
        at = datetime.fromisoformat(self.at) if self.at else None
        return Provenance(self.candidate.quote, self.said, at=at)

    def signed(self, user: User) -> str:
        """Return the candidate's id: the candidate itself, signed for this user."""
        one = self.candidate
        at = one.occurred_at.isoformat() if one.occurred_at else ""
        fields = {**vars(one), "occurred_at": at, "data": dict(one.data)}
        own = {name: value for name, value in vars(self).items() if name != "candidate"}
        return _IDS.make({"candidate": fields, **own}, user=user)


@dataclass(frozen=True)
class FlushResult:
    """The result of the first stage of a flush.

    `tokens` counts the tokens of messages that weren't flushed before; `through` is the number of
    the last message that was read, or 0 if the caller gave the messages.
    """

    proposed: Sequence[ProposedCandidate]
    tokens: int
    conversation: int
    through: int = 0


@dataclass(frozen=True)
class _Piece:
    """A turn to extract from, either recorded here or given by the caller.

    If the turn isn't recorded, `given` holds its question and reply, and `index` is the position of
    the question among the given messages.
    """

    text: TurnText
    turn: Turn | None = None
    given: tuple[CallerMessage, ...] = ()
    index: int = 0

    def provenance(self, candidate: Candidate) -> Provenance:
        if self.turn is not None:
            return learnability.provenance_of_turn(self.turn, candidate)
        message = self.given[0 if candidate.quoted_role == "user" else -1]
        return learnability.provenance_of_text(message.content, at=message.at)


def propose(
    *, user: User, conversation: Conversation, given: Sequence[CallerMessage] | None, least: int = 0
) -> FlushResult:
    """Return candidates from the given messages or, if `given` is None, from unflushed turns.

    At most `_AT_ONCE` unflushed turns are read, and none if their messages have fewer than `least`
    tokens. While long-term memory is off, no candidates are returned. Call this function outside a
    transaction. Raise `ProviderError` if a model call fails.
    """
    with as_user(user):
        own = users.settings_of(user)
        [(waiting,)] = statements.rows(
            "SELECT coalesce(sum(token_count), 0)::int FROM conversations_message"
            " WHERE user_id = %s AND conversation_id = %s AND number > %s AND completed"
            " AND hidden_at IS NULL",
            [user.pk, conversation.pk, conversation.flushed_through],
        )
        if not own.longterm_enabled or (given is None and waiting < least):
            return FlushResult((), waiting, conversation.pk)
        zone = zoneinfo.ZoneInfo(own.timezone)
        if given is None:
            pieces = _pieces_of_turns(_turns(user, conversation), zone=zone)
        else:
            pieces = _pieces_of_given(user, conversation, given, zone=zone)
    ends = [one.turn.assistant_message.number for one in pieces if one.turn]
    read = max(ends, default=0)
    through = read if given is None else 0
    found = list(_candidates(pieces))
    with as_user(user):
        proposed = [
            _proposed(one, piece, through=through, conversation=conversation)
            for one, piece in found
            if learnability.may_learn(one, piece.provenance(one), user=user)
        ]
    return FlushResult(proposed, waiting, conversation.pk, through)


def _candidates(pieces: Sequence[_Piece]) -> Iterator[tuple[Candidate, _Piece]]:
    role_play = RolePlays()
    for piece in pieces:
        extraction = turn_learning.extract(role_play.in_context(piece.text))
        role_play.note(piece.text.user, extraction.role_play)
        yield from ((one, piece) for one in extraction.candidates)


def decode_returned_candidates(candidates: Sequence[Any], *, user: User) -> list[ProposedCandidate]:
    """Verify and decode candidates that a caller sends back, as ids or as ids with edits.

    Raise `Invalid` if an id is invalid, is too old or belongs to another user, or if an edit is
    invalid.
    """
    return [_verify(one, place, user=user) for place, one in enumerate(candidates)]


def _verify(given: Any, place: int, *, user: User) -> ProposedCandidate:
    edits: Mapping[str, Any] = given if isinstance(given, dict) else {}
    id = edits.get("id") if edits else given
    fields = _IDS.verified(id, user=user, refusal=partial(_invalid, place))
    kept = fields.pop("candidate")
    at = kept.pop("occurred_at")
    candidate = Candidate(
        **{**kept, "tags": tuple(kept["tags"]), "reasons": tuple(kept["reasons"])},
        occurred_at=datetime.fromisoformat(at) if at else None,
    )
    changes = {name: edits[name] for name in ("content", "kind", *_NUMBERS) if name in edits}
    content = changes.get("content", candidate.content)
    if not isinstance(content, str) or not content.strip():
        raise _invalid(place, "The content must be a text.")
    for name in _NUMBERS:
        value = changes.get(name, 0)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            raise _invalid(place, f"{name} must lie between 0 and 1.")
    if "kind" in changes:
        changes["kind"] = memory_writes.check_kind(str(changes["kind"]))
    return ProposedCandidate(replace(candidate, **changes), **fields)


def _invalid(place: int, message: str) -> Invalid:
    return Invalid.field("candidates", f"{place}: {message}")


def _proposed(
    candidate: Candidate, piece: _Piece, *, through: int, conversation: Conversation
) -> ProposedCandidate:
    own = candidate.quoted_role == "user"
    if piece.turn is None:
        provenance = piece.provenance(candidate)
        return ProposedCandidate(
            candidate,
            index=piece.index if own else piece.index + 1,
            said=provenance.said,
            at=provenance.at.isoformat() if provenance.at else "",
        )
    message = piece.turn.user_message if own else piece.turn.assistant_message
    return ProposedCandidate(
        candidate,
        turn=piece.turn.public_id,
        message=message.public_id,
        through=through,
        conversation=conversation.pk,
    )


def _turns(user: User, conversation: Conversation) -> list[Turn]:
    return learnability.teaching_turns(
        user,
        Sql(
            "t.conversation_id = %s AND a.number > %s AND q.hidden_at IS NULL"
            " AND a.hidden_at IS NULL ORDER BY a.number LIMIT %s",
            (conversation.pk, conversation.flushed_through, _AT_ONCE),
        ),
    )


def _pieces_of_turns(turns: Sequence[Turn], *, zone: zoneinfo.ZoneInfo) -> list[_Piece]:
    texts = turn_context.texts_in_order(turns, zone=zone)
    return [_Piece(text, turn) for text, turn in zip(texts, turns, strict=True)]


def _pieces_of_given(
    user: User,
    conversation: Conversation,
    given: Sequence[CallerMessage],
    *,
    zone: zoneinfo.ZoneInfo,
) -> list[_Piece]:
    ids = [one.reference for one in given if one.reference]
    turns = selectors.whole_turns(
        user,
        Sql(
            "t.conversation_id = %s AND q.hidden_at IS NULL AND a.hidden_at IS NULL"
            " AND (q.public_id = ANY(%s) OR a.public_id = ANY(%s)"
            " OR q.external_id = ANY(%s) OR a.external_id = ANY(%s)) ORDER BY a.number",
            (conversation.pk, ids, ids, ids, ids),
        ),
    )
    known = {
        reference
        for turn in turns
        for one in (turn.user_message, turn.assistant_message)
        for reference in (one.public_id, one.external_id)
    }
    rest = [(n, one) for n, one in enumerate(given) if one.reference not in known]
    own = Message.objects.filter(user=user, conversation=conversation)
    apart = learnability.withheld_among(own).values_list("role", "content")
    texts = {(role, shingles.normalise(content)) for role, content in apart}
    references = [one.reference for _, one in rest if one.reference]
    there: dict[str | None, Message] = {}
    for message in own.filter(Q(public_id__in=references) | Q(external_id__in=references)):
        there |= {message.public_id: message, message.external_id: message}

    def is_read(one: CallerMessage) -> bool:
        if (message := there.get(one.reference)) and learnability.is_withheld(message):
            return False
        if learnability.asks_not_to_keep(one.content, role=one.role):
            return False
        return (one.role, shingles.normalise(one.content)) not in texts

    rest = [
        (place, replace(one, at=learnability.time_for_forgets(found)) if found else one)
        for place, one in rest
        if is_read(one)
        for found in [there.get(one.reference) if one.reference else None]
    ]
    teaching = [one for one in turns if learnability.may_teach(one)]
    return [*_pieces_of_turns(teaching, zone=zone), *_pieces_of_unrecorded(user, rest, zone=zone)]


def _pieces_of_unrecorded(
    user: User, rest: Sequence[tuple[int, CallerMessage]], *, zone: zoneinfo.ZoneInfo
) -> list[_Piece]:
    now, block = timezone.now().astimezone(zone), turn_context.recent_block_texts(user.pk)
    said = [
        Utterance(
            turn_context.without_our_block(one.content), one.at.astimezone(zone) if one.at else now
        )
        for _, one in rest
    ]
    pieces: list[_Piece] = []
    before: list[Utterance] = []
    for n, (place, one) in enumerate(rest):
        if one.role != Role.USER:
            continue
        answers = [other for _, other in rest[n + 1 : n + 2] if other.role != one.role]
        earlier = said[n - 1].text if n and rest[n - 1][1].role == Role.ASSISTANT else ""
        reply = said[n + 1] if answers else Utterance("", now)
        turn = TurnText(said[n], reply, before_assistant=earlier, known_block=block)
        turn = turn.following(before)
        pieces.append(_Piece(turn, given=(one, *answers), index=place))
        before.append(said[n])
    return pieces


SOURCE = "flush"  # shown as the source of a line in the daily note


@dataclass(frozen=True)
class ReadyCandidate:
    """A candidate with secrets masked and its text embedded.

    `draft` is None if the text was only a secret.
    """

    proposed: ProposedCandidate
    draft: Draft | None


@dataclass(frozen=True)
class WrittenCandidate:
    """The result for a candidate in the second stage.

    `result` is created, updated, skipped (already known), refused (a secret) or gone (the candidate
    or its source was forgotten in the meantime). If a line was added to today's note, `line` is its
    text and `note` its id.
    """

    memory: str | None
    result: str
    line: str | None = None
    note: str | None = None


def prepare_candidates(proposed: Sequence[ProposedCandidate]) -> list[ReadyCandidate]:
    """Mask secrets in the candidates and embed their texts.

    Call this function outside a transaction. Raise `ProviderError` if embedding fails.
    """
    return [_prepared(one) for one in proposed]


def commit_candidates(ready: Sequence[ReadyCandidate], *, user: User) -> list[WrittenCandidate]:
    """Compare each candidate with known memories and store it, in the caller's transaction.

    Safe to repeat. The bundled arbiter decides; a chat model may revise the decision later. Raise
    `Conflict` while memory is off (`memory_off`) or the user is being forgotten
    (`being_forgotten`).
    """
    direct_writes.check_on(user)
    written = [_write(one, user=user) for one in ready]
    read: dict[int, int] = {}
    for proposed in (one.proposed for one in ready):
        read[proposed.conversation] = max(read.get(proposed.conversation, 0), proposed.through)
    for conversation, through in read.items():
        mark_as_read(conversation, through=through, user=user)
    return written


def mark_as_read(conversation: int, *, through: int, user: User) -> None:
    """Record that a flush has read the messages up to this number."""
    statements.rows(
        "UPDATE conversations_conversation SET flushed_through = %s"
        " WHERE id = %s AND user_id = %s AND flushed_through < %s",
        [through, conversation, user.pk, through],
    )


def _prepared(proposed: ProposedCandidate) -> ReadyCandidate:
    screened = screen(proposed.candidate.content.strip())
    if screened.drop:
        return ReadyCandidate(proposed, None)
    candidate = replace(proposed.candidate, content=screened.text)
    vectors, pieces = search_index.embed_memory(screened.text)
    draft = turn_learning.draft_of(candidate, vectors, pieces, None)
    return ReadyCandidate(replace(proposed, candidate=candidate), draft)


def _write(ready: ReadyCandidate, *, user: User) -> WrittenCandidate:
    candidate, draft = ready.proposed.candidate, ready.draft
    if draft is None:
        memory_writes.record_refusals(screen(candidate.content).refused, user_id=user.pk)
        return WrittenCandidate(None, "refused")
    text = _text_of(ready.proposed, user=user)
    source = text.hold(candidate) if text else None
    if text is None or source is None or not text.may_teach(candidate):
        return WrittenCandidate(None, "gone")
    if text.turn is not None and text.was_decided(candidate):
        made = Memory.objects.filter(user=user, arbitrations__turn=text.turn)
        found = made.filter(arbitrations__candidate_text=candidate.content).order_by("-pk").first()
        return WrittenCandidate(found.public_id if found else None, "skipped")
    assert draft.vectors is not None
    decided = verdict_writes.decide_and_apply(
        candidate,
        replace(draft, origin=source.origin, project=text.project),
        draft.vectors[0],
        user=user,
        source=source,
        turn=text.turn,
        always_review=text.needs_review(candidate, users.settings_held(user)),
    )
    if decided.result == "skipped":
        return WrittenCandidate(decided.memory.public_id, "skipped")
    # Append the memory's text to today's note, and link the line to the memory's source. The text
    # is appended unchanged, so that forgetting the memory erases the line too.
    note = daily_notes.append(draft.content, user=user, source=SOURCE).note
    cited = Source.objects.filter(memory=decided.memory, turn=text.turn).order_by("-pk").first()
    if cited is not None:
        cited.reference = note.public_id
        cited.save(update_fields=["reference"])
    line = daily_notes.line_of(note, zone=ZoneInfo(users.settings_of(user).timezone))
    return WrittenCandidate(decided.memory.public_id, decided.result, line, note.public_id)


def _text_of(proposed: ProposedCandidate, *, user: User) -> SourceText | None:
    """Return the candidate's source text, or None if its turn no longer exists."""
    if proposed.turn:
        where = "t.public_id = %s AND q.hidden_at IS NULL AND a.hidden_at IS NULL"
        found = selectors.whole_turns(user, Sql(where, (proposed.turn,)))
        if not found:
            return None
        project = turn_context.project_of(found[0])
        return turn_learning.text_of_turn(found[0], user=user, project=project)

    def source(candidate: Candidate) -> SourceInput:
        return SourceInput(origin=Origin.AGENT, quote=candidate.quote, reference=SOURCE)

    provenance = proposed.provenance
    undecided = Q(pk__in=())
    return SourceText(user, lambda candidate: provenance, undecided, source, confirms_all=True)
