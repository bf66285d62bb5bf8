"""Learn from a text that isn't a turn: a line of an old note, or a message without a reply."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django.db.models import Q

from memories import language_steps
from memories.extraction.types import Candidate
from memories.forgetting.tombstones import Telling
from memories.indexing import search_index
from memories.learning import ingest, learnability
from memories.models import Arbitration, Memory
from memories.writing import similar_memories, verdicts
from memories.writing.memory_writes import SourceInput
from memories.writing.verdicts import Decided
from ops.access import as_user
from ops.accounts import users
from ops.models import User
from ops.queue.run import Run


@dataclass(frozen=True)
class Lone:
    """A text that isn't a turn, and where it was said.

    `taught` matches the memories that rest on it. `hold` locks its row until the transaction ends
    and returns the source for a candidate, or None if the text is gone. Explicit requests to
    remember skip the confirmation, unless `confirms_all`.
    """

    telling: Telling
    taught: Q
    hold: Callable[[Candidate], SourceInput | None]
    confirms_all: bool = False


def learn(run: Run, candidate: Candidate, *, user: User, text: Lone) -> Decided | None:
    """Decide on a candidate and apply it in its own transaction. Raises `ProviderError`.

    Returns None if it was decided before or forgotten, or if long-term memory is off.
    """
    vectors, pieces = search_index.embed_memory(candidate.content)
    with as_user(user):
        if not _is_new(user, text, candidate):
            return None
        known = similar_memories.similar_to(vectors[0], user=user, content=candidate.content)
    meeting = verdicts.meet(candidate, known=known, arbiter=language_steps.arbiter())
    draft = ingest.draft_of(candidate, vectors, pieces, None)
    merged = verdicts.merged_draft(meeting, draft)
    with run.applying(user):
        source = text.hold(candidate)
        own = users.settings_held(user)
        if source is None or not own.longterm_enabled:
            return None
        outright = candidate.explicit and not text.confirms_all
        return verdicts.apply(
            meeting,
            draft,
            user=user,
            source=source,
            always_review=own.confirm_before_remembering and not outright,
            merged=merged,
        )


def _is_new(user: User, text: Lone, candidate: Candidate) -> bool:
    content = candidate.content
    if not learnability.may_learn(candidate, text.telling, user=user):
        return False
    taught = Memory.everything.filter(text.taught, user=user)
    decided = Arbitration.objects.filter(user=user, memory__in=taught, candidate_text=content)
    return not decided.exists()
