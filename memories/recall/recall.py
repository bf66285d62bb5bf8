"""Select memories and episodes for a prompt, by relevance, recency and importance.

An episode is an indexed turn of a conversation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.conf import settings
from django.utils import timezone

from conversations.models import Conversation, Episode, Rating
from foundation.database.statements import Batch
from memories.models import Kind, Project
from memories.recall import candidate_pool
from memories.recall.candidate_pool import FoundRow, MemoryRow, PreparedQuery
from memories.recall.search import rank
from memories.recall.searchable_texts import Filters, episode_scope, memory_scope
from memories.retrieval import signals
from memories.retrieval.evidence import Score, ScoreWeights, score
from memories.retrieval.ranking_types import Ranked
from ops.models import User

MAX_TOP_K = 50
_MOST_ALWAYS = 100
# The condition matches the index `memory_always`.
_ALWAYS = (
    "AND (r.kind = 'constraint' OR r.pinned OR r.standing) AND r.feedback <> 'very_negative'"
    " ORDER BY r.kind = 'constraint' DESC, r.pinned DESC, r.importance DESC, r.id"
    f" LIMIT {_MOST_ALWAYS}"
)
_CONSIDERED = 64  # candidates by cosine, and as many by words; must be more than `MAX_TOP_K`


@dataclass(frozen=True)
class RecalledMemory:
    memory: MemoryRow
    relevance: float
    parts: Score
    ranked: Ranked | None = None

    @property
    def is_always_in(self) -> bool:
        """Return whether the memory is included in every prompt, regardless of the query."""
        return _is_always_in(self.memory)

    @property
    def components(self) -> dict[str, float]:
        """Return the parts of the score, and the features that explain the relevance."""
        rated = {"feedback": self.parts.feedback} if self.parts.feedback else {}
        return rated | {
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
    """The recalled memories; `missed` holds the most relevant memories that weren't selected."""

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
    doubted: bool = False,
    batch: Batch | None = None,
) -> Recall:
    """Return the memories that are always included, then the `top_k` best other memories.

    Constraints, pinned memories and standing wishes on how to answer are always included (at most
    100), unless the user rated them as very negative; pinned and important memories come first.
    With `doubted`, constraints that await review are included as well. Other memories must reach
    the relevance floor and are selected by score. All memories are selected from the user's own
    memories and from those of `project`.

    `Recall.missed` holds the most relevant memories that weren't selected, at most `misses`. The
    SQL statements in `batch` are sent together with the first query.
    """
    floor = settings.RELEVANCE_FLOOR
    filters = Filters(project=project, personal=True, kinds=kinds, doubted=doubted)
    scope = replace(
        memory_scope(user, filters=filters),
        nearest=_CONSIDERED,
        also=_ALWAYS,
        shift=signals.shift_to_memories,
    )
    [candidates] = candidate_pool.fill_all(prepared, [scope], user=user, batch=batch)
    always = {pk for pk, row in candidates.rows.items() if _is_always_in(row)}
    scored_by = _Scorer()
    scored = [
        scored_by.score(candidates.rows[candidate.unit.id], candidate)
        for candidate in rank(
            prepared,
            candidates,
            limit=None,
            least=0.0 if misses else floor,
            always=always,
            prompts=True,
        )
    ]
    standing = _always_included(scored, [scored_by.score(row) for row in candidates.others])
    rest = [candidate for candidate in scored if not candidate.is_always_in]
    others = [candidate for candidate in rest if candidate.relevance >= floor]
    others.sort(key=lambda candidate: (-candidate.parts.total, candidate.memory.pk))
    most = min(top_k or settings.TOP_K, MAX_TOP_K)
    missed = [*others[most:], *(candidate for candidate in rest if candidate.relevance < floor)]
    missed.sort(key=lambda candidate: (-candidate.relevance, candidate.memory.pk))
    return Recall(standing + others[:most], missed[:misses])


def _is_always_in(row: FoundRow) -> bool:
    if not isinstance(row, MemoryRow):
        return False
    is_always = row.kind == Kind.CONSTRAINT or row.pinned or row.standing
    return is_always and row.feedback != Rating.VERY_NEGATIVE


def _always_included(
    scored: Sequence[RecalledMemory], others: Sequence[RecalledMemory]
) -> list[RecalledMemory]:
    """Return the memories that are always included, even those that the ranking left out."""
    found = [memory for memory in (*scored, *others) if memory.is_always_in]
    found.sort(key=_importance)
    return found[:_MOST_ALWAYS]


def _importance(recalled: RecalledMemory) -> tuple[bool, float, int]:
    """Return a sort key: pinned memories first, then by importance and the user's feedback."""
    return (
        not recalled.memory.pinned,
        -recalled.memory.importance - recalled.parts.feedback,
        recalled.memory.pk,
    )


class _Scorer:
    """A calculator of memory scores at a fixed time, with the weights from the settings."""

    def __init__(self) -> None:
        self._now = timezone.now()
        self._weights = ScoreWeights(
            settings.WEIGHT_RELEVANCE, settings.WEIGHT_RECENCY, settings.WEIGHT_IMPORTANCE
        )

    def score(self, memory: FoundRow, ranked: Ranked | None = None) -> RecalledMemory:
        assert isinstance(memory, MemoryRow)
        relevance = ranked.relevance if ranked else 0.0
        is_kept = memory.kind == Kind.CONSTRAINT and memory.feedback != Rating.VERY_NEGATIVE
        parts = score(
            relevance,
            since=memory.last_accessed_at or memory.created_at,
            importance=memory.importance,
            now=self._now,
            weights=self._weights,
            # A constraint loses rank only if the user rated it as very negative.
            feedback="" if is_kept else memory.feedback,
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
    """Return the turns of the conversation that are relevant to the query, most relevant first.

    At most `limit` turns with at least the relevance `floor` are returned; None stands for the
    settings. With `before_number`, only turns whose reply has a lower number are returned. Other
    conversations are never read.
    """
    filters = Filters(conversation=conversation)
    scope = episode_scope(user, filters=filters, before_number=before_number)
    candidates = candidate_pool.fill(prepared, scope, user=user)
    least = settings.RELEVANCE_FLOOR if floor is None else floor
    count = settings.TOP_EPISODES if limit is None else limit
    ranked = rank(prepared, candidates, limit=count)
    near = {
        candidates.rows[episode.unit.id].pk: episode
        for episode in ranked
        if episode.relevance >= least
    }
    if not near:
        return []
    rows = Episode.objects.select_related("turn__user_message", "turn__assistant_message")
    found = rows.in_bulk(list(near))
    return [
        RecalledEpisode(found[pk], episode.relevance) for pk, episode in near.items() if pk in found
    ]
