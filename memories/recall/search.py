"""Hybrid search over all texts of a user, for people and for API clients."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from conversations.models import ConversationKind
from foundation.database import statements
from foundation.errors import Invalid
from memories.extraction import masking
from memories.indexing import search_index
from memories.indexing.conversation_texts import turn_text
from memories.indexing.search_index import identity_of
from memories.models import TraceKind
from memories.recall import candidate_pool, traces
from memories.recall.candidate_pool import (
    EpisodeRow,
    MemoryRow,
    MessageRow,
    PreparedQuery,
    SummaryRow,
)
from memories.recall.searchable_texts import TYPES, Filters, search_scopes
from memories.recall.traces import Hit, Stage
from memories.retrieval import hybrid, signals
from memories.retrieval.query import analyse
from memories.retrieval.ranking_types import Ranked, Unit
from memories.retrieval.weights import DEFAULT, cosine_scale, prompt_weights
from ops.accounts import users
from ops.models import User, UserSettings

SNIPPET = 200


@dataclass(frozen=True)
class SearchHit:
    type: str
    id: str
    text: str
    snippet: str
    score: float
    components: Mapping[str, float]
    created_at: datetime | None
    conversation_id: str | None = None
    user_message_id: str | None = None
    assistant_message_id: str | None = None
    occurred_at: datetime | None = None
    status: str | None = None  # only for memories


@dataclass(frozen=True)
class SearchResult:
    request_id: str
    results: list[SearchHit]
    took_ms: float


def prepare_query(text: str, *, speakers: Sequence[str] = ()) -> PreparedQuery:
    """Analyse and embed a query; call it outside any transaction.

    Secrets in the query are masked first, so that neither the embedder nor the trace receives them.
    Raise `ProviderError` if the embedder fails.
    """
    query = analyse(masking.masked(text), speakers=speakers)
    embedder = search_index.embedder()
    vector = signals.query_vector(query, embedder=embedder)
    return PreparedQuery(query, vector, identity_of(embedder))


def search(
    prepared: PreparedQuery,
    *,
    user: User,
    types: Sequence[str] = TYPES,
    filters: Filters | None = None,
    limit: int = 20,
    kind: str | None = None,
    own: UserSettings | None = None,
) -> SearchResult:
    """Return the best hits, best first, and record the search as a trace.

    Raise `Invalid` if a type is unknown. A type yields no hits while the user has switched off its
    layer, such as long-term memory. In a group conversation (given by `filters` or `kind`), only
    the texts of that conversation and the memories of the project in `filters` are searched, not
    the user's personal texts. A hit's `score` is its relevance, from 0 to 1. `own` holds the user's
    settings, if the caller has already read them.
    """
    started = time.perf_counter()
    if unknown := [type_ for type_ in types if type_ not in TYPES]:
        raise Invalid.field("types", f"{unknown[0]!r} is not one of {', '.join(TYPES)}.")
    filters = filters or Filters()
    if (filters.conversation.kind if filters.conversation else kind) == ConversationKind.GROUP:
        types = [type_ for type_ in types if _may_be_read_in_a_group(type_, filters)]
    searched = search_scopes(types, user=user, own=own or users.settings_of(user), filters=filters)
    began = time.perf_counter()
    pools = candidate_pool.fill_all(prepared, searched, user=user)
    stages = [Stage("candidates", _ms(began), sum(len(pool.units) for pool in pools))]
    found: list[tuple[Ranked, Any]] = []
    for scope, candidates in zip(searched, pools, strict=True):
        began = time.perf_counter()
        ranked = rank(prepared, candidates, limit=limit)
        found += [(hit, candidates.rows[hit.unit.id]) for hit in ranked]
        stages.append(Stage(scope.kind, _ms(began), len(candidates.units)))
    found.sort(key=lambda pair: (-pair[0].relevance, pair[0].unit.id))
    hits = _hits(found[:limit], user=user)
    took = _ms(started)
    request_id = traces.record(
        user=user,
        kind=TraceKind.SEARCH,
        query=prepared.text,
        hits=[Hit(hit.type, hit.id, hit.score, hit.components) for hit in hits],
        stages=stages,
        took_ms=took,
        conversation=filters.conversation,
    )
    return SearchResult(request_id, hits, took)


def _may_be_read_in_a_group(type: str, filters: Filters) -> bool:
    if type == "memory":
        return filters.project is not None and not filters.personal
    return type != "note" and filters.conversation is not None


def rank(
    prepared: PreparedQuery,
    candidates: candidate_pool.Pool,
    *,
    limit: int | None,
    least: float = 0.0,
    always: Collection[str] = (),
    prompts: bool = False,
) -> list[Ranked]:
    """Rank candidates by relevance to a question or, with `prompts`, by usefulness for a prompt.

    `limit`, `least` and `always` are explained in `hybrid.rank`.
    """
    scale, weights = cosine_scale(prepared.made_by.model), DEFAULT
    if prompts:
        scale, weights = prompt_weights(prepared.made_by.model)
    return hybrid.rank(
        prepared.query,
        candidates.units,
        corpus=candidates.corpus,
        scale=scale,
        weights=weights,
        limit=limit,
        least=least,
        always=always,
    )


# Both messages of each turn that contains one of the given messages.
_TURNS = """
SELECT t.user_message_id, t.assistant_message_id, said.public_id, reply.public_id,
       said.content, reply.content, said.secrets, reply.secrets
  FROM conversations_turn t
  JOIN conversations_message said ON said.id = t.user_message_id
  JOIN conversations_message reply ON reply.id = t.assistant_message_id
 WHERE t.user_id = %s AND t.hidden_at IS NULL
   AND (t.user_message_id = ANY(%s::bigint[]) OR t.assistant_message_id = ANY(%s::bigint[]))
