"""Looking for a text wherever a running product could have put it."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import redis
from psycopg import sql

from foundation.embedded.databases import EmbeddedRedis
from foundation.embedded.postgres import EmbeddedPostgres
from tests.live import Product


def places_holding(product: Product, text: str) -> set[str]:
    """Tables, keys of the cache and files (logs too), except the database's own files."""
    return {*_tables(product, text), *_keys(product, text), *_files(product, text)}


def _tables(product: Product, text: str) -> Iterator[str]:
    url = EmbeddedPostgres(product.folder).url("app")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET ROLE memcenter_system")  # sees every row, whoever's it is
        names = connection.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
        ).fetchall()
        assert len(names) > 20
        for (name,) in names:
            query = sql.SQL("SELECT count(*) FROM {} row WHERE strpos(row::text, %s) > 0")
            row = connection.execute(query.format(sql.Identifier(name)), [text]).fetchone()
            if row and row[0]:
                yield str(name)


def _keys(product: Product, text: str) -> Iterator[str]:
    with redis.Redis.from_url(EmbeddedRedis(product.folder).url()) as client:
        for key in client.scan_iter():
            if client.type(key) == b"string" and text.encode() in (client.get(key) or b""):
                yield f"redis {key.decode()}"


def _files(product: Product, text: str) -> Iterator[str]:
    folder = product.folder
    for path in folder.path.rglob("*"):
        ours = not path.is_relative_to(folder.postgres) and not path.is_relative_to(folder.static)
        if ours and path.is_file() and text.encode() in path.read_bytes():
            yield str(path.relative_to(folder.path))
