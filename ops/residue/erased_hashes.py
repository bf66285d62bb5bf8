"""Store hashes and ids of erased rows for later scans, but none of their text.

Two sets of hashes are stored: one for the scan of all stores, and one for the scan of the
database's raw files. The second set outlives the receipt, and is deleted when it is recorded that
the texts are gone from the disk. The forget operations of about a day share a random key for the
second set, so that one scan of the files serves them all. The scan closes this key, and later
operations use a new key. A key is deleted together with its last hash.
"""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from django.db.models import QuerySet, TextField, Value
from django.db.models.functions import Cast
from django.utils import timezone

from memcenter.lib import ids
from memcenter.lib.database import statements
from memcenter.lib.text import shingles
from ops.disk import cluster
from ops.disk.windows import Hasher, Places, Wanted, Words
from ops.models import DiskKey, DiskTrace, ErasedRows, ErasedText, ErasureKey, Operation
from ops.residue import fingerprints
from ops.residue.fingerprints import Fingerprints, fingerprint, pieces_of

_AT_ONCE = 2_000
_KEY = """
WITH made AS (
    INSERT INTO ops_erasurekey (operation_id, key, created_at) VALUES (%s, %s, %s)
    ON CONFLICT DO NOTHING RETURNING key)
SELECT key FROM made UNION ALL SELECT key FROM ops_erasurekey WHERE operation_id = %s
"""
_DROP = """
WITH texts AS (DELETE FROM ops_erasedtext WHERE operation_id = ANY(%(all)s::bigint[])),
     rows AS (DELETE FROM ops_erasedrows WHERE operation_id = ANY(%(all)s::bigint[]))
DELETE FROM ops_erasurekey WHERE operation_id = ANY(%(all)s::bigint[])
"""
_LEAVE_OUT = """
UPDATE ops_erasedtext
   SET hashes = ARRAY(SELECT unnest(hashes) EXCEPT SELECT unnest(%(found)s::bigint[]) ORDER BY 1)
 WHERE operation_id = %(operation)s AND hashes && %(found)s::bigint[]
"""
# The lock prevents the deletion of the key until this transaction ends.
_OPEN_DISK_KEY = (
    "SELECT id, key FROM ops_diskkey WHERE closed_at IS NULL ORDER BY id LIMIT 1 FOR KEY SHARE"
)
_CLOSE_DISK_KEY = "UPDATE ops_diskkey SET closed_at = now() WHERE closed_at IS NULL"
_DROP_DISK_KEYS = """
DELETE FROM ops_diskkey WHERE id IN (
    SELECT id FROM ops_diskkey one WHERE closed_at IS NOT NULL
       AND NOT EXISTS (SELECT 1 FROM ops_disktrace WHERE key_id = one.id)
       FOR UPDATE SKIP LOCKED)
"""


@dataclass(frozen=True)
class Erased:
    """Hashes of erased texts, and primary keys and public ids of erased rows, for a scan."""

    texts: Fingerprints
    row_ids: Mapping[str, Collection[int]]
    public_ids: Collection[str]


def remember(
    operation: Operation,
    *,
    texts: Iterable[str] = (),
    rows: Iterable[QuerySet[Any]] = (),
    staying: Iterable[str] = (),
) -> None:
    """Store hashes of these texts and ids of these rows, before they are erased.

    `staying` are texts that remain; pieces of text that occur in them aren't hashed. The hashes are
    stored in the caller's transaction. Safe to repeat, even if some rows have already been erased.
    """
    key = _key_of(operation)
    without = pieces_of(staying)
    seen: set[str] = set()
    batch: list[ErasedText] = []
    for text in texts:
        if (
            text in seen
            or ids.is_one(text)
            or (made := fingerprint(text, key=key, without=without)) is None
        ):
            continue
        seen.add(text)
        batch.append(
            ErasedText(operation=operation, digest=made.digest, size=made.size, hashes=made.hashes)
        )
        if len(batch) == _AT_ONCE:
            ErasedText.objects.bulk_create(batch, ignore_conflicts=True)
            batch = []
    ErasedText.objects.bulk_create(batch, ignore_conflicts=True)
    keep_disk_traces(operation, seen)
    _keep_rows(operation, rows)


def leave_out(operation: Operation, texts: Iterable[str]) -> None:
    """Delete the stored hashes that also occur in these remaining texts.

    A retry of a failed operation calls this too, so hashes of an earlier attempt are also deleted.
    """
    known = erased_by(operation).texts
    found = {int(one) for text in (texts if len(known) else ()) for one in known.within([text])}
    if found:
        statements.rows(_LEAVE_OUT, {"operation": operation.pk, "found": sorted(found)})
        ErasedText.objects.filter(operation=operation, hashes__len=0).delete()


def words_of(rows: QuerySet[Any]) -> Iterator[str]:
    """Yield the texts in these rows: the strings in the columns that the model lists as `words`.

    Strings in lists and JSON are yielded only if they are long enough to be distinctive.
    """
    columns = getattr(rows.model, "words", ())
    if not columns:
        return
    for row in rows.order_by().values_list(*columns).iterator(chunk_size=_AT_ONCE):
        for value in row:
            if isinstance(value, str):
                yield value
            else:
                yield from filter(is_long, fingerprints.strings_in(value))


def is_long(text: str) -> bool:
    plain = shingles.normalise(text)
    return len(plain) >= shingles.size_for(plain)


def erased_by(operation: Operation) -> Erased:
    key = ErasureKey.objects.filter(operation=operation).values_list("key", flat=True).first()
    texts = ErasedText.objects.filter(operation=operation).order_by("pk")
    row_ids: dict[str, set[int]] = {}
    public_ids: set[str] = set()
    for rows in ErasedRows.objects.filter(operation=operation):
        row_ids.setdefault(rows.place, set()).update(rows.row_ids)
        public_ids.update(rows.public_ids)
    prints = texts.values_list("size", "hashes").iterator(chunk_size=_AT_ONCE)
    return Erased(Fingerprints(bytes(key or b""), prints), row_ids, public_ids)


