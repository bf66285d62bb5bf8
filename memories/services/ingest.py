"""Learning from a turn: extract, meet what is known, decide, apply."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any

from django.conf import settings
from django.utils import timezone

from conversations.models import Learning, Turn, Withheld
from memcenter.lib import statements
from memcenter.providers.base import Vectors
from memories.extraction.types import Candidate, Extraction, Known, TurnText
from memories.models import Memory, Origin, Project
from memories.services import (
    deciding,
    indexing,
    learnability,
    providers,
    refusals,
    similar,
    writing,
)
from memories.services.deciding import Decided, Meeting
from memories.services.listening import Heard
from memories.services.writing import Draft, SourceInput
from ops.access import as_user
from ops.models import User
from ops.services import users
from ops.services.worker import Run

ACCEPTED_CHARS = 200
# One that was forgotten meanwhile isn't marked; refusals of an attempt before are noted anew.
_MARK = """
WITH marked AS (
    UPDATE conversations_turn SET extracted_at = %s
     WHERE id = %s AND user_id = %s AND hidden_at IS NULL
    RETURNING id, user_message_id),
gone AS (DELETE FROM memories_refusal r USING marked WHERE r.turn_id = marked.id),
understood AS (
    UPDATE conversations_message m
       SET secrets = %s,
           withheld = CASE WHEN m.withheld = '' AND %s THEN %s ELSE m.withheld END
      FROM marked WHERE m.id = marked.user_message_id)
SELECT id FROM marked
"""


def extract(text: TurnText) -> Extraction:
    """Ask the extractor and leave out what isn't important enough. Raises `ProviderError`."""
    found = providers.extractor().extract(text)
    kept = tuple(
        one
        for one in found.candidates
        if one.explicit or one.importance >= settings.IMPORTANCE_FLOOR
    )
    return replace(found, candidates=kept)


def extract_from(heard: Heard) -> Extraction:
    """What the turn yields beyond what was learned from its question alone.

    A question that had no reply for long was learned from by itself (`unanswered`); only what the
    other one of two named people said is new then. Of one that isn't to be kept only "forget
    that" is heard, which points to what was said before it.
    """
    if not learnability.may_teach(heard.turn):
        return learnability.what_may_be_heard(extract(heard.text))
    if heard.turn.user_message.learning != Learning.DONE:
        return extract(heard.text)
    if not (heard.text.user.speaker and heard.text.assistant.speaker):
        return Extraction()
    found = extract(heard.text).candidates
    return Extraction(tuple(one for one in found if one.quoted_role == "assistant"))


def learn(run: Run, *, user: User, heard: Heard, extraction: Extraction) -> list[Decided]:
    """Decide on each candidate and apply it, one transaction each; the last marks the turn.

    Running it again after a kill leaves out what was decided before: the verdicts are logged in
    the transactions that applied them.
    """
    marked = partial(mark, user, heard.turn, extraction)
    if not extraction.candidates:
        with run.applying(user):
            marked()
        return []
    taught = [teach(one, turn=heard.turn, project=heard.project) for one in extraction.candidates]
    decided = [_learned(run, one, user=user) for one in taught[:-1]]
    decided.append(_learned(run, taught[-1], user=user, then=marked))
    return [one for one in decided if one is not None]


def learn_one(
    run: Run,
    candidate: Candidate,
    *,
    user: User,
    turn: Turn,
    project: Project | None,
    needs: Sequence[Turn] = (),
) -> Decided | None:
    """Decide on one candidate and apply it in a transaction of its own.

    What was put together from several turns `needs` the others as well: its text goes with any of
    them. None where it was decided before or forgotten, a turn is gone or memory is off.
    """
    return _learned(run, teach(candidate, turn=turn, project=project, needs=needs), user=user)


@dataclass(frozen=True)
class Taught:
    """A candidate on its way into memory, with the vectors of its text."""

    candidate: Candidate
    draft: Draft
    turn: Turn
    needs: Sequence[Turn] = ()


def teach(
    candidate: Candidate,
    *,
    turn: Turn,
    project: Project | None,
    needs: Sequence[Turn] = (),
    embedded: tuple[Vectors, list[str]] | None = None,
) -> Taught:
    """Embeds the text unless that was done; outside any transaction then."""
    vectors, pieces = embedded or indexing.embed_memory(candidate.content)
    draft = draft_of(candidate, vectors, pieces, project)
    return Taught(candidate, labelled(draft, turn.labels), turn, needs)


def _nothing() -> None:
    pass


def _learned(
    run: Run, taught: Taught, *, user: User, then: Callable[[], None] = _nothing
) -> Decided | None:
    """One transaction applies it and does `then`; what is far away is asked before it."""
    if providers.all_here():
        with run.applying(user):
            decided = decide_here(taught, user=user)
            then()
        return decided
    with as_user(user):
        known = _known(taught, user=user)
    meeting = _meet(taught, known)
    merged = deciding.merged_draft(meeting, taught.draft) if meeting else None
    with run.applying(user):
        decided = _applied(taught, meeting, user=user, merged=merged) if meeting else None
        then()
    return decided


def decide_here(taught: Taught, *, user: User) -> Decided | None:
    """Read, decide and apply in the transaction that is open: nothing of it is far away."""
    meeting = _meet(taught, _known(taught, user=user))
    if meeting is None:
        return None
    merged = deciding.merged_draft(meeting, taught.draft)
    return _applied(taught, meeting, user=user, merged=merged)


