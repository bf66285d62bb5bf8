"""Scan the raw bytes of the files in the data folder for forgotten texts.

Texts are compared by the hashes of short windows (substrings). A window that also occurs in a
remaining row proves nothing, so the texts of all remaining rows are read if any file contains a
known window. In the files of the database, any other matching window is a finding. Other files of
the folder contain people's texts only in full, so such a file is a finding only if at least half of
the windows of one text match.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
from django.conf import settings
from psycopg import sql

from ops.disk import cluster
from ops.disk.disk_traces import SearchedTexts
from ops.disk.substring_hashes import AT_ONCE, Places, reduce_text
from ops.residue import stores

_CHUNK = AT_ONCE
_OVERLAP = 1_024
_NOTHING = b"\0" * _CHUNK
_ROWS = 500
_SKIPPED = ("static", "run")  # public files and sockets
_TABLES = """
SELECT n.nspname, c.relname,
       array_agg(a.attname ORDER BY a.attnum) FILTER (WHERE t.typname = ANY(%s))
  FROM pg_class c
  JOIN pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  JOIN pg_type t ON t.oid = a.atttypid
 WHERE c.relkind = 'r' AND n.nspname IN ('public', 'pg_catalog')
   AND has_table_privilege(c.oid, 'SELECT')
 GROUP BY 1, 2 ORDER BY 1, 2
"""
_TEXTUAL = ("text", "varchar", "bpchar", "name", "json", "jsonb", "_text", "_varchar", "_jsonb")
Progress = Callable[[int, int], object]
_OWN = tuple(
    f"{cluster.FOLDER}/{name}" for name in ("base/", "global/", "postgresql", "pg_hba", "pg_ident")
)


@dataclass(frozen=True)
class File:
    """A file, named by its path below the data folder.

    `is_own` is True for PostgreSQL's own files, such as its templates, which never contain people's
    data. `is_outside` is True for files that don't belong to the database.
    """

    path: Path
    name: str
    is_own: bool
    is_outside: bool


@dataclass
class ScanResult:
    """The number of scanned files and bytes, and the files that contain a forgotten text."""

    files: int = 0
    bytes: int = 0
    found: list[str] = field(default_factory=list)

    def summary(self) -> dict[str, int]:
        """Return the numbers that the receipt shows."""
        return {"files": self.files, "bytes": self.bytes, "found": len(self.found)}


def files() -> list[File]:
    """Return the files in the data folder, including those of the database, sorted by name.

    Public files and sockets (`_SKIPPED`) are left out.
    """
    root = Path(settings.DATA_DIR)
    found = [
        _file(path, f"{top.name}/{path.relative_to(top.resolve())}")
        for top in root.iterdir()
        if top.name not in _SKIPPED and top.is_dir()
        for path in top.resolve().rglob("*")
        if path.is_file()
    ]
    found += [_file(path, path.name) for path in root.iterdir() if path.is_file()]
    return sorted(found, key=lambda file: file.name)


def size_of(found: Iterable[File]) -> int:
    return sum(_size(file.path) for file in found)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _file(path: Path, name: str) -> File:
    is_outside = not name.startswith(f"{cluster.FOLDER}/")
    own_folder = f"{cluster.FOLDER}/base/{cluster.database_number()}/"
    holds_rows = name.startswith((own_folder, f"{cluster.FOLDER}/base/{cluster.TEMPORARY}/"))
    is_own = not is_outside and not holds_rows and name.startswith(_OWN)
    return File(path, name, is_own, is_outside)


def scan_files(searched: Sequence[SearchedTexts], *, progress: Progress) -> ScanResult:
    """Scan all files for these texts. Don't call it inside a transaction."""
    every = files()
    total = size_of(every)
    result = ScanResult(files=len(every), bytes=total)
    explained = [_none() for _ in searched]
    suspects: dict[File, list[Places]] = {}
    done = 0
    for file in every:
        progress(done, total)
        hits = [_none() for _ in searched]
        for text in _texts(file):
            progress(done, total)
            _add(hits, searched, text, short=not file.is_outside)
        done += _size(file.path)
        if file.is_own:
            explained = _together(explained, hits)
        elif any(hit.size for hit in hits):
            suspects[file] = hits
    if suspects:
        explained = _together(
            explained, _hashes_in_rows(searched, then=lambda: progress(done, total))
        )
        result.found = _remaining_files(searched, suspects, explained)
    return result


