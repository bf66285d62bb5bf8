"""For a prompt: which memories and episodes, scored by relevance, recency and importance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings
from django.utils import timezone

from conversations.models import Conversation, Episode
from memories.models import Kind, Project
from memories.retrieval.scoring import Score, ScoreWeights, score
from memories.retrieval.units import Ranked
from memories.services import pool
from memories.services.pool import FoundRow, PreparedQuery
from memories.services.search import rank
from memories.services.shelf_rows import MemoryRow
from memories.services.shelves import Filters, episode_shelf, memory_shelf
from ops.models import User

MAX_TOP_K = 50
_MAX_CONSTRAINTS = 100
_CONSTRAINTS = (
    "AND r.kind = 'constraint' ORDER BY r.pinned DESC, r.importance DESC, r.id"
    f" LIMIT {_MAX_CONSTRAINTS}"
)
_CONSIDERED = 64  # by meaning, and as many by words: top_k is 50 at most


@dataclass(frozen=True)
class RecalledMemory:
    memory: MemoryRow
    relevance: float
    parts: Score
    ranked: Ranked | None = None

    @property
    def components(self) -> dict[str, float]:
        """The three weighted parts that add up to the score, and what the relevance came from."""
        return {
            "relevance": self.parts.relevance,
            "recency": self.parts.recency,
            "importance": self.parts.importance,
            "raw_relevance": self.relevance,
            **(self.ranked.components if self.ranked else {}),
        }


@dataclass(frozen=True)
class RecalledEpisode:
    episode: Episode
    similarity: float


@dataclass(frozen=True)
class Recall:
    """`missed` came nearest of those that were not recalled, by relevance."""

    memories: Sequence[RecalledMemory]
    missed: Sequence[RecalledMemory] = ()


def recall(
    prepared: PreparedQuery,
    *,
    user: User,
    project: Project | None = None,
    kinds: Sequence[str] = (),
    top_k: int | None = None,
    misses: int = 0,
) -> Recall:
    """All active constraints, pinned and important first, then the `top_k` others by score.

    The others must pass the relevance floor; pinned ones lead them. Candidates are the person's
    own memories and those of the project that was named. With them come the `misses` that were
    nearest to being among them.
    """
    floor = settings.RELEVANCE_FLOOR
    filters = Filters(project=project, personal=True, kinds=kinds)
    shelf = memory_shelf(user, filters=filters, nearest=_CONSIDERED, also=_CONSTRAINTS)
    candidates = pool.fill(prepared, shelf, user=user)
    always = {pk for pk, row in candidates.rows.items() if _is_constraint(row)}
    scored_by = _Scorer()
    scored = [
        scored_by.score(candidates.rows[one.unit.id], one)
        for one in rank(
            prepared, candidates, limit=None, least=0.0 if misses else floor, always=always
        )
    ]
    constraints = _constraints(scored, [scored_by.score(row) for row in candidates.others])
    rest = [one for one in scored if not _is_constraint(one.memory)]
    others = [one for one in rest if one.relevance >= floor]
    others.sort(key=lambda one: (not one.memory.pinned, -one.parts.total, one.memory.pk))
    most = min(top_k or settings.TOP_K, MAX_TOP_K)
    missed = [*others[most:], *(one for one in rest if one.relevance < floor)]
    missed.sort(key=lambda one: (-one.relevance, one.memory.pk))
    return Recall(constraints + others[:most], missed[:misses])


def _is_constraint(row: FoundRow) -> bool:
    return isinstance(row, MemoryRow) and row.kind == Kind.CONSTRAINT


def _constraints(
    scored: Sequence[RecalledMemory], others: Sequence[RecalledMemory]
) -> list[RecalledMemory]:
    """Constraints count whatever their relevance: those that retrieval left out come back."""
    found = [one for one in (*scored, *others) if one.memory.kind == Kind.CONSTRAINT]
    found.sort(key=lambda one: (not one.memory.pinned, -one.memory.importance, one.memory.pk))
    return found[:_MAX_CONSTRAINTS]


class _Scorer:
    """Scores memories for one moment, by the weights of the settings."""

    def __init__(self) -> None:
        self._now = timezone.now()
        self._weights = ScoreWeights(
            settings.WEIGHT_RELEVANCE, settings.WEIGHT_RECENCY, settings.WEIGHT_IMPORTANCE
        )

    def score(self, memory: FoundRow, ranked: Ranked | None = None) -> RecalledMemory:
        assert isinstance(memory, MemoryRow)
        relevance = ranked.relevance if ranked else 0.0
        parts = score(
            relevance,
            since=memory.last_accessed_at or memory.created_at,
            importance=memory.importance,
            now=self._now,
            weights=self._weights,
        )
        return RecalledMemory(memory, relevance, parts, ranked)


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