def _meet(taught: Taught, known: Sequence[Known] | None) -> Meeting | None:
    if known is None:
        return None
    return deciding.meet(taught.candidate, known=known, arbiter=providers.arbiter())


def _known(taught: Taught, *, user: User) -> list[Known] | None:
    """What it meets; None where it was decided before or forgotten."""
    turn, candidate = taught.turn, taught.candidate
    if not may_learn(user, turn, candidate, needs=taught.needs):
        return None
    if was_decided(user, turn, candidate):
        return None
    draft = taught.draft
    assert draft.vectors is not None
    return similar.similar_to(
        draft.vectors[0], user=user, content=draft.content, project=draft.project
    )


def _applied(
    taught: Taught, meeting: Meeting, *, user: User, merged: Draft | None
) -> Decided | None:
    turn, candidate = taught.turn, taught.candidate
    if not all(still_there(user, one) for one in (turn, *taught.needs)):
        return None
    own = users.settings_held(user)
    if not own.longterm_enabled:
        return None
    decided = deciding.apply(
        meeting,
        taught.draft,
        user=user,
        source=source_of(turn, candidate),
        turn=turn,
        always_review=own.confirm_before_remembering and not candidate.explicit,
        merged=merged,
    )
    if decided.result == "updated" and turn.labels:
        _label(decided.memory, taught.draft)
    if decided.result != "skipped":
        writing.join_sources(decided.memory, turn=turn, others=taught.needs)
    return decided


def mark(user: User, turn: Turn, extraction: Extraction) -> None:
    """All of this turn is learned; what was refused stands beside it.

    Its message keeps what the reader understood: where secrets stand, and that it isn't to be kept.
    """
    understood = [extraction.secret_places, extraction.withheld, Withheld.ASKED.value]
    if statements.rows(_MARK, [timezone.now(), turn.pk, user.pk, *understood]):
        refusals.note(extraction.refused, user_id=user.pk, turn=turn)


def may_learn(user: User, turn: Turn, candidate: Candidate, *, needs: Sequence[Turn] = ()) -> bool:
    """Whether these turns may teach this: see `learnability`."""
    telling = learnability.telling_of_turn(turn, candidate, needs=needs)
    teach = all(learnability.may_teach(one) for one in (turn, *needs))
    return teach and learnability.may_learn(candidate, telling, user=user)


def was_decided(user: User, turn: Turn, candidate: Candidate) -> bool:
    """Whether a run before decided on it already."""
    decided = statements.rows(
        "SELECT 1 FROM memories_arbitration"
        " WHERE user_id = %s AND turn_id = %s AND candidate_text = %s LIMIT 1",
        [user.pk, turn.pk, candidate.content],
    )
    return bool(decided)


def still_there(user: User, turn: Turn) -> bool:
    """Whether the turn is; locked until the transaction ends. Its messages' texts never change."""
    held = statements.rows(
        "SELECT 1 FROM conversations_turn"
        " WHERE id = %s AND user_id = %s AND hidden_at IS NULL FOR UPDATE",
        [turn.pk, user.pk],
    )
    return bool(held)


def draft_of(
    candidate: Candidate, vectors: Vectors, pieces: Sequence[str], project: Project | None
) -> Draft:
    return Draft(
        content=candidate.content,
        kind=candidate.kind,
        vectors=vectors,
        pieces=pieces,
        importance=min(1.0, max(0.0, candidate.importance)),
        confidence=min(1.0, max(0.0, candidate.confidence)),
        tags=candidate.tags,
        data=candidate.data,
        project=project,
        origin=Origin.EXTRACTED,
        occurred_at=candidate.occurred_at,
    )


def labelled(draft: Draft, labels: Mapping[str, Any]) -> Draft:
    """The draft with what the turn's labels give to all that is learned from it."""
    until, at = labels.get("valid_until"), labels.get("occurred_at")
    return replace(
        draft,
        occurred_at=draft.occurred_at or (datetime.fromisoformat(at) if at else None),
        agent_id=labels.get("agent_id", ""),
        app_id=labels.get("app_id", ""),
        run_id=labels.get("run_id", ""),
        metadata=labels.get("metadata", {}),
        valid_until=datetime.fromisoformat(until) if until else None,
    )


def _label(memory: Memory, draft: Draft) -> None:
    """A known memory that got another text keeps whose it is and takes on the rest."""
    for name in ("agent_id", "app_id", "run_id"):
        setattr(memory, name, getattr(memory, name) or getattr(draft, name))
    memory.metadata = {**memory.metadata, **draft.metadata}
    memory.valid_until = draft.valid_until or memory.valid_until
    memory.save(
        update_fields=["agent_id", "app_id", "run_id", "metadata", "valid_until", "updated_at"]
    )


def source_of(turn: Turn, candidate: Candidate) -> SourceInput:
    """The message of the turn that says it; a claim of the reply before, which the person
    accepted, rests on their accepting it.
    """
    message, quote, start = turn.user_message, candidate.quote, candidate.quote_start
    if candidate.quoted_role != "user":
        if candidate.quote in turn.assistant_message.content:
            message = turn.assistant_message
        else:
            quote, start = message.content[:ACCEPTED_CHARS], 0
    return SourceInput(
        origin=Origin.EXTRACTED, turn=turn, message=message, quote=quote, quote_start=start
    )
