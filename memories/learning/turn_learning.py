"""Learn from a turn: extract statements (candidates), compare them with memories, store them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from conversations.models import Episode, Learning, Turn
from foundation.database import cascades, statements
from foundation.providers.base import Vectors
from memories import language_steps
from memories.extraction.types import Candidate, Extraction, KnownMemory, TurnText
from memories.extraction.wording.languages import ANSWERS
from memories.forgetting.tombstones import Provenance
from memories.indexing import earlier_texts, search_index
from memories.learning import learnability
from memories.learning.turn_context import LoadedTurn
from memories.models import Arbitration, Memory, Origin, Project, TargetKind
from memories.recall import traces
from memories.writing import memory_writes, similar_memories, verdict_writes
from memories.writing.memory_writes import Draft, SourceInput
from memories.writing.verdict_writes import AppliedVerdict, Arbitrated
from ops.access import as_user
from ops.accounts import users
from ops.models import User, UserSettings
from ops.queue.run import Run

ACCEPTED_CHARS = 200  # length of the quotation of a message that accepts the assistant's claim
_MAX_GAP = 12  # maximum characters between two statements that belong together
# A turn that was forgotten in the meantime isn't marked. Refused secrets that an earlier attempt
# recorded are deleted, since they are recorded again.
_MARK = f"""
WITH marked AS (
    UPDATE conversations_turn SET extracted_at = %s
     WHERE id = %s AND user_id = %s AND hidden_at IS NULL
    RETURNING id, user_message_id),
