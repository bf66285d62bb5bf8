"""Every table and column that could contain residue, from Django's model metadata."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.apps import apps
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.sessions.models import Session
from django.db.models import (
    BinaryField,
    CharField,
    Field,
    FileField,
    ForeignKey,
    Index,
    JSONField,
    Model,
    Q,
    QuerySet,
    TextField,
    UniqueConstraint,
)

from memcenter.lib.database.mentions import JSON, LIST, SHORTEST, TEXT
from ops.models import User

_TEXTUAL = (CharField, TextField, JSONField, ArrayField, BinaryField, FileField)


@dataclass(frozen=True, eq=False)
class Place:
    """One table. The columns `words` hold people's texts only; rows of `vouching` are sources.

    Columns that can contain one of our ids: alone in an indexed column (`named`), in an indexed
    list (`listed`), or anywhere in a text (`mentioned`, with its spelling). Columns too short for
    an id are `rest`.
    """

    model: type[Model]
    columns: tuple[str, ...]
    vouching: tuple[str, ...]
    words: frozenset[str]
    named: tuple[str, ...]
    listed: tuple[str, ...]
    mentioned: Mapping[str, str]
    rest: tuple[str, ...]

    @property
    def table(self) -> str:
        return self.model._meta.db_table

    @property
    def keeps_ids(self) -> bool:
        """Tell whether the table stores ids by design, like operations and the audit log."""
        return bool(getattr(self.model, "keeps_ids", False)) or self.model is Session

    def of(self, *, user_id: int | None, subject: Any) -> QuerySet[Any]:
        """Return the person's rows and rows without an owner."""
        rows = self.model._base_manager.all()
        owner = owner_of(self.model)
        if owner is None:
            return rows
        if owner == "pk":
            return rows.filter(pk=user_id)
        path, value = owner, subject if owner.endswith("subject") else user_id
        return rows.filter(Q(**{path: value}) | Q(**{f"{path}__isnull": True}))


@cache
def places() -> tuple[Place, ...]:
    models = apps.get_models(include_auto_created=True)
    return tuple(_place(model) for model in models if _is_table(model))


def owner_of(model: type[Model]) -> str | None:
    """Return the path to a row's owner: `user`, `subject`, or the parent's `subject`."""
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
    roomy = [one for one in columns if _has_room(one)]
    leading = _leading(model)
    named = [one.attname for one in roomy if one.name in leading and _how(one) == TEXT]
    listed = [one.attname for one in roomy if one.name in _in_gin(model) and _how(one) == LIST]
    alone = {*named, *listed}
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
        named=tuple(named),
        listed=tuple(listed),
        mentioned={one.attname: _how(one) for one in roomy if one.attname not in alone},
        rest=tuple(one.attname for one in columns if one not in roomy),
    )


def _how(column: Field[Any, Any]) -> str:
    if isinstance(column, ArrayField):
        return LIST
    return JSON if isinstance(column, JSONField) else TEXT


def _has_room(column: Field[Any, Any]) -> bool:
    """Tell whether the column is long enough for one of our ids."""
    inside = column.base_field if isinstance(column, ArrayField) else column
    return (getattr(inside, "max_length", None) or SHORTEST) >= SHORTEST


def _leading(model: type[Model]) -> set[str]:
    """Return the leading columns of indexes without a condition."""
    options = model._meta
    first = {one.fields[0] for one in options.indexes if type(one) is Index and not one.condition}
    for rule in options.constraints:
        if isinstance(rule, UniqueConstraint) and rule.fields and rule.condition is None:
            first.add(rule.fields[0])
    own = {one.name for one in options.concrete_fields if one.unique or one.db_index}  # type: ignore[attr-defined]
    return first | own | {one[0] for one in options.unique_together}


def _in_gin(model: type[Model]) -> set[str]:
    made = [one for one in model._meta.indexes if isinstance(one, GinIndex)]
    return {name for one in made for name in one.fields}


def _is_table(model: type[Model]) -> bool:
    return model._meta.managed and not model._meta.proxy and model._meta.swapped is None


def _names(model: Any) -> set[str]:
    return {one.name for one in model._meta.concrete_fields} if model is not User else set()


def columns_in(place: Place) -> tuple[str, ...]:
    return (*place.named, *place.listed, *place.mentioned, *place.rest)
