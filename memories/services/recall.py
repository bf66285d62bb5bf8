"""For a prompt: which memories and episodes, scored by relevance, recency and importance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.conf import settings
from django.db.models import F, Q
from django.utils import timezone

from conversations.models import Conversation, Episode
from memories.models import Kind, Memory, Project
from memories.retrieval.scoring import Score, ScoreWeights, score
from memories.services import pool
from memories.services.pool import PreparedQuery
from memories.services.search import rank
from memories.services.shelves import Filters, episode_shelf, memory_shelf, usable_memories
from ops.models import User

MAX_TOP_K = 50
_MAX_CONSTRAINTS = 100
_CONSIDERED = 64  # by meaning, and as many by words: top_k is 50 at most


@dataclass(frozen=True)
class RecalledMemory:
    memory: Memory
    relevance: float
    parts: Score
    features: dict[str, float]

    @property
    def components(self) -> dict[str, float]:
        """The three weighted parts that add up to the score, and what the relevance came from."""
        return {
            "relevance": self.parts.relevance,
            "recency": self.parts.recency,
            "importance": self.parts.importance,
            "raw_relevance": self.relevance,
            **self.features,
        }


@dataclass(frozen=True)
class RecalledEpisode:
    episode: Episode
    similarity: float


def recall_memories(
    prepared: PreparedQuery,
    *,
    user: User,
    project: Project | None = None,
    kinds: Sequence[str] = (),
    top_k: int | None = None,
) -> list[RecalledMemory]:
    """All active constraints, pinned and important first, then the `top_k` others by score.

    The others must pass the relevance floor; pinned ones lead them. Candidates are the person's
    own memories and those of the project that was named.
    """
    eligible = usable_memories(user, filters=Filters(kinds=kinds)).filter(
        Q(project__isnull=True) | Q(project=project)
    )
    shelf = memory_shelf(eligible, nearest=_CONSIDERED)
    candidates = pool.fill(prepared, shelf, user=user)
    now = timezone.now()
    scored = [
        _scored(candidates.rows[one.unit.id], one.relevance, dict(one.features), now)
        for one in rank(prepared, candidates, limit=None)
    ]
    constraints = _with_the_rest(scored, eligible, now=now)
    others = [
        one
        for one in scored
        if one.memory.kind != Kind.CONSTRAINT and one.relevance >= settings.RELEVANCE_FLOOR
    ]
    others.sort(key=lambda one: (not one.memory.pinned, -one.parts.total, one.memory.pk))
    return constraints + others[: min(top_k or settings.TOP_K, MAX_TOP_K)]


def _with_the_rest(
    scored: Sequence[RecalledMemory], eligible: object, *, now: datetime
) -> list[RecalledMemory]:
    """Constraints count whatever their relevance: those that retrieval left out come back."""
    found = {one.memory.pk: one for one in scored if one.memory.kind == Kind.CONSTRAINT}
    rows = eligible.filter(kind=Kind.CONSTRAINT)  # type: ignore[attr-defined]
    rows = rows.order_by("-pinned", "-importance", "pk")[:_MAX_CONSTRAINTS]
    return [found.get(row.pk) or _scored(row, 0.0, {}, now) for row in rows]


def _scored(
    memory: object, relevance: float, features: dict[str, float], now: datetime
) -> RecalledMemory:
    assert isinstance(memory, Memory)
    parts = score(
        relevance,
        since=memory.last_accessed_at or memory.created_at,
        importance=memory.importance,
        now=now,
        weights=ScoreWeights(
            settings.WEIGHT_RELEVANCE, settings.WEIGHT_RECENCY, settings.WEIGHT_IMPORTANCE
        ),
    )
    return RecalledMemory(memory, relevance, parts, features)


def recall_episodes(
    prepared: PreparedQuery,
    *,
    user: User,
    conversation: Conversation,
    before_number: int | None = None,
    limit: int | None = None,
    floor: float | None = None,
) -> list[RecalledEpisode]:
    """The conversation's turns that bear on what is asked, most similar first.

    With `before_number` only turns that have left the window. Never another conversation's.
    """
    shelf = episode_shelf(user, conversation=conversation)
    if before_number is not None:
        older = shelf.eligible.filter(turn__assistant_message__number__lt=before_number)
        shelf = replace(shelf, eligible=older)
    candidates = pool.fill(prepared, shelf, user=user)
    least = settings.RELEVANCE_FLOOR if floor is None else floor
    count = settings.TOP_EPISODES if limit is None else limit
    ranked = rank(prepared, candidates, limit=count)
    return [
        RecalledEpisode(row, one.relevance)
        for one in ranked
        if one.relevance >= least and isinstance(row := candidates.rows[one.unit.id], Episode)
    ]


def note_access(memories: Sequence[Memory]) -> None:
    """Count that these were put into a prompt."""
    Memory.objects.filter(pk__in=[one.pk for one in memories]).update(
        access_count=F("access_count") + 1, last_accessed_at=timezone.now()
    )
