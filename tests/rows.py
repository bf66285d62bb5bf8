"""Comparing what one person has before and after, row by row."""

from __future__ import annotations

from typing import Any

from django.apps import apps
from django.db import connection
from django.db.models import Model

from ops.models import User

Rows = dict[str, list[dict[str, Any]]]


def personal_models() -> list[type[Model]]:
    return [model for model in apps.get_models() if getattr(model, "personal_data", False)]


def rows_of(user: User) -> Rows:
    """Every personal row of a person, hidden ones too. Asked in plain SQL: it is asked often."""
    found: Rows = {}
    with connection.cursor() as cursor:
        for model in personal_models():
            table, own = model._meta.db_table, "id" if model is User else "user_id"
            key = model._meta.pk.column
            cursor.execute(f"SELECT * FROM {table} WHERE {own} = %s ORDER BY {key}", [user.pk])
            names = [column.name for column in cursor.description or ()]
            rows = (dict(zip(names, row, strict=True)) for row in cursor.fetchall())
            found[table] = [_comparable(row) for row in rows]
    return found


def tables_of(user: User) -> set[str]:
    """The tables in which a person has any row."""
    return {table for table, rows in rows_of(user).items() if rows}


def _comparable(row: dict[str, Any]) -> dict[str, Any]:
    return {name: str(value) if name == "embedding" else value for name, value in row.items()}
