"""What a forget keeps for the scan of the raw files: keyed hashes of windows, and no text.

They outlive the receipt's first line and go with the second. Forgets of about a day share a
random key, so that the files are read once for all of them; a run closes the key that it finds,
and a key goes with the last hashes under it.
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

# A key that is in use can't go before this transaction ends.
_OPEN = "SELECT id, key FROM ops_diskkey WHERE closed_at IS NULL ORDER BY id LIMIT 1 FOR KEY SHARE"
_CLOSE = "UPDATE ops_diskkey SET closed_at = now() WHERE closed_at IS NULL"
_DROP_KEYS = """
DELETE FROM ops_diskkey WHERE id IN (
    SELECT id FROM ops_diskkey one WHERE closed_at IS NOT NULL
       AND NOT EXISTS (SELECT 1 FROM ops_disktrace WHERE key_id = one.id)
       FOR UPDATE SKIP LOCKED)
"""


def keep(operation: Operation, texts: Iterable[str]) -> None:
    """Keep the hashes of these texts, in the transaction that remembers them.

    Nothing is kept where the database's files lie elsewhere: nobody could look there.
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
    # One that erases no text has its files written anew all the same.
    DiskTrace.objects.bulk_create(rows or [DiskTrace(operation=operation, key_id=key_id)])


def close_key() -> None:
    """What is forgotten from now on is kept under a new key."""
    statements.rows(_CLOSE)


def hand_over(operations: QuerySet[Operation], *, to: Operation) -> None:
    """The account goes, and its forgets that failed never end: another looks for their texts."""
    DiskTrace.objects.filter(operation__in=operations).update(operation=to)


def drop(operations: Sequence[int]) -> None:
    """Throw away what was kept for these, and the keys that nothing is kept under any more."""
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


class Sought:
    """What some forgets look for under one key."""

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
        """Whether these are at least half of one text's hashes."""
        found: Words = self.wanted.hashes[numbers]
        for hashes, counts in self._rows:
            if not len(hashes):
                continue
            starts = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.int64)
            held = np.add.reduceat(np.isin(hashes, found).astype(np.int64), starts)
            if (held * 2 >= counts).any():
                return True
        return False


def sought(operations: Sequence[int]) -> list[Sought]:
    """For each key what is kept under it."""
    kept = DiskTrace.objects.filter(operation__in=operations).order_by("key", "pk")
    by_key: dict[bytes, list[DiskTrace]] = {}
    for row in kept.select_related("key"):
        by_key.setdefault(bytes(row.key.key), []).append(row)
    return [Sought(key, rows) for key, rows in by_key.items()]