gone AS (DELETE FROM memories_refusal r USING marked WHERE r.turn_id = marked.id),
understood AS (
    UPDATE conversations_message m
       SET secrets = %s, role_play = %s, {learnability.WITHHOLD_IF_ASKED}
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


def extract_forget_requests(text: TurnText) -> Extraction:
    """Extract only requests to forget, secrets and role play, but no candidates.

    Use it for a text from which nothing may be learned. No chat model is called.
    """
    found = language_steps.bundled_extractor().extract(text)
    return Extraction(forget=found.forget, secrets=found.secrets, role_play=found.role_play)


def extract_from(loaded: LoadedTurn) -> Extraction:
    """Extract candidates and requests to forget from a turn.

    If `loaded.learns` is False, only requests to forget are extracted, and no chat model is called.
    If the turn must not be kept, only requests such as "forget that" are extracted, since they
    refer to earlier messages. If the reply came late, memories were already learned from the
    question alone; then only statements by the assistant are extracted, and only if both speakers
    are named.
    """
    if not loaded.learns:
        return extract_forget_requests(loaded.text)
    if not learnability.may_teach(loaded.turn):
        return learnability.only_forget_requests(extract(loaded.text))
    if loaded.turn.user_message.learning != Learning.DONE:
        return extract(loaded.text)
    if not (loaded.text.user.speaker and loaded.text.assistant.speaker):
        return Extraction()
    candidates = extract(loaded.text).candidates
    return Extraction(tuple(one for one in candidates if one.quoted_role == "assistant"))


@dataclass(frozen=True)
class SourceText:
    """A text from which candidates were extracted: a turn, a message without a reply, or a note.

    `provenance` returns where and when a candidate was said. `decided` selects the verdicts that
    earlier runs logged for this text. `hold` locks the text until the transaction ends and returns
    the source for a candidate, or None if the text no longer exists. `turns` holds the turn,
    followed by the other turns if a statement was composed from several. For a user who confirms
    memories before they are used, explicit requests to remember need no confirmation, unless
    `confirms_all` is True.
    """

    user: User
    provenance: Callable[[Candidate], Provenance]
    decided: Q
    hold: Callable[[Candidate], SourceInput | None]
    turns: Sequence[Turn] = ()
    project: Project | None = None
    confirms_all: bool = False

    @property
    def turn(self) -> Turn | None:
        return self.turns[0] if self.turns else None

    def may_teach(self, candidate: Candidate) -> bool:
        """Return True if the candidate may be learned from this text; see `learnability`."""
        if not all(learnability.may_teach(one) for one in self.turns):
            return False
        return learnability.may_learn(candidate, self.provenance(candidate), user=self.user)

    def was_decided(self, candidate: Candidate) -> bool:
        """Return True if an earlier run has already decided on the candidate."""
        logged = Arbitration.objects.filter(self.decided, user=self.user)
        return logged.filter(candidate_text=candidate.content).exists()

    def needs_review(self, candidate: Candidate, own: UserSettings) -> bool:
        return own.confirm_before_remembering and (self.confirms_all or not candidate.explicit)


def text_of_turn(
    turn: Turn, *, user: User, project: Project | None = None, others: Sequence[Turn] = ()
) -> SourceText:
    """Return the turn as a `SourceText`.

    `others` holds the other turns of a statement that was composed from several turns: the
    statement is erased if any of them is forgotten.
    """
    turns = (turn, *others)

    def hold(candidate: Candidate) -> SourceInput | None:
        is_there = all(lock_if_present(user, one) for one in turns)
        return source_of(turn, candidate) if is_there else None

    provenance = partial(learnability.provenance_of_turn, turn, needs=others)
    return SourceText(user, provenance, Q(turn=turn), hold, turns, project)


def learn(
    run: Run, *, user: User, loaded: LoadedTurn, extraction: Extraction
) -> list[AppliedVerdict]:
    """Learn the candidates of a turn, and mark the turn as processed.

    Return the verdicts that were applied. Raise `ProviderError` if a model call fails.
    """
    decided = learn_all(
        run,
        extraction.undecided,
        text_of_turn(loaded.turn, user=user, project=loaded.project),
        then=partial(mark_processed, user, loaded.turn, extraction),
    )
    found = [one for one in decided if one is not None]
    if len(found) > 1:
        with run.applying(user):
            share_earlier_texts(extraction.undecided, decided, user=user)
    return found


def learn_all(
    run: Run, candidates: Sequence[Candidate], text: SourceText, *, then: Callable[[], None]
) -> list[AppliedVerdict | None]:
    """Decide on each candidate and apply it in its own transaction.

    `then` marks the text as processed, in the transaction of the last candidate. If the process was
    killed, a repeated run skips the candidates that are already decided: verdicts are logged in the
    transactions that apply them. The result is None for a candidate that was already decided or
    forgotten, or that only ends a memory (`only_ends`) but matches none; the result is also None if
    the text no longer exists or memory is off. Raise `ProviderError` if a model call fails.
    """
    if not candidates:
        with run.applying(text.user):
            then()
        return []
    drafts = [prepare(one, text) for one in candidates]
    decided = [learn_candidate(run, one) for one in drafts[:-1]]
    return [*decided, learn_candidate(run, drafts[-1], then=then)]


def share_earlier_texts(
    candidates: Sequence[Candidate], decided: Sequence[AppliedVerdict | None], *, user: User
) -> None:
    """Let a search for an earlier text of a memory also find other memories from the same turn.

    For example, "I quit Acme and joined Initech" becomes two memories, and a search for Acme should
    find both of them. Candidates that only repeated a known memory are left out.
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
    earlier_texts.share_earlier_texts(list(still), user=user, successors=successors)


def _replaces(candidate: Candidate, ended: Candidate) -> bool:
    """Return True if `ended` says that something ended and `candidate` names its replacement.

    An example is "I left Chase and moved over to Ally". Both statements must be about the user, and
    `candidate` must directly follow `ended`.
    """
    own = candidate.owner == ended.owner == "self"
    gap = candidate.quote_start - ended.quote_start - len(ended.quote)
    return own and "ends" in ended.reasons and 0 <= gap <= _MAX_GAP


@dataclass(frozen=True)
class CandidateDraft:
    """A candidate that awaits a decision, with its draft memory and the text it comes from."""

    candidate: Candidate
    draft: Draft
    text: SourceText


def prepare(
    candidate: Candidate, text: SourceText, *, embedded: tuple[Vectors, list[str]] | None = None
) -> CandidateDraft:
    """Build the draft memory of a candidate.

    Without `embedded`, this function embeds the text and must be called outside a transaction.
    """
    vectors, pieces = embedded or search_index.embed_memory(candidate.content)
    draft = draft_of(candidate, vectors, pieces, text.project)
    labels = text.turn.labels if text.turn else {}
    return CandidateDraft(candidate, with_labels(draft, labels), text)


def _nothing() -> None:
    pass


def learn_candidate(
    run: Run, pending: CandidateDraft, *, then: Callable[[], None] = _nothing
) -> AppliedVerdict | None:
    """Decide on the candidate, and apply the verdict and call `then` in one transaction.

    If a remote model is used, it is called before the transaction. `learn_all` says when the result
    is None.
    """
    user = pending.text.user
    if language_steps.are_steps_local():
        with run.applying(user):
            decided = arbitrate_and_apply(pending)
            then()
        return decided
    with as_user(user):
        known = _find_similar(pending)
    arbitrated = _arbitrate(pending, known)
    merged = verdict_writes.merged_draft(arbitrated, pending.draft) if arbitrated else None
    with run.applying(user):
        # The statement may have been forgotten while the model was asked.
        decided = None
        if arbitrated and pending.text.may_teach(pending.candidate):
            decided = _apply_verdict(pending, arbitrated, merged=merged)
        then()
    return decided


def arbitrate_and_apply(pending: CandidateDraft) -> AppliedVerdict | None:
    """Decide on a candidate and apply the verdict in the open transaction.

    Call this function only if `are_steps_local`, so that no remote model is called. `learn_all`
    says when the result is None.
    """
    arbitrated = _arbitrate(pending, _find_similar(pending))
    if arbitrated is None:
        return None
    return _apply_verdict(
        pending, arbitrated, merged=verdict_writes.merged_draft(arbitrated, pending.draft)
    )


def _arbitrate(pending: CandidateDraft, known: Sequence[KnownMemory] | None) -> Arbitrated | None:
    if known is None:
        return None
    decided = verdict_writes.arbitrate(
        pending.candidate, known=known, arbiter=language_steps.arbiter()
    )
    return decided if decided.decision.ends or not pending.candidate.only_ends else None


def _find_similar(pending: CandidateDraft) -> list[KnownMemory] | None:
    text, draft = pending.text, pending.draft
    if not text.may_teach(pending.candidate) or text.was_decided(pending.candidate):
        return None
    assert draft.vectors is not None
    return similar_memories.similar_to(
        draft.vectors[0], user=text.user, content=draft.content, project=draft.project
    )


def _apply_verdict(
    pending: CandidateDraft, arbitrated: Arbitrated, *, merged: Draft | None
) -> AppliedVerdict | None:
    text = pending.text
    source = text.hold(pending.candidate)
    own = users.settings_held(text.user)
    if source is None or not own.longterm_enabled:
        return None
    decided = verdict_writes.apply(
        arbitrated,
        pending.draft,
        user=text.user,
        source=source,
        turn=text.turn,
        always_review=text.needs_review(pending.candidate, own),
        merged=merged,
    )
    if text.turn is None:
        return decided
    if decided.result == "updated" and text.turn.labels:
        _add_labels(decided.memory, pending.draft)
    if decided.result != "skipped":
        memory_writes.join_sources(decided.memory, turn=text.turn, others=text.turns[1:])
    return decided


def _add_labels(memory: Memory, draft: Draft) -> None:
    for name in ("agent_id", "app_id", "run_id"):
        setattr(memory, name, getattr(memory, name) or getattr(draft, name))
    memory.metadata = {**memory.metadata, **draft.metadata}
    memory.valid_until = draft.valid_until or memory.valid_until
    memory.save(
        update_fields=["agent_id", "app_id", "run_id", "metadata", "valid_until", "updated_at"]
    )


def mark_processed(user: User, turn: Turn, extraction: Extraction) -> None:
    """Mark the turn as processed and record the secrets that were refused.

    The positions of the secrets are stored in the user's message. If the user asked not to keep the
    message, it is marked as withheld, its text in recall traces is erased, and the turn's episode
    is erased.
    """
    understood = [extraction.secret_places, extraction.role_play, extraction.not_to_keep]
    if statements.rows(_MARK, [timezone.now(), turn.pk, user.pk, *understood]):
        memory_writes.record_refusals(extraction.refused, user_id=user.pk, turn=turn)
        if extraction.not_to_keep:
            traces.erase_query(turn.user_message)
            episodes = Episode.everything.filter(user=user, turn=turn)
            ids = list(episodes.values_list("pk", flat=True))
            if ids:
                search_index.erase(user_id=user.pk, kind=TargetKind.EPISODE, target_ids=ids)
                cascades.delete(episodes)


def lock_if_present(user: User, turn: Turn) -> bool:
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


def with_labels(draft: Draft, labels: Mapping[str, Any]) -> Draft:
    """Return the draft with the labels of its turn, such as `agent_id` and `metadata`, added.

    If the statement contains a date, it takes precedence over the label `occurred_at`.
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
    """Return the source of a candidate: the message of the turn that contains the quote.

    If the user accepted a claim from the previous reply, the source is the accepting message.
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