def drop(operations: QuerySet[Operation]) -> None:
    """Delete the hashes, ids and keys stored for these operations."""
    statements.rows(_DROP, {"all": list(operations.values_list("pk", flat=True))})


def _key_of(operation: Operation) -> bytes:
    given = [operation.pk, secrets.token_bytes(32), timezone.now(), operation.pk]
    [(made,)] = statements.rows(_KEY, given)
    return bytes(made)


def _keep_rows(operation: Operation, rows: Iterable[QuerySet[Any]]) -> None:
    known: dict[str, set[int]] = defaultdict(set)
    kept = ErasedRows.objects.filter(operation=operation)
    for place, row_ids in kept.values_list("place", "row_ids"):
        known[place].update(row_ids)
    new: dict[str, dict[int, str]] = defaultdict(dict)
    for place, pk, name in _named(rows):
        if pk not in known[place]:
            new[place][pk] = name
    made = [
        ErasedRows(
            operation=operation,
            place=place,
            row_ids=list(named),
            public_ids=list(filter(None, named.values())),
        )
        for place, named in new.items()
    ]
    if made:
        statements.insert(made)


def _named(rows: Iterable[QuerySet[Any]]) -> Iterator[tuple[str, int, str]]:
    parts = []
    for found in rows:
        names = {column.name for column in found.model._meta.concrete_fields}
        public = next((name for name in ("public_id", "request_id") if name in names), None)
        public_value = Cast(public, TextField()) if public else Value("", TextField())
        table = Value(found.model._meta.db_table, TextField())
        parts.append(found.order_by().values_list(table, "pk", public_value))
    if parts:
        first, *more = parts
        yield from first.union(*more, all=True) if more else first


def keep_disk_traces(operation: Operation, texts: Iterable[str]) -> None:
    """Store hashes of these texts for the scan of the raw files.

    The hashes are stored in the caller's transaction. Nothing is stored if the database's files
    aren't in the data folder, since they can't be scanned.
    """
    if not cluster.is_here():
        return
    key_id, key = _open_disk_key()
    rows = [
        DiskTrace(
            operation=operation,
            key_id=key_id,
            hashes=cut.hashes.astype("<u8").tobytes(),
            counts=cut.counts.astype("<u4").tobytes(),
            lengths=list(cut.lengths),
            left_out=cut.left_out,
        )
        for cut in _hasher(key).cut(texts)
    ]
    # Without texts, store an empty row, so that the tables of this operation are rewritten too.
    DiskTrace.objects.bulk_create(rows or [DiskTrace(operation=operation, key_id=key_id)])


def close_disk_key() -> None:
    """Stop using the current key for the scan of raw files; later operations get a new key."""
    statements.rows(_CLOSE_DISK_KEY)


def hand_over_disk_traces(operations: QuerySet[Operation], *, to: Operation) -> None:
    """Assign the hashes stored for these operations to another operation.

    Used when an account is erased, for its forget operations that have no receipt.
    """
    DiskTrace.objects.filter(operation__in=operations).update(operation=to)


def drop_disk_traces(operations: Sequence[int]) -> None:
    """Delete the hashes of these operations, and retired hashing keys without any hashes."""
    DiskTrace.objects.filter(operation__in=operations).delete()
    statements.rows(_DROP_DISK_KEYS)
    _hasher.cache_clear()


def _open_disk_key() -> tuple[int, bytes]:
    found = statements.rows(_OPEN_DISK_KEY)
    if found:
        return found[0][0], bytes(found[0][1])
    made = DiskKey.objects.create(key=secrets.token_bytes(32))
    return made.pk, bytes(made.key)


@lru_cache(maxsize=2)
def _hasher(key: bytes) -> Hasher:
    return Hasher(key)


class SearchedTexts:
    """The hashes stored under one key, as the scan of the raw files searches for them."""

    def __init__(self, key: bytes, rows: Sequence[DiskTrace]) -> None:
        self._rows = [
            (np.frombuffer(row.hashes, dtype="<u8"), np.frombuffer(row.counts, dtype="<u4"))
            for row in rows
        ]
        flat = [hashes for hashes, _ in self._rows] or [np.empty(0, dtype="<u8")]
        lengths = {length for row in rows for length in row.lengths}
        self.wanted = Wanted(_hasher(key), np.concatenate(flat).astype(np.uint64), lengths)
        self.texts = sum(len(counts) for _, counts in self._rows)
        self.left_out = sum(row.left_out for row in rows)

    def holds_a_text(self, numbers: Places) -> bool:
        """Return whether at least half of the hashes of some text were found.

        `numbers` are the positions of the found hashes in `wanted.hashes`.
        """
        found: Words = self.wanted.hashes[numbers]
        for hashes, counts in self._rows:
            if not len(hashes):
                continue
            starts = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.int64)
            held = np.add.reduceat(np.isin(hashes, found).astype(np.int64), starts)
            if (held * 2 >= counts).any():
                return True
        return False


def list_searched(operations: Sequence[int]) -> list[SearchedTexts]:
    """Return the hashes stored for these operations, grouped by key."""
    kept = DiskTrace.objects.filter(operation__in=operations).order_by("key", "pk")
    by_key: dict[bytes, list[DiskTrace]] = {}
    for row in kept.select_related("key"):
        by_key.setdefault(bytes(row.key.key), []).append(row)
    return [SearchedTexts(key, rows) for key, rows in by_key.items()]