def _remaining_files(
    searched: Sequence[SearchedTexts],
    suspects: Mapping[File, list[Places]],
    explained: list[Places],
) -> list[str]:
    found = []
    for file, hits in suspects.items():
        for texts, numbers, known in zip(searched, hits, explained, strict=True):
            left = np.setdiff1d(numbers, known)
            if left.size and (not file.is_outside or texts.holds_a_text(left)):
                found.append(file.name)
                break
    return found


def _add(hits: list[Places], searched: Sequence[SearchedTexts], text: str, *, short: bool) -> None:
    if not text:
        return
    reduced = reduce_text(text, shortest=min(texts.wanted.shortest for texts in searched))
    for number, texts in enumerate(searched):
        found = texts.wanted.within(reduced, short=short)
        if found.size:
            hits[number] = np.union1d(hits[number], found)


def _none() -> Places:
    return np.empty(0, dtype=np.int64)


def _together(some: Iterable[Places], others: Iterable[Places]) -> list[Places]:
    return [np.union1d(first, other) for first, other in zip(some, others, strict=True)]


def _texts(file: File) -> Iterator[str]:
    try:
        if file.is_outside:
            for strings in stores.read_parts(file.path, stores.read_lines):
                yield from _parts_of(" ".join(strings))
        else:
            yield from _raw(file.path)
    except FileNotFoundError:
        return  # the file was deleted in the meantime


def _raw(path: Path) -> Iterator[str]:
    with path.open("rb", buffering=0) as file:
        end = b""
        while chunk := file.read(_CHUNK - _OVERLAP):
            if chunk == _NOTHING[: len(chunk)]:
                end = b""
                continue
            yield (end + chunk).decode("utf-8", errors="replace")
            end = chunk[-_OVERLAP:]


def _hashes_in_rows(
    searched: Sequence[SearchedTexts], *, then: Callable[[], object]
) -> list[Places]:
    """Return the indexes of hashes that occur in anybody's remaining rows or in system catalogues.

    The result contains one array for each item of `searched`. `then` is called once for each text
    that was read, to report progress.
    """
    hits = [_none() for _ in searched]
    with cluster.outside_transactions() as own, own.transaction():
        own.execute(sql.SQL("SET LOCAL ROLE {}").format(sql.Identifier(settings.SYSTEM_ROLE)))
        for schema, table, columns in own.execute(_TABLES, [list(_TEXTUAL)]).fetchall():
            for text in _rows_of(own, schema, table, columns or []):
                then()
                _add(hits, searched, text, short=True)
    return hits


def _rows_of(
    own: psycopg.Connection[Any], schema: str, table: str, columns: Sequence[str]
) -> Iterator[str]:
    whole: sql.Composable = sql.SQL("one::text")  # system catalogues have special types
    named = sql.SQL(", ").join(map(sql.Identifier, columns))
    wanted = named if schema == "public" else whole
    statement = sql.SQL("SELECT {} FROM {} one").format(wanted, sql.Identifier(schema, table))
    batch: list[str] = []
    size = 0
    with own.cursor(name="rows") as cursor:
        cursor.itersize = _ROWS
        for row in cursor.execute(statement):
            text = " ".join(_strings(row))
            batch.append(text)
            size += len(text) + 1
            if size >= AT_ONCE:
                yield from _parts_of("\0".join(batch))
                batch, size = [], 0
    yield from _parts_of("\0".join(batch))


def _strings(value: Any) -> Iterator[str]:
    """Yield each string in a value, which may be a string, a list or an object from JSON.

    A string that contains JSON is yielded unchanged, since the disk contains it like that.
    """
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield name
            yield from _strings(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _strings(item)


def _parts_of(text: str) -> Iterator[str]:
    for start in range(0, len(text), AT_ONCE - _OVERLAP):
        yield text[start : start + AT_ONCE]
