"""Unique words, and the search for them in every table, Redis key and file of an instance."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import cast

import psycopg
import redis
from psycopg import sql

from foundation.embedded.databases import EmbeddedRedis
from foundation.embedded.folder import DataFolder
from foundation.embedded.postgres import EmbeddedPostgres

_LETTERS = "bcdfghjklmnprstv"


def word(run: int, number: int) -> str:
    """Return a unique word that every segmenter treats as one word."""
    return f"qx{_spelled(run, 3)}w{_spelled(number, 3)}"


def _spelled(number: int, length: int) -> str:
    return "".join(_LETTERS[number // 16**at % 16] for at in reversed(range(length)))


class Store:
    """Direct access to the data of a running product. Reconnects after PostgreSQL restarts."""

    def __init__(self, folder: DataFolder) -> None:
        self._folder = folder
        self._connection: psycopg.Connection[tuple[object, ...]] | None = None

    def rows(self, query: str, *values: object) -> list[tuple[object, ...]]:
        try:
            found = self._open().execute(query.encode(), values or None)
        except psycopg.OperationalError:
            self._connection = None
            found = self._open().execute(query.encode(), values or None)
        return found.fetchall() if found.description else []

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()

    def _open(self) -> psycopg.Connection[tuple[object, ...]]:
        if self._connection is None or self._connection.closed:
            url = EmbeddedPostgres(self._folder).url("app")
            self._connection = psycopg.connect(url, autocommit=True)
            self._connection.execute("SET ROLE memcenter_system")
        return self._connection

    def places(self, run: int | None = None) -> dict[str, set[str]]:
        """Return the places of each planted word, of one run or of all runs."""
        pattern = f"qx{'[b-v]{3}' if run is None else _spelled(run, 3)}w[b-v]{{3}}"
        found: dict[str, set[str]] = defaultdict(set)
        for place, word_ in (*self._tables(pattern), *self._keys(pattern), *self._files(pattern)):
            found[word_].add(place)
        return found

    def tables(self) -> list[str]:
        names = self.rows("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1")
        return [str(name) for (name,) in names]

    def fingerprint(self, users: list[int]) -> dict[str, str]:
        """Return a hash of all rows of these users, by table."""
        owned = self.rows(
            "SELECT c.table_name FROM information_schema.columns c JOIN pg_tables t"
            " ON t.tablename = c.table_name AND t.schemaname = 'public'"
            " WHERE c.table_schema = 'public' AND c.column_name = 'user_id' ORDER BY 1"
        )
        wanted = {str(name): ("user_id", list[object](users)) for (name,) in owned}
        people = self.rows("SELECT subject FROM ops_user WHERE id = ANY(%s)", users)
        subjects = [subject for (subject,) in people]
        for name in ("ops_operation", "ops_receipt", "ops_auditevent"):
            wanted[name] = ("subject", subjects)
        return {name: self._hash(name, *where) for name, where in wanted.items()}

    def _hash(self, table: str, column: str, values: list[object]) -> str:
        rows = self.rows(
            f'SELECT t::text FROM "{table}" t WHERE {column} = ANY(%s) ORDER BY 1', values
        )
        return hashlib.sha256(repr(rows).encode()).hexdigest()

    def _tables(self, pattern: str) -> Iterator[tuple[str, str]]:
        for name, columns in self._wordy():
            query = sql.SQL(
                "SELECT DISTINCT found[1] FROM {} t,"
                " LATERAL regexp_matches(lower(concat_ws(' ', {})), {}, 'g') found"
            ).format(
                sql.Identifier(name),
                sql.SQL(", ").join(map(sql.Identifier, columns)),
                sql.Literal(f"({pattern})"),
            )
            for (word_,) in self.rows(query.as_string(None)):
                yield name, str(word_)

    def _wordy(self) -> list[tuple[str, list[str]]]:
        """Return all columns by table, except those whose type can't hold words."""
        rows = self.rows(
            "SELECT table_name, array_agg(column_name::text) FROM information_schema.columns"
            " JOIN pg_tables ON tablename = table_name AND schemaname = table_schema"
            " WHERE table_schema = 'public' AND udt_name NOT IN ('halfvec', 'int2', 'int4', 'int8',"
            " 'bool', 'timestamptz', 'float8', 'uuid') GROUP BY 1"
        )
        return [(str(name), list(cast("list[str]", columns))) for name, columns in rows]

    def _keys(self, pattern: str) -> Iterator[tuple[str, str]]:
        with redis.Redis.from_url(EmbeddedRedis(self._folder).url()) as client:
            for key in client.scan_iter(count=1_000):
                held = repr(key) + _value(client, key)
                for word_ in re.findall(pattern, held):
                    yield f"redis {key.decode(errors='replace')[:40]}", word_

    def _files(self, pattern: str) -> Iterator[tuple[str, str]]:
        outside = (self._folder.postgres, self._folder.static)
        for path in self._folder.path.rglob("*"):
            if path.is_file() and not any(path.is_relative_to(one) for one in outside):
                for one in re.findall(
                    pattern.encode(), str(path.name).encode() + path.read_bytes()
                ):
                    yield f"file {path.relative_to(self._folder.path)}", one.decode()


def _value(client: redis.Redis, key: bytes) -> str:
    readers: dict[object, Callable[[], object]] = {
        b"string": lambda: client.get(key),
        b"list": lambda: client.lrange(key, 0, -1),
        b"hash": lambda: client.hgetall(key),
        b"set": lambda: client.smembers(key),
        b"zset": lambda: client.zrange(key, 0, -1),
        b"stream": lambda: client.xrange(key),
    }
    reader = readers.get(client.type(key))  # None if the key has expired
    return repr(reader()) if reader else ""
