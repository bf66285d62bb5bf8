"""Comparing what one person has before and after, row by row."""

from __future__ import annotations

from typing import Any

from django.apps import apps
from django.db.models import Model

from ops.models import User

Rows = dict[str, list[dict[str, Any]]]


def personal_models() -> list[type[Model]]:
    return [model for model in apps.get_models() if getattr(model, "personal_data", False)]


def rows_of(user: User) -> Rows:
    """Every personal row of a person, hidden ones too."""
    found: Rows = {"ops_user": [dict(row) for row in User.objects.filter(pk=user.pk).values()]}
    for model in personal_models():
        if model is not User:
            rows = model._base_manager.filter(user_id=user.pk).order_by("pk")
            found[model._meta.db_table] = [_comparable(row) for row in rows.values()]
    return found


def tables_of(user: User) -> set[str]:
    """The tables in which a person has any row."""
    return {table for table, rows in rows_of(user).items() if rows}


def _comparable(row: dict[str, Any]) -> dict[str, Any]:
    return {name: str(value) if name == "embedding" else value for name, value in row.items()}
