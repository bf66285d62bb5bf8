"""Every table and column in which something could be left, from what Django knows of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.apps import apps
from django.contrib.postgres.fields import ArrayField
from django.contrib.sessions.models import Session
from django.db.models import (
    BinaryField,
    CharField,
    Field,
    FileField,
    ForeignKey,
    JSONField,
    Model,
    Q,
    QuerySet,
    TextField,
)

from ops.models import User

_TEXTUAL = (CharField, TextField, JSONField, ArrayField, BinaryField, FileField)
_ID_LENGTH = 64


@dataclass(frozen=True)
class Place:
    """One table. `words` hold what people said and nothing else; those of `vouching` stand for
    themselves.

    `names` are short columns in which an id stands alone; `texts` may hold one anywhere.
    """

    model: type[Model]
    columns: tuple[str, ...]
    vouching: tuple[str, ...]
    words: frozenset[str]
    names: tuple[str, ...]
    texts: tuple[str, ...]

    @property
    def table(self) -> str:
        return self.model._meta.db_table

    @property
    def keeps_ids(self) -> bool:
        """Ids are what these rows are for: marks, operations, receipts, the audit log."""
        return bool(getattr(self.model, "keeps_ids", False)) or self.model is Session

    def of(self, *, user_id: int | None, subject: Any) -> QuerySet[Any]:
        """The person's rows and those of nobody; of everybody else's, none."""
        rows = self.model._base_manager.all()
        owner = owner_of(self.model)
        if owner is None:
            return rows
        if owner == "pk":
            return rows.filter(pk=user_id)
        path, value = owner, subject if owner.endswith("subject") else user_id
        return rows.filter(Q(**{path: value}) | Q(**{f"{path}__isnull": True}))


def places() -> list[Place]:
    models = apps.get_models(include_auto_created=True)
    return [_place(model) for model in models if _is_table(model)]


def owner_of(model: type[Model]) -> str | None:
    """The path to whom a row belongs: `user`, `subject`, or the `subject` of what it is part of."""
    if model is User:
        return "pk"
    fields = {one.name: one for one in model._meta.concrete_fields}
    if isinstance(fields.get("user"), ForeignKey):
        return "user_id"
    if "subject" in fields:
        return "subject"
    for name, one in fields.items():
        if isinstance(one, ForeignKey) and "subject" in _names(one.related_model):
            return f"{name}__subject"
    return None


def textual(model: type[Model]) -> list[Field[Any, Any]]:
    return [one for one in model._meta.concrete_fields if _holds_text(one)]


def _holds_text(column: Field[Any, Any]) -> bool:
    inside = column.base_field if isinstance(column, ArrayField) else column
    return isinstance(inside, _TEXTUAL)


def _place(model: type[Model]) -> Place:
    vouching = getattr(model, "vouches", ())
    columns = [one for one in textual(model) if not isinstance(one, BinaryField)]
    short = [one.attname for one in columns if _is_short(one)]
    names = [one.attname for one in columns]
    return Place(
        model=model,
        columns=tuple(name for name in names if name not in vouching),
        vouching=tuple(vouching),
        words=frozenset(
            one.attname
            for one in columns
            if one.name in getattr(model, "words", ()) and not isinstance(one, JSONField)
        ),
        names=tuple(short),
        texts=tuple(name for name in names if name not in short),
    )


def _is_short(column: Field[Any, Any]) -> bool:
    return type(column) is CharField and (column.max_length or 1_000) <= _ID_LENGTH


def _is_table(model: type[Model]) -> bool:
    return model._meta.managed and not model._meta.proxy and model._meta.swapped is None


def _names(model: Any) -> set[str]:
    return {one.name for one in model._meta.concrete_fields} if model is not User else set()


def columns_of(found: Sequence[Place]) -> Iterator[str]:
    for place in found:
        for column in (*place.names, *place.texts):
            yield f"{place.table}.{column}"
