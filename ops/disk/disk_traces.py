"""Keyed hashes of erased texts, kept for the scan of the raw files. No text is kept.

The hashes outlive the first line of the receipt and are deleted with the second. Forgets of about a
day share a random key, so that one scan of the files covers all of them. A run closes the key that
it finds. A key is deleted with its last hash.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np
from django.db.models import QuerySet

from memcenter.lib.database import statements
from ops.disk import cluster
from ops.disk.windows import Hasher, Places, Wanted, Words
from ops.models import DiskKey, DiskTrace, Operation

# The key share lock keeps a key in use until this transaction ends.
_OPEN = "SELECT id, key FROM ops_diskkey WHERE closed_at IS NULL ORDER BY id LIMIT 1 FOR KEY SHARE"
_CLOSE = "UPDATE ops_diskkey SET closed_at = now() WHERE closed_at IS NULL"
_DROP_KEYS = """
DELETE FROM ops_diskkey WHERE id IN (
    SELECT id FROM ops_diskkey one WHERE closed_at IS NOT NULL
       AND NOT EXISTS (SELECT 1 FROM ops_disktrace WHERE key_id = one.id)
       FOR UPDATE SKIP LOCKED)
"""


def keep(operation: Operation, texts: Iterable[str]) -> None:
    """Store the hashes of these texts in the caller's transaction.

    Stores nothing if the database's files are on another machine, since they can't be scanned.
    """
    if not cluster.is_here():
        return
    key_id, key = _open_key()
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
    # A forget that erases no text still has its tables rewritten.
    DiskTrace.objects.bulk_create(rows or [DiskTrace(operation=operation, key_id=key_id)])


def close_key() -> None:
    """Close the open key. Later forgets use a new key."""
    statements.rows(_CLOSE)


def hand_over(operations: QuerySet[Operation], *, to: Operation) -> None:
    """Give the hashes of an erased account's failed forgets to another forget."""
    DiskTrace.objects.filter(operation__in=operations).update(operation=to)


def drop(operations: Sequence[int]) -> None:
    """Delete the hashes of these operations, and the keys without hashes."""
    DiskTrace.objects.filter(operation__in=operations).delete()
    statements.rows(_DROP_KEYS)
    _hasher.cache_clear()


def _open_key() -> tuple[int, bytes]:
    found = statements.rows(_OPEN)
    if found:
        return found[0][0], bytes(found[0][1])
    made = DiskKey.objects.create(key=secrets.token_bytes(32))
    return made.pk, bytes(made.key)


@lru_cache(maxsize=2)
def _hasher(key: bytes) -> Hasher:
    return Hasher(key)


class SearchedTexts:
    """The erased texts of some forgets under one key, to be found in raw files."""

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
        """Tell whether these hashes are at least half of one text's hashes."""
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
    """Return the hashes of these operations, grouped by key."""
    kept = DiskTrace.objects.filter(operation__in=operations).order_by("key", "pk")
    by_key: dict[bytes, list[DiskTrace]] = {}
    for row in kept.select_related("key"):
        by_key.setdefault(bytes(row.key.key), []).append(row)
    return [SearchedTexts(key, rows) for key, rows in by_key.items()]
