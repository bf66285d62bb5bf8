"""What a forget keeps of what it erases, to look for it afterwards: no text, and not for long."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from memcenter.lib import ids, shingles
from ops.models import ErasedRows, ErasedText, ErasureKey, Operation
from ops.services import leaves
from ops.services.fingerprints import Fingerprints, fingerprint, pieces_of

_AT_ONCE = 2_000


@dataclass(frozen=True)
class Erased:
    """What to look for: texts by their hashes, rows by their keys and public ids."""

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
    """Keep hashes of these texts and the ids of these rows, before they are erased.

    What the texts share with those that rightly stay is no trace of them; an id of ours alone
    is nothing that anybody said, and stays where ids are what rows are for. In the caller's
    transaction; safe to repeat, also when some of it is erased already.
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
    for found in rows:
        _keep_rows(operation, found)


def words_of(rows: QuerySet[Any]) -> Iterator[str]:
    """What people said in these rows: the strings of the columns that the model calls `words`.

    Of lists and JSON only those long enough to be told from anything else.
    """
    columns = getattr(rows.model, "words", ())
    if not columns:
        return
    for row in rows.order_by().values_list(*columns).iterator(chunk_size=_AT_ONCE):
        for value in row:
            if isinstance(value, str):
                yield value
            else:
                yield from filter(is_long, leaves.of(value))


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
    """Throw the keys away, and what was kept under them."""
    for model in (ErasedText, ErasedRows, ErasureKey):
        rows = model._base_manager.filter(operation__in=operations.values("pk"))
        rows._raw_delete(rows.db)


def _key_of(operation: Operation) -> bytes:
    made, _ = ErasureKey.objects.get_or_create(
        operation=operation, defaults={"key": secrets.token_bytes(32)}
    )
    return bytes(made.key)


def _keep_rows(operation: Operation, rows: QuerySet[Any]) -> None:
    names = {column.name for column in rows.model._meta.concrete_fields}
    public = next((name for name in ("public_id", "request_id") if name in names), "pk")
    found = list(rows.order_by().values_list("pk", public))
    kept = ErasedRows.objects.filter(operation=operation, place=rows.model._meta.db_table)
    known = {pk for ids in kept.values_list("row_ids", flat=True) for pk in ids}
    new = [(pk, name) for pk, name in found if pk not in known]
    if new:
        ErasedRows.objects.create(
            operation=operation,
            place=rows.model._meta.db_table,
            row_ids=[pk for pk, _ in new],
            public_ids=[name for _, name in new] if public != "pk" else [],
        )
