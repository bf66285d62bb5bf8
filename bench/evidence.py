"""Collects details about words that were left over or lost, for the report of a failed run."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bench.planted import Store

_WORD = re.compile("qx[b-v]{3}w[b-v]{3}")
_OPERATIONS = (
    "SELECT o.public_id, o.kind, o.status, o.payload, o.created_at, o.finished_at,"
    " (SELECT json_agg(json_build_array(a.number, a.outcome, a.error, a.started_at))"
    " FROM ops_attempt a WHERE a.operation_id = o.id)"
    " FROM ops_operation o WHERE o.subject IN (SELECT subject FROM ops_user WHERE id = %s)"
    " ORDER BY o.id"
)


def of(store: Store, wrong: dict[str, list[str]]) -> Iterator[str]:
    """Yield the rows that contain the first words in `wrong`, then their users' operations.

    `wrong` maps each check to its failures. Every item is a line of the report.
    """
    words = sorted(
        {word for texts in wrong.values() for text in texts for word in _WORD.findall(text)}
    )
    people: set[int] = set()
    for word in words[:5]:
        for table in store.tables():
            for (row,) in store.rows(
                f'SELECT to_jsonb(t) FROM "{table}" t WHERE lower(t::text) LIKE %s', f"%{word}%"
            ):
                if isinstance(row, dict):
                    people |= {row["user_id"]} if row.get("user_id") else set()
                    row.pop("embedding", None)
                yield f"{word} {table} {str(row)[:1500]}"
    for user in people:
        for row in store.rows(_OPERATIONS, user):
            yield " ".join(map(str, row))
