"""Words unlike any other, looked for as an outsider would: in a dump of the database, in what the
planner knows of its columns, in Redis, and in every file that isn't the database's own."""

from __future__ import annotations

import base64
import re
import secrets
import subprocess
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import psycopg
import redis

from foundation.embedded.databases import EmbeddedRedis
from foundation.embedded.postgres import EmbeddedPostgres
from tests.live import Product

_LETTERS, _VOWELS = "bdfghklmnprstv", "aeiou"
# Words that can be spoken: what looks like a password is kept out of everything.
_PATTERN = re.compile(rb"qz(?:[bdfghklmnprstv][aeiou]){5}", re.IGNORECASE)
_PACKED = re.compile(rb"[A-Za-z0-9+/_-]{24,}={0,2}")
# Heap, indexes and write-ahead log: what the receipt says of the disk is about them.
_DATABASE_OWN = ("base", "global", "pg_wal")


class Words:
    """Words to plant: each names the surface that it was said through."""

    def __init__(self) -> None:
        self._said: dict[str, str] = {}

    def __call__(self, surface: str) -> str:
        word = "qz" + "".join(secrets.choice(_LETTERS) + secrets.choice(_VOWELS) for _ in range(5))
        self._said[word] = surface
        return word

    def inside(self, text: str) -> set[str]:
        """Those that a text says, by their surfaces."""
        return {self._said[word] for word in _words_in(text.encode()) & self._said.keys()}

    def left(self, product: Product) -> dict[str, set[str]]:
        """Where each of them is, by its surface."""
        found: dict[str, set[str]] = defaultdict(set)
        for place, data in _everything(product):
            for word in _words_in(data) & self._said.keys():
                found[self._said[word]].add(place)
        return dict(found)


def analyze(product: Product) -> None:
    """Let the planner look at every table, as it does by itself every now and then."""
    with _superuser(product) as connection:
        connection.execute("ANALYZE")


def _words_in(data: bytes) -> set[str]:
    """Also inside base 64, compressed or not: sessions and broker messages are written so."""
    found = set(_PATTERN.findall(data))
    for packed in _PACKED.findall(data):
        found |= set(_PATTERN.findall(_unpacked(packed)))
    return {word.lower().decode() for word in found}


def _unpacked(packed: bytes) -> bytes:
    plain = b""
    with suppress(ValueError):
        plain = base64.urlsafe_b64decode(packed + b"=" * (-len(packed) % 4))
    with suppress(zlib.error):
        plain += zlib.decompress(plain)
    return plain


def _everything(product: Product) -> Iterator[tuple[str, bytes]]:
    yield from _dumped(product)
    yield from _planned(product)
    yield from _cached(product)
    yield from _filed(product)


def _dumped(product: Product) -> Iterator[tuple[str, bytes]]:
    """`pg_dump`, table by table."""
    postgres = EmbeddedPostgres(product.folder)
    dump = [str(postgres._place.binaries / "pg_dump"), postgres.url("superuser")]
    done = subprocess.run(dump, capture_output=True, check=True)
    table = "the schema"
    for line in done.stdout.splitlines():
        if line.startswith(b"COPY "):
            table = line.split()[1].decode()
        yield table, line


def _planned(product: Product) -> Iterator[tuple[str, bytes]]:
    """What `ANALYZE` noted, and which statements the database remembers or is running."""
    with _superuser(product) as connection:
        for table, column, row in connection.execute(
            "SELECT tablename, attname, s::text FROM pg_stats s WHERE schemaname = 'public'"
        ):
            yield f"statistics of {table}.{column}", row.encode()
        for (query,) in connection.execute("SELECT query FROM pg_stat_activity"):
            yield "statements", (query or "").encode()


def _superuser(product: Product) -> psycopg.Connection[tuple[str, ...]]:
    return psycopg.connect(EmbeddedPostgres(product.folder).url("superuser"), autocommit=True)


def _cached(product: Product) -> Iterator[tuple[str, bytes]]:
    with redis.Redis.from_url(EmbeddedRedis(product.folder).url()) as client:
        for key in client.scan_iter(count=1_000):
            yield f"redis {key.decode(errors='replace')}", key + (client.dump(key) or b"")
            yield f"redis {key.decode(errors='replace')}", repr(_value(client, key)).encode()


def _value(client: redis.Redis, key: bytes) -> object:
    readers: dict[object, Callable[[], object]] = {
        b"string": lambda: client.get(key),
        b"hash": lambda: client.hgetall(key),
        b"set": lambda: client.smembers(key),
        b"list": lambda: client.lrange(key, 0, -1),
        b"zset": lambda: client.zrange(key, 0, -1),
        b"stream": lambda: client.xrange(key),
    }
    reader = readers.get(client.type(key))  # a key may expire meanwhile
    return reader() if reader else None


def _filed(product: Product) -> Iterator[tuple[str, bytes]]:
    root = product.folder.path
    beside = (root.with_name(f"{root.name}-ledger"), root.with_name("serve.log"))
    for start in (root, product.folder.postgres.resolve(), *beside):
        for path in [start, *start.rglob("*")] if start.exists() else []:
            inside = path.resolve().relative_to(path.resolve().anchor).parts
            own = product.folder.postgres.resolve().parts[1:]
            if inside[: len(own)] == own and {*inside[len(own) :]} & {*_DATABASE_OWN}:
                continue
            if path.is_file():
                yield f"file {path}", path.name.encode() + _read(path)


def _read(path: Path) -> bytes:
    with suppress(OSError):  # it went meanwhile, or is a socket
        return path.read_bytes()
    return b""
