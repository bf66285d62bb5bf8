"""An approximate index of a single user's memories, for users with very many of them.

A partial HNSW index (Malkov and Yashunin 2018) over the user's memories in one space. Unlike an
index over all users, it can't lose the user's memories behind those of others, and inserts of other
users don't pay for it. PostgreSQL keeps it in sync with the table: erased vectors leave it with the
vacuum that ends every forget.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import sql

from memcenter.lib.database import statements

# The number of neighbours that a search tracks; docs/performance.md has the recall.
EF_SEARCH = 400
_PREFIX = "vector_own_"


@dataclass(frozen=True, order=True)
class OwnIndex:
    user_id: int
    space_id: int

    @property
    def name(self) -> str:
        return f"{_PREFIX}{self.user_id}_{self.space_id}"


@dataclass(frozen=True)
class State:
    """The indexes that users should have, and those that exist; `broken` builds were aborted."""

    wanted: frozenset[OwnIndex]
    built: frozenset[OwnIndex]
    broken: frozenset[OwnIndex]


def dimensions(index: OwnIndex) -> int | None:
    """Return the index's dimensions if it exists and is complete."""
    found = statements.rows(
        "SELECT s.dimensions FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid"
        "  JOIN memories_embeddingspace s ON s.id = %s"
        " WHERE c.relname = %s AND i.indisvalid AND i.indisready",
        [index.space_id, index.name],
    )
    return int(found[0][0]) if found else None


def state(*, at_least: int) -> State:
    """Return the indexes: wanted from `at_least` memories on, and kept down to half as many."""
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
    built = frozenset(_named(name) for name, valid in there if valid)
    counts = {OwnIndex(user, space): count for user, space, count in counted}
    wanted = frozenset(one for one, count in counts.items() if count >= at_least or one in built)
    return State(wanted, built, frozenset(_named(name) for name, valid in there if not valid))


def list_indexes(user_id: int) -> list[OwnIndex]:
    """Return this user's indexes, built or broken."""
    start = f"{_PREFIX}{user_id}_"
    found = statements.rows(
        "SELECT relname FROM pg_class WHERE relkind = 'i' AND starts_with(relname, %s)", [start]
    )
    return [_named(name) for (name,) in found]


def _named(name: str) -> OwnIndex:
    user, space = name.removeprefix(_PREFIX).split("_")
    return OwnIndex(int(user), int(space))


@contextmanager
def as_owner(url: str) -> Iterator[psycopg.Connection[Any]]:
    """Connect as the table's owner, who alone may create an index.

    Autocommit, since the index is built outside a transaction so that writers don't wait for it.
    """
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET maintenance_work_mem = '512MB'")
        yield connection


def build(connection: psycopg.Connection[Any], index: OwnIndex) -> None:
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


def drop(connection: psycopg.Connection[Any], index: OwnIndex) -> None:
    name = sql.Identifier(index.name)
    connection.execute(sql.SQL("DROP INDEX CONCURRENTLY IF EXISTS {}").format(name))
