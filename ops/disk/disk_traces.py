"""Store hashes of erased texts for the scan of the database's raw files, but not the texts.

The hashes are kept after the receipt is issued, until it is recorded that the texts are gone from
the disk. The forget operations of about a day share a random key, so that one scan of the files
serves them all. The scan closes this key, and later operations use a new key. A key is deleted
together with its last hash.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np
from django.db.models import QuerySet

from foundation.database import statements
from ops.disk import cluster
from ops.disk.substring_hashes import Hasher, HashSearch, Places, Words
from ops.models import DiskKey, DiskTrace, Operation

# The lock prevents the deletion of the key until this transaction ends.
_OPEN_KEY = (
    "SELECT id, key FROM ops_diskkey WHERE closed_at IS NULL ORDER BY id LIMIT 1 FOR KEY SHARE"
)
_CLOSE_KEY = "UPDATE ops_diskkey SET closed_at = now() WHERE closed_at IS NULL"
_DROP_KEYS = """
DELETE FROM ops_diskkey WHERE id IN (
    SELECT id FROM ops_diskkey one WHERE closed_at IS NOT NULL
       AND NOT EXISTS (SELECT 1 FROM ops_disktrace WHERE key_id = one.id)
       FOR UPDATE SKIP LOCKED)
"""


def store_hashes(operation: Operation, texts: Iterable[str]) -> None:
    """Store hashes of these texts for the scan of the raw files.

    The hashes are stored in the caller's transaction. Nothing is stored if the database's files
    aren't in the data folder, since they can't be scanned.
    """
    if not cluster.is_cluster_local():
        return
    key_id, key = _open_key()
    rows = [
        DiskTrace(
            operation=operation,
            key_id=key_id,
            hashes=windows.hashes.astype("<u8").tobytes(),
            counts=windows.counts.astype("<u4").tobytes(),
            lengths=list(windows.lengths),
            left_out=windows.left_out,
        )
        for windows in _hasher(key).window_hashes(texts)
    ]
    # Without texts, store an empty row, so that the tables of this operation are rewritten too.
    DiskTrace.objects.bulk_create(rows or [DiskTrace(operation=operation, key_id=key_id)])


def close_key() -> None:
    """Close the current key, so that later operations use a new one."""
    statements.rows(_CLOSE_KEY)


def reassign_hashes(operations: QuerySet[Operation], *, to: Operation) -> None:
    """Assign the hashes stored for these operations to another operation.

    Used when an account is erased, for its forget operations that have no receipt.
    """
    DiskTrace.objects.filter(operation__in=operations).update(operation=to)


def delete_hashes(operations: Sequence[int]) -> None:
    """Delete the hashes of these operations, and closed keys that have no hashes left."""
    DiskTrace.objects.filter(operation__in=operations).delete()
    statements.rows(_DROP_KEYS)
    _hasher.cache_clear()


def _open_key() -> tuple[int, bytes]:
    found = statements.rows(_OPEN_KEY)
    if found:
        return found[0][0], bytes(found[0][1])
    made = DiskKey.objects.create(key=secrets.token_bytes(32))
    return made.pk, bytes(made.key)


@lru_cache(maxsize=2)
def _hasher(key: bytes) -> Hasher:
    return Hasher(key)


class SearchedTexts:
    """The hashes stored under one key, prepared for the scan of the raw files."""

    def __init__(self, key: bytes, rows: Sequence[DiskTrace]) -> None:
        self._rows = [
            (np.frombuffer(row.hashes, dtype="<u8"), np.frombuffer(row.counts, dtype="<u4"))
            for row in rows
        ]
        flat = [hashes for hashes, _ in self._rows] or [np.empty(0, dtype="<u8")]
        lengths = {length for row in rows for length in row.lengths}
        self.wanted = HashSearch(_hasher(key), np.concatenate(flat).astype(np.uint64), lengths)
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
