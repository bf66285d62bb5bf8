"""What is learned from a text that is no turn: a line of an old note, a message without a reply."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django.db.models import Q

from memories.extraction.types import Candidate
from memories.models import Arbitration, Memory
from memories.services import deciding, indexing, ingest, learnability, providers, similar
from memories.services.deciding import Decided
from memories.services.tombstones import Telling
from memories.services.writing import SourceInput
from ops.access import as_user
from ops.models import User
from ops.services import users
from ops.services.worker import Run


@dataclass(frozen=True)
class Lone:
    """Such a text, and where it was said. `taught` are the memories that rest on it.

    `hold` keeps its row until the transaction ends and says what a candidate rests on; None where
    the text went meanwhile. What it says outright is not confirmed, unless `confirms_all`.
    """

    telling: Telling
    taught: Q
    hold: Callable[[Candidate], SourceInput | None]
    confirms_all: bool = False


def learn(run: Run, candidate: Candidate, *, user: User, text: Lone) -> Decided | None:
    """Decide on one candidate and apply it in a transaction of its own. Raises `ProviderError`.

    None where it was decided before, was forgotten, or long-term memory is off.
    """
    vectors, pieces = indexing.embed_memory(candidate.content)
    with as_user(user):
        if not _is_new(user, text, candidate):
            return None
        known = similar.similar_to(vectors[0], user=user, content=candidate.content)
    meeting = deciding.meet(candidate, known=known, arbiter=providers.arbiter())
    draft = ingest.draft_of(candidate, vectors, pieces, None)
    merged = deciding.merged_draft(meeting, draft)
    with run.applying(user):
        source = text.hold(candidate)
        own = users.settings_held(user)
        if source is None or not own.longterm_enabled:
            return None
        outright = candidate.explicit and not text.confirms_all
        return deciding.apply(
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
