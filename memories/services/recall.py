"""For a prompt: which memories and episodes, scored by relevance, recency and importance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.utils import timezone

from conversations.models import Conversation, Episode
from memcenter.lib import statements
from memories.models import Kind, Project
from memories.retrieval.scoring import Score, ScoreWeights, score
from memories.services import pool
from memories.services.pool import FoundRow, PreparedQuery, Shelf
from memories.services.search import rank
from memories.services.shelf_rows import MemoryRow
from memories.services.shelves import Filters, episode_shelf, memory_shelf
from ops.models import User

MAX_TOP_K = 50
_MAX_CONSTRAINTS = 100
_CONSIDERED = 64  # by meaning, and as many by words: top_k is 50 at most


@dataclass(frozen=True)
class RecalledMemory:
    memory: MemoryRow
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
    filters = Filters(project=project, personal=True, kinds=kinds)
    shelf = memory_shelf(user, filters=filters, nearest=_CONSIDERED)
    candidates = pool.fill(prepared, shelf, user=user)
    now = timezone.now()
    scored = [
        _scored(candidates.rows[one.unit.id], one.relevance, dict(one.features), now)
        for one in rank(prepared, candidates, limit=None)
    ]
    constraints = _with_the_rest(scored, shelf, now=now)
    others = [
        one
        for one in scored
        if one.memory.kind != Kind.CONSTRAINT and one.relevance >= settings.RELEVANCE_FLOOR
    ]
    others.sort(key=lambda one: (not one.memory.pinned, -one.parts.total, one.memory.pk))
    return constraints + others[: min(top_k or settings.TOP_K, MAX_TOP_K)]


def _with_the_rest(
    scored: Sequence[RecalledMemory], shelf: Shelf, *, now: datetime
) -> list[RecalledMemory]:
    """Constraints count whatever their relevance: those that retrieval left out come back."""
    found = {one.memory.pk: one for one in scored if one.memory.kind == Kind.CONSTRAINT}
    rows = statements.rows(
        f"SELECT {shelf.columns} FROM {shelf.source} WHERE {shelf.eligible.text}"
        " AND r.kind = 'constraint'"
        f" ORDER BY r.pinned DESC, r.importance DESC, r.id LIMIT {_MAX_CONSTRAINTS}",
        shelf.eligible.values,
    )
    constraints = map(MemoryRow._make, rows)
    return [found.get(row.pk) or _scored(row, 0.0, {}, now) for row in constraints]


def _scored(
    memory: FoundRow, relevance: float, features: dict[str, float], now: datetime
) -> RecalledMemory:
    assert isinstance(memory, MemoryRow)
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
    filters = Filters(conversation=conversation)
    shelf = episode_shelf(user, filters=filters, before_number=before_number)
    candidates = pool.fill(prepared, shelf, user=user)
    least = settings.RELEVANCE_FLOOR if floor is None else floor
    count = settings.TOP_EPISODES if limit is None else limit
    ranked = rank(prepared, candidates, limit=count)
    near = {candidates.rows[one.unit.id].pk: one for one in ranked if one.relevance >= least}
    if not near:
        return []
    rows = Episode.objects.select_related("turn__user_message", "turn__assistant_message")
    found = rows.in_bulk(list(near))
    return [RecalledEpisode(found[pk], one.relevance) for pk, one in near.items() if pk in found]
