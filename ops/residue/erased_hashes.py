"""Store hashes and ids of erased rows for the scan of all stores, but not their texts."""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet, TextField, Value
from django.db.models.functions import Cast
from django.utils import timezone

from foundation import ids
from foundation.database import statements
from foundation.text import shingles
from ops.models import ErasedRows, ErasedText, ErasureKey, Operation
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


@dataclass(frozen=True)
class Erased:
    """Hashes of erased texts, and primary keys and public ids of erased rows, for a scan."""

    texts: Fingerprints
    row_ids: Mapping[str, Collection[int]]
    public_ids: Collection[str]


def store_hashes(
    operation: Operation,
    *,
    texts: Iterable[str] = (),
    rows: Iterable[QuerySet[Any]] = (),
    staying: Iterable[str] = (),
) -> set[str]:
    """Store hashes of these texts and ids of these rows, before they are erased.

    `staying` are texts that remain; pieces of text that occur in them aren't hashed. The hashes are
    stored in the caller's transaction. Return the texts that were hashed. Safe to repeat, even if
    some rows have already been erased.
    """
    key = _key_of(operation)
    without = pieces_of(staying)
    seen: set[str] = set()
    batch: list[ErasedText] = []
    for text in texts:
        if (
            text in seen
            or ids.is_public_id(text)
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
    _keep_rows(operation, rows)
    return seen


def delete_shared_hashes(operation: Operation, texts: Iterable[str]) -> None:
    """Delete the stored hashes that also occur in these remaining texts.

    A retry of a failed operation calls this function again, which also deletes such hashes of the
    earlier attempt.
    """
    known = erased_hashes_of(operation).texts
    found = {int(one) for text in (texts if len(known) else ()) for one in known.within([text])}
    if found:
        statements.rows(_LEAVE_OUT, {"operation": operation.pk, "found": sorted(found)})
        ErasedText.objects.filter(operation=operation, hashes__len=0).delete()


def texts_in_rows(rows: QuerySet[Any]) -> Iterator[str]:
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


def erased_hashes_of(operation: Operation) -> Erased:
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
    values = [operation.pk, secrets.token_bytes(32), timezone.now(), operation.pk]
    [(made,)] = statements.rows(_KEY, values)
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
