"""Learn from a turn: extract statements (candidates), compare them with memories, store them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any

from django.conf import settings
from django.utils import timezone

from conversations.models import Episode, Learning, Turn, Withheld
from memcenter.lib.database import cascades, statements
from memcenter.providers.base import Vectors
from memories import language_steps
from memories.extraction.types import Candidate, Extraction, Known, TurnText
from memories.extraction.wording.languages import ANSWERS
from memories.indexing import search_index
from memories.learning import learnability
from memories.learning.turn_context import Heard
from memories.models import Memory, Origin, Project, TargetKind
from memories.recall import searchable_texts, traces
from memories.writing import memory_writes, similar_memories, verdicts
from memories.writing.memory_writes import Draft, SourceInput
from memories.writing.verdicts import Decided, Meeting
from ops.access import as_user
from ops.accounts import users
from ops.models import User
from ops.queue.run import Run

ACCEPTED_CHARS = 200
_ONE_BREATH = 12  # maximum characters between two statements that belong together
# A turn that was forgotten in the meantime isn't marked. The refused secrets that an earlier
# attempt recorded are replaced.
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
    """Run the extractor, and drop candidates that are unimportant or must not be kept.

    Raise `ProviderError` if a model call fails.
    """
    found = language_steps.extractor().extract(text)
    kept = tuple(one for one in found.candidates if is_important(one))
    return learnability.without_topics(replace(found, candidates=kept), text.not_to_keep)


def is_important(candidate: Candidate) -> bool:
    return candidate.explicit or candidate.importance >= settings.IMPORTANCE_FLOOR


def only_forgets(text: TurnText) -> Extraction:
    """Extract only the requests to forget, for a text that nothing may be learned from.

    No chat model is called.
    """
    found = language_steps.bundled_extractor().extract(text)
    return Extraction(forget=found.forget, secrets=found.secrets)


def extract_from(heard: Heard) -> Extraction:
    """Extract candidates and requests to forget from a turn.

    If `heard.learns` is False, only requests to forget are extracted, and no chat model is called.
    If the turn must not be kept, only requests such as "forget that" are extracted, since they
    refer to earlier messages.
    If the reply came late, memories were already learned from the question alone; then only
    statements by the assistant are extracted, and only if both speakers are named.
    """
    if not heard.learns:
        return only_forgets(heard.text)
    if not learnability.may_teach(heard.turn):
        return learnability.what_may_be_heard(extract(heard.text))
    if heard.turn.user_message.learning != Learning.DONE:
        return extract(heard.text)
    if not (heard.text.user.speaker and heard.text.assistant.speaker):
        return Extraction()
    candidates = extract(heard.text).candidates
    return Extraction(tuple(one for one in candidates if one.quoted_role == "assistant"))


def learn(run: Run, *, user: User, heard: Heard, extraction: Extraction) -> list[Decided]:
    """Decide on each candidate and apply it in its own transaction, then mark the turn.

    The turn is marked in the transaction of the last candidate. If the process was killed, a
    repeated run skips the candidates that are already decided: verdicts are logged in the
    transactions that apply them.
    """
    marked = partial(mark, user, heard.turn, extraction)
    if not extraction.candidates:
        with run.applying(user):
            marked()
        return []
    taught = [teach(one, turn=heard.turn, project=heard.project) for one in extraction.candidates]
    decided = [_learn_candidate(run, one, user=user) for one in taught[:-1]]
    decided.append(_learn_candidate(run, taught[-1], user=user, then=marked))
    found = [one for one in decided if one is not None]
    if len(found) > 1:
        with run.applying(user):
            share_earlier_texts(extraction.candidates, decided, user=user)
    return found


def share_earlier_texts(
    candidates: Sequence[Candidate], decided: Sequence[Decided | None], *, user: User
) -> None:
    """Make the memories of one turn findable by each other's earlier texts.

    For example, "I quit Acme and joined Initech" becomes two memories, and a search for Acme should
    find both. Candidates that only repeated a known memory are left out.
    """
    new = [
        (candidate, one.memory.pk)
        for candidate, one in zip(candidates, decided, strict=True)
        if one is not None and one.result != "skipped"
    ]
    pks = [pk for _, pk in new]
    still = Memory.objects.filter(user=user, pk__in=pks).order_by("pk") if len(pks) > 1 else ()
    successors = {
        (ended, pk)
        for (first, ended), (candidate, pk) in itertools.pairwise(new)
        if _replaces(candidate, first)
    }
    searchable_texts.share_earlier_texts(list(still), user=user, successors=successors)


def _replaces(candidate: Candidate, ended: Candidate) -> bool:
    """Return True if `candidate` says what has replaced the thing that ended according to `ended`.

    In "I left Chase and moved over to Ally", for instance, both statements are about the user, and
    the second directly follows the first.
    """
    own = all(one.reasons[:1] and one.reasons[0].startswith("self.") for one in (candidate, ended))
    gap = candidate.quote_start - ended.quote_start - len(ended.quote)
    return own and "ends" in ended.reasons and 0 <= gap <= _ONE_BREATH


def learn_one(
    run: Run,
    candidate: Candidate,
    *,
    user: User,
    turn: Turn,
    project: Project | None,
    needs: Sequence[Turn] = (),
) -> Decided | None:
    """Decide on a candidate and apply it in its own transaction.

    `needs` holds the other turns of a statement that was composed from several turns: the statement
    is erased if any of them is forgotten. Return None if the candidate was already decided or
    forgotten, a turn no longer exists or memory is off.
    """
    return _learn_candidate(
        run, teach(candidate, turn=turn, project=project, needs=needs), user=user
    )


@dataclass(frozen=True)
class Taught:
    """A candidate on which to decide, with its draft memory and the vectors of its text."""

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
    """Build the draft memory of a candidate.

    Without `embedded`, this function embeds the text and must be called outside a transaction.
    """
    vectors, pieces = embedded or search_index.embed_memory(candidate.content)
    draft = draft_of(candidate, vectors, pieces, project)
    return Taught(candidate, labelled(draft, turn.labels), turn, needs)


def _nothing() -> None:
    pass


def _learn_candidate(
    run: Run, taught: Taught, *, user: User, then: Callable[[], None] = _nothing
) -> Decided | None:
    """Decide on the candidate, and apply it together with `then` in one transaction.

    If a remote model is used, it is called before the transaction.
    """
    if language_steps.all_here():
        with run.applying(user):
            decided = decide_here(taught, user=user)
            then()
        return decided
    with as_user(user):
        known = _find_similar(taught, user=user)
    meeting = _meet(taught, known)
    merged = verdicts.merged_draft(meeting, taught.draft) if meeting else None
    with run.applying(user):
        decided = _apply(taught, meeting, user=user, merged=merged) if meeting else None
        then()
    return decided


def decide_here(taught: Taught, *, user: User) -> Decided | None:
    """Decide on a candidate and apply it in the open transaction, without remote calls."""
    meeting = _meet(taught, _find_similar(taught, user=user))
    if meeting is None:
        return None
    merged = verdicts.merged_draft(meeting, taught.draft)
    return _apply(taught, meeting, user=user, merged=merged)


def _meet(taught: Taught, known: Sequence[Known] | None) -> Meeting | None:
    if known is None:
        return None
    return verdicts.meet(taught.candidate, known=known, arbiter=language_steps.arbiter())


def _find_similar(taught: Taught, *, user: User) -> list[Known] | None:
    turn, candidate = taught.turn, taught.candidate
    if not may_learn(user, turn, candidate, needs=taught.needs):
        return None
    if was_decided(user, turn, candidate):
        return None
    draft = taught.draft
    assert draft.vectors is not None
    return similar_memories.similar_to(
        draft.vectors[0], user=user, content=draft.content, project=draft.project
    )


def _apply(taught: Taught, meeting: Meeting, *, user: User, merged: Draft | None) -> Decided | None:
    turn, candidate = taught.turn, taught.candidate
    if not all(still_there(user, one) for one in (turn, *taught.needs)):
        return None
    own = users.settings_held(user)
    if not own.longterm_enabled:
        return None
    decided = verdicts.apply(
        meeting,
        taught.draft,
        user=user,
        source=source_of(turn, candidate),
        turn=turn,
        always_review=own.confirm_before_remembering and not candidate.explicit,
        merged=merged,
    )
    if decided.result == "updated" and turn.labels:
        memory, draft = decided.memory, taught.draft
        for name in ("agent_id", "app_id", "run_id"):
            setattr(memory, name, getattr(memory, name) or getattr(draft, name))
        memory.metadata = {**memory.metadata, **draft.metadata}
        memory.valid_until = draft.valid_until or memory.valid_until
        memory.save(
            update_fields=["agent_id", "app_id", "run_id", "metadata", "valid_until", "updated_at"]
        )
    if decided.result != "skipped":
        memory_writes.join_sources(decided.memory, turn=turn, others=taught.needs)
    return decided


def mark(user: User, turn: Turn, extraction: Extraction) -> None:
    """Mark the turn as processed and record the secrets that were refused.

    The user's message gets the positions of its secrets. If the user asked not to keep it, it is
    marked as withheld, and the turn's episode and its text in traces of recalls are erased.
    """
    understood = [extraction.secret_places, extraction.withheld, Withheld.ASKED.value]
    if statements.rows(_MARK, [timezone.now(), turn.pk, user.pk, *understood]):
        learnability.note(extraction.refused, user_id=user.pk, turn=turn)
        if extraction.withheld:
            traces.erase_query(turn.user_message)
            episodes = Episode.everything.filter(user=user, turn=turn)
            ids = list(episodes.values_list("pk", flat=True))
            if ids:
                search_index.erase(user_id=user.pk, kind=TargetKind.EPISODE, target_ids=ids)
                cascades.delete(episodes)


def may_learn(user: User, turn: Turn, candidate: Candidate, *, needs: Sequence[Turn] = ()) -> bool:
    """Return True if the candidate may be learned from these turns; see `learnability`."""
    telling = learnability.telling_of_turn(turn, candidate, needs=needs)
    teach = all(learnability.may_teach(one) for one in (turn, *needs))
    return teach and learnability.may_learn(candidate, telling, user=user)


def was_decided(user: User, turn: Turn, candidate: Candidate) -> bool:
    """Return True if an earlier run has already decided on the candidate."""
    decided = statements.rows(
        "SELECT 1 FROM memories_arbitration"
        " WHERE user_id = %s AND turn_id = %s AND candidate_text = %s LIMIT 1",
        [user.pk, turn.pk, candidate.content],
    )
    return bool(decided)


def still_there(user: User, turn: Turn) -> bool:
    """Return True if the turn still exists, and lock it until the transaction ends.

    Message texts never change, so they need no check.
    """
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
        standing=not ANSWERS.isdisjoint(candidate.tags),
        tags=candidate.tags,
        data=candidate.data,
        project=project,
        origin=Origin.EXTRACTED,
        occurred_at=candidate.occurred_at,
    )


def labelled(draft: Draft, labels: Mapping[str, Any]) -> Draft:
    """Return the draft with the turn's labels added.

    The labels are copied to everything that is learned from the turn.
    """
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


def source_of(turn: Turn, candidate: Candidate) -> SourceInput:
    """Return the source of a candidate: the message of the turn that contains it.

    If the user accepted a claim that the previous reply made, the source is the accepting message.
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