"""
_Half = tuple[str, list[int]]  # a message's text and the positions of its secrets


class _Turn(NamedTuple):
    """The turn that contains a message: the ids of its question and reply, and both texts."""

    question: str | None = None
    reply: str | None = None
    halves: tuple[_Half, ...] = ()


_NO_TURN = _Turn()


def _hits(found: Sequence[tuple[Ranked, Any]], *, user: User) -> list[SearchHit]:
    """Build the search hits; the turns of all messages among them are loaded with one query."""
    messages = sorted(row.pk for _, row in found if isinstance(row, MessageRow))
    turns: dict[int, _Turn] = {}
    if messages:
        for question, answer, *both in statements.rows(_TURNS, [user.pk, messages, messages]):
            halves = ((both[2], both[4]), (both[3], both[5]))
            turns[question] = turns[answer] = _Turn(both[0], both[1], halves)
    return [_hit(ranked, row, turns.get(row.pk, _NO_TURN)) for ranked, row in found]


def _masked_text(unit: Unit, row: Any, turn: _Turn) -> str:
    """Return the text of a hit with secrets masked; a message is masked together with its turn."""
    if isinstance(row, EpisodeRow):
        return turn_text(*_masked([(row.said, row.said_secrets), (row.reply, row.reply_secrets)]))
    if isinstance(row, MessageRow):
        return _masked([(unit.text, row.secrets), *turn.halves])[0]
    return masking.masked(unit.text)


def _masked(texts: Sequence[_Half]) -> list[str]:
    return masking.masked_together(
        [text for text, _ in texts], places=[places for _, places in texts]
    )


def _hit(ranked: Ranked, row: Any, turn: _Turn) -> SearchHit:
    unit = ranked.unit
    if isinstance(row, EpisodeRow):
        turn = _Turn(row.user_message, row.assistant_message)
    text = _masked_text(unit, row, turn)
    spoken = isinstance(row, MessageRow | EpisodeRow | SummaryRow)
    return SearchHit(
        type=unit.type,
        id=unit.id,
        text=text,
        snippet=text[:SNIPPET],
        score=round(ranked.relevance, 6),
        components=ranked.components,
        created_at=row.created_at,
        conversation_id=row.conversation if spoken else None,
        user_message_id=turn.question,
        assistant_message_id=turn.reply,
        occurred_at=row.occurred_at if isinstance(row, MemoryRow) else None,
        status=row.status if isinstance(row, MemoryRow) else None,
    )


def _ms(since: float) -> float:
    return (time.perf_counter() - since) * 1000
