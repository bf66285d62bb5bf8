"""Delete rows and all rows that depend on them in a single statement.

For each dependent table, Django runs separate statements to read and to delete the rows: fifteen
statements for a single memory. Since the models declare the dependencies, one statement can delete
from all tables. PostgreSQL checks foreign keys at the end of the transaction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db.models import CASCADE, SET_NULL, ForeignObjectRel, Model, QuerySet

from foundation.database import statements


@dataclass
class _Table:
    """A table whose rows are deleted, or whose foreign keys are set to NULL.

    `parents` lists the CASCADE foreign keys to tables whose rows are deleted. `loosened` lists the
    foreign keys that are set to NULL if they point to deleted rows.
    """

    model: type[Model]
    parents: list[tuple[str, type[Model]]] = field(default_factory=list)
    loosened: list[tuple[str, type[Model]]] = field(default_factory=list)


def delete(rows: QuerySet[Any]) -> Counter[str]:
    """Delete rows and the rows that depend on them; return the number of deleted rows by table.

    Raise `TypeError` if a foreign key uses neither CASCADE nor SET_NULL, or if a table depends on
    itself.
    """
    try:
        model: Any = rows.model
        text, values = rows.order_by().values("pk").query.sql_with_params()
    except EmptyResultSet:
        return Counter()
    names, rest = _deletion(model)
    [counts] = statements.rows(f"WITH gone_0 AS MATERIALIZED ({text}), {rest}", values)
    return Counter({name: count for name, count in zip(names, counts, strict=True) if count})


@cache
def _deletion(root: type[Model]) -> tuple[Sequence[str], str]:
    tables = _tables(root)
    numbers = {table.model: number for number, table in enumerate(tables)}
    parts = [
        f"gone_{numbers[table.model]} AS MATERIALIZED (SELECT {_key(table.model)} AS pk"
        f" FROM {_quoted(table.model)} WHERE {_refers_to_any_deleted(table.parents, numbers)})"
        for table in tables[1:]
        if table.parents
    ]
    counted = [table for table in tables if table.model is root or table.parents]
    parts += [
        f"lost_{numbers[table.model]} AS (DELETE FROM {_quoted(table.model)}"
        f" WHERE {_is_in(_key(table.model), numbers[table.model])} RETURNING 1)"
        for table in counted
    ]
    parts += [
        _set_null_update(table, numbers, is_deleted=table in counted)
        for table in tables
        if table.loosened
    ]
    counts = (f"(SELECT count(*) FROM lost_{numbers[table.model]})" for table in counted)
    text = f"{', '.join(parts)} SELECT {', '.join(counts)}"
    return [table.model._meta.db_table for table in counted], text


def _tables(root: type[Model]) -> list[_Table]:
    order: list[type[Model]] = []

    def visit(model: type[Model], above: Sequence[type[Model]]) -> None:
        if model in above:
            raise TypeError(f"{model.__name__} depends on itself.")
        if model in order:
            return
        for _, child, how in _dependents(model):
            if how is CASCADE:
                visit(child, (*above, model))
        order.append(model)

    visit(root, ())
    tables = {model: _Table(model) for model in reversed(order)}
    for model in list(tables):
        for column, child, how in _dependents(model):
            table = tables.setdefault(child, _Table(child))
            (table.parents if how is CASCADE else table.loosened).append((column, model))
    return list(tables.values())


def _dependents(model: type[Model]) -> Iterator[tuple[str, type[Model], Any]]:
    for relation in model._meta.get_fields(include_hidden=True):
        if not isinstance(relation, ForeignObjectRel) or relation.many_to_many:
            continue
        if relation.on_delete not in (CASCADE, SET_NULL):
            raise TypeError(
                f"{relation.related_model} depends on {model.__name__}, but its foreign key uses"
                " neither CASCADE nor SET_NULL."
            )
        column: Any = relation.field
        yield column.column, relation.related_model, relation.on_delete


def _refers_to_any_deleted(
    columns: Sequence[tuple[str, type[Model]]], numbers: dict[type[Model], int]
) -> str:
    return " OR ".join(_refers_to_deleted(name, numbers[parent]) for name, parent in columns)


def _set_null_update(table: _Table, numbers: dict[type[Model], int], *, is_deleted: bool) -> str:
    changes = ", ".join(
        f'"{name}" = CASE WHEN {_refers_to_deleted(name, numbers[parent])}'
        f' THEN NULL ELSE "{name}" END'
        for name, parent in table.loosened
    )
    unless_deleted = (
        f" AND NOT {_is_in(_key(table.model), numbers[table.model])}" if is_deleted else ""
    )
    return (
        f"loose_{numbers[table.model]} AS (UPDATE {_quoted(table.model)} SET {changes}"
        f" WHERE ({_refers_to_any_deleted(table.loosened, numbers)}){unless_deleted})"
    )


def _refers_to_deleted(name: str, number: int) -> str:
    return _is_in(f'"{name}"', number)


def _is_in(column: str, number: int) -> str:
    """Return the condition that the column contains the key of a deleted row.

    The condition uses an array, so that the planner uses the indexes even if several such
    conditions are combined with OR.
    """
    return f"{column} = ANY(ARRAY(SELECT pk FROM gone_{number}))"


def _quoted(model: type[Model]) -> str:
    return f'"{model._meta.db_table}"'


def _key(model: type[Model]) -> str:
    key: Any = model._meta.pk
    return f'"{key.column}"'
