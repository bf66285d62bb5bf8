"""Vector search in PostgreSQL: exact, or with an index for users with very many memories."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import psycopg
from psycopg import sql

from foundation.database import statements
from memories.retrieval.stores.base import NearestQuery

# "IS TRUE" keeps the planner from using a join. Each id is looked up in a hash of the eligible ids
# instead, however many ids the planner expects.
_EXACT = """
SELECT v.target_id, v.embedding <#> %s::halfvec AS distance FROM memories_vector v
 WHERE v.user_id = %s AND v.space_id = %s AND v.target_kind = %s
   AND (v.target_id IN ({eligible})) IS TRUE
 ORDER BY distance, v.target_id LIMIT %s
"""


# The numbers are literals, because the planner doesn't use the partial index for parameters. The
# scalar subquery looks up each id by key, in index order, and stops when enough are eligible.
_APPROXIMATE = """
SELECT v.target_id, v.embedding::halfvec({size}) <#> %s::halfvec({size}) AS distance
  FROM memories_vector v
 WHERE v.user_id = {user} AND v.space_id = {space} AND v.target_kind = 'memory'
   AND (SELECT true FROM ({eligible}) e WHERE e.id = v.target_id)
 ORDER BY distance LIMIT %s
"""
_SEARCH_SETTINGS = (
    "SELECT set_config('hnsw.ef_search', %s, true),"
    " set_config('hnsw.iterative_scan', 'relaxed_order', true)"
)


class PgVectorStore:
    """A store that compares all vectors of a user, which takes 1-2 microseconds per vector.

    The time doesn't depend on other users. There is no HNSW index over all users: the planner would
    use it and miss a user's own memories among those of other users (only 0.6-0.75 of the true
    neighbours were found). Users with very many memories have an index of their own, which is
    searched instead.
    """

    def nearest(self, query: NearestQuery) -> Mapping[int, float]:
        own = OwnIndex(query.user_id, query.space_id)
        is_indexed = query.many and query.kind == "memory"
        if is_indexed and (size := dimensions_of_index(own)) is not None:
            return _approximate(query, size=size)
        scope = (query.user_id, query.space_id, query.kind)
        values = [query.vector_json, *scope, *query.eligible.values, query.limit]
        text = _EXACT.format(eligible=query.eligible.text)
        found = statements.rows(text, values, anew=query.many)
        return {target_id: -distance for target_id, distance in found}


def _approximate(query: NearestQuery, *, size: int) -> Mapping[int, float]:
    statements.rows(_SEARCH_SETTINGS, [str(EF_SEARCH)])
    text = _APPROXIMATE.format(
        size=size, user=query.user_id, space=query.space_id, eligible=query.eligible.text
    )
    values = [query.vector_json, *query.eligible.values, query.limit]
    found = statements.rows(text, values, anew=True)
    return {target_id: -distance for target_id, distance in sorted(found, key=itemgetter(1, 0))}


# The number of neighbours that a search tracks; docs/benchmarks.md gives the resulting recall.
EF_SEARCH = 400
_PREFIX = "vector_own_"


@dataclass(frozen=True, order=True)
class OwnIndex:
    """The vector index of a single user's memories in one embedding space."""

    user_id: int
    space_id: int

    @property
    def name(self) -> str:
        return f"{_PREFIX}{self.user_id}_{self.space_id}"


@dataclass(frozen=True)
class IndexState:
    """The indexes that should exist, those that are complete, and those that are incomplete.

    An incomplete index is still being built, or its build was aborted.
    """

    wanted: frozenset[OwnIndex]
    built: frozenset[OwnIndex]
    broken: frozenset[OwnIndex]


def dimensions_of_index(index: OwnIndex) -> int | None:
    """Return the dimensions of an index, or None if it doesn't exist or is incomplete."""
    found = statements.rows(
        "SELECT s.dimensions FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid"
        "  JOIN memories_embeddingspace s ON s.id = %s"
        " WHERE c.relname = %s AND i.indisvalid AND i.indisready",
        [index.space_id, index.name],
    )
    return int(found[0][0]) if found else None


def index_state(*, at_least: int) -> IndexState:
    """Return which users should have their own index, and which indexes exist.

    A user with `at_least` memories gets an index, and loses it only below half that number.
    """
    counted = statements.rows(
        "SELECT v.user_id, v.space_id, count(*) FROM memories_vector v"
        "  JOIN memories_embeddingspace s ON s.id = v.space_id AND s.active"
        " WHERE v.target_kind = 'memory' GROUP BY 1, 2 HAVING count(*) >= %s",
        [max(1, at_least // 2)],
    )
    there = statements.rows(
        "SELECT c.relname, i.indisvalid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid"
        " WHERE c.relname LIKE %s",
        [_PREFIX.replace("_", r"\_") + "%"],
    )
    built = frozenset(_index_of(name) for name, valid in there if valid)
    counts = {OwnIndex(user, space): count for user, space, count in counted}
    wanted = frozenset(
        index for index, count in counts.items() if count >= at_least or index in built
    )
    return IndexState(
        wanted, built, frozenset(_index_of(name) for name, valid in there if not valid)
    )


def list_indexes(user_id: int) -> list[OwnIndex]:
    """Return this user's own indexes, whether complete or broken."""
    start = f"{_PREFIX}{user_id}_"
    found = statements.rows(
        "SELECT relname FROM pg_class WHERE relkind = 'i' AND starts_with(relname, %s)", [start]
    )
    return [_index_of(name) for (name,) in found]


def _index_of(name: str) -> OwnIndex:
    user, space = name.removeprefix(_PREFIX).split("_")
    return OwnIndex(int(user), int(space))


@contextmanager
def as_owner(url: str) -> Iterator[psycopg.Connection[Any]]:
    """Connect as the owner of the table, the only role that may create an index.

    The connection is in autocommit mode: an index is built concurrently, outside a transaction, so
    that writers don't wait for it.
    """
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET maintenance_work_mem = '512MB'")
        yield connection


def build_index(connection: psycopg.Connection[Any], index: OwnIndex) -> None:
    [size] = connection.execute(
        "SELECT dimensions FROM memories_embeddingspace WHERE id = %s", [index.space_id]
    ).fetchone() or [0]
    connection.execute(
        sql.SQL(
            "CREATE INDEX CONCURRENTLY IF NOT EXISTS {name} ON memories_vector"
            " USING hnsw ((embedding::halfvec({size})) halfvec_ip_ops)"
            " WITH (m = 16, ef_construction = 100)"
            " WHERE user_id = {user} AND space_id = {space} AND target_kind = 'memory'"
        ).format(
            name=sql.Identifier(index.name),
            size=sql.Literal(size),
            user=sql.Literal(index.user_id),
            space=sql.Literal(index.space_id),
        )
    )


def drop_index(connection: psycopg.Connection[Any], index: OwnIndex) -> None:
    name = sql.Identifier(index.name)
    connection.execute(sql.SQL("DROP INDEX CONCURRENTLY IF EXISTS {}").format(name))
