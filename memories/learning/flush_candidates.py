"""The second stage of a flush: arbitrate each candidate and add its line to today's note."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from zoneinfo import ZoneInfo

from conversations import selectors
from conversations.models import Turn
from memcenter.lib.database import statements
from memcenter.lib.database.statements import Sql
from memories.extraction.secret_masking import screen
from memories.files import daily_notes
from memories.indexing import search_index
from memories.learning import ingest, learnability, turn_context
from memories.learning.memory_flush import Proposed
from memories.models import Memory, Origin, Source
from memories.writing import direct_writes, verdicts
from memories.writing.memory_writes import Draft, SourceInput
from memories.writing.verdicts import Decided
from ops.accounts import users
from ops.models import User

SOURCE = "flush"  # as shown in the note's line


@dataclass(frozen=True)
class Ready:
    """A candidate without secrets, embedded; `draft` is None if the text was only a secret."""

    proposed: Proposed
    draft: Draft | None


@dataclass(frozen=True)
class Written:
    """The outcome of a candidate.

    `result` is created, updated, skipped (already known), refused (a secret) or gone (the candidate
    or its source was forgotten in the meantime). `line` is the new line in today's note, if any.
    """

    memory: str | None
    result: str
    line: str | None = None
    note: str | None = None


def prepare(proposed: Sequence[Proposed]) -> list[Ready]:
    """Screen and embed; call it outside any transaction. Raises `ProviderError`."""
    return [_prepared(one) for one in proposed]


def commit(ready: Sequence[Ready], *, user: User) -> list[Written]:
    """Arbitrate and write each candidate in the caller's transaction; a repeat changes nothing.

    Raises `Conflict` (`memory_off`, `being_forgotten`). The bundled arbiter decides; a model may
    revise the decision later.
    """
    direct_writes.check_on(user)
    written = [_written(one, user=user) for one in ready]
    read: dict[int, int] = {}
    for proposed in (one.proposed for one in ready):
        read[proposed.conversation] = max(read.get(proposed.conversation, 0), proposed.through)
    for conversation, through in read.items():
        mark(conversation, through=through, user=user)
    return written


def mark(conversation: int, *, through: int, user: User) -> None:
    """Record that the messages up to this number were read, so that they aren't read again."""
    statements.rows(
        "UPDATE conversations_conversation SET flushed_through = %s"
        " WHERE id = %s AND user_id = %s AND flushed_through < %s",
        [through, conversation, user.pk, through],
    )


def _prepared(proposed: Proposed) -> Ready:
    screened = screen(proposed.candidate.content.strip())
    if screened.drop:
        return Ready(proposed, None)
    candidate = replace(proposed.candidate, content=screened.text)
    vectors, pieces = search_index.embed_memory(screened.text)
    draft = ingest.draft_of(candidate, vectors, pieces, None)
    return Ready(replace(proposed, candidate=candidate), draft)


def _written(ready: Ready, *, user: User) -> Written:
    if ready.draft is None:
        learnability.note(screen(ready.proposed.candidate.content).refused, user_id=user.pk)
        return Written(None, "refused")
    turn = _turn(user, ready.proposed.turn) if ready.proposed.turn else None
    if ready.proposed.turn and turn is None:
        return Written(None, "gone")
    if not _may_learn(ready.proposed, user=user, turn=turn):
        return Written(None, "gone")
    if turn is not None and ingest.was_decided(user, turn, ready.proposed.candidate):
        return Written(_known(user, turn, ready.proposed.candidate.content), "skipped")
    decided = _decided(ready, ready.draft, user=user, turn=turn)
    if decided.result == "skipped":
        return Written(decided.memory.public_id, "skipped")
    return _noted(decided, ready.draft.content, user=user, turn=turn)


def _may_learn(proposed: Proposed, *, user: User, turn: Turn | None) -> bool:
    if turn is not None:
        return ingest.may_learn(user, turn, proposed.candidate)
    return learnability.may_learn(proposed.candidate, proposed.telling, user=user)


def _decided(ready: Ready, draft: Draft, *, user: User, turn: Turn | None) -> Decided:
    candidate = ready.proposed.candidate
    if turn is None:
        source = SourceInput(origin=Origin.AGENT, quote=candidate.quote, reference=SOURCE)
        draft = replace(draft, origin=Origin.AGENT)
    else:
        source = ingest.source_of(turn, candidate)
        draft = replace(draft, project=turn_context.project_of(turn))
    assert draft.vectors is not None
    confirms = users.settings_held(user).confirm_before_remembering
    return verdicts.at_once(
        candidate,
        draft,
        draft.vectors[0],
        user=user,
        source=source,
        turn=turn,
        always_review=confirms and not (turn and candidate.explicit),
    )


def _noted(decided: Decided, text: str, *, user: User, turn: Turn | None) -> Written:
    """Note the text exactly as it was heard, so that forgetting the memory erases the line too."""
    note = daily_notes.append(text, user=user, source=SOURCE).note
    source = Source.objects.filter(memory=decided.memory, turn=turn).order_by("-pk").first()
    if source is not None:
        source.reference = note.public_id
        source.save(update_fields=["reference"])
    line = daily_notes.line_of(note, zone=ZoneInfo(users.settings_of(user).timezone))
    return Written(decided.memory.public_id, decided.result, line, note.public_id)


def _turn(user: User, public_id: str) -> Turn | None:
    """Return the turn, locked until the transaction ends, if its messages still exist."""
    where = "t.public_id = %s AND q.hidden_at IS NULL AND a.hidden_at IS NULL"
    found = selectors.whole_turns(user, Sql(where, (public_id,)))
    return found[0] if found and ingest.still_there(user, found[0]) else None


def _known(user: User, turn: Turn, text: str) -> str | None:
    """Return the memory that was made from this exact candidate before."""
    made = Memory.objects.filter(user=user, arbitrations__turn=turn)
    found = made.filter(arbitrations__candidate_text=text).order_by("-pk").first()
    return found.public_id if found else None
