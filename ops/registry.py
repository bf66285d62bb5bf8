"""How other apps reach `ops`: handlers of operations, and the places where personal data lives."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from django.db.models import Model, QuerySet

from ops.models import Kind, User

if TYPE_CHECKING:
    from ops.services.worker import Run

Handler = Callable[["Run"], Mapping[str, Any] | None]
_handlers: dict[str, Handler] = {}
_participants: list[UserData] = []


def handles(kind: Kind) -> Callable[[Handler], Handler]:
    """Register the handler of one kind of operation. It must be safe to run twice."""

    def register(handler: Handler) -> Handler:
        if kind.value in _handlers:
            raise RuntimeError(f"{kind} has a handler already")
        _handlers[kind.value] = handler
        return handler

    return register


def handler_of(kind: str) -> Handler | None:
    return _handlers.get(kind)


def handled_kinds() -> set[str]:
    return set(_handlers)


class UserData(Protocol):
    """One kind of personal data: how it leaves and how it is erased, side by side.

    `order` says when it is erased, low first: what points at others goes before them.
    """

    @property
    def name(self) -> str: ...

    @property
    def order(self) -> int: ...

    @property
    def models(self) -> tuple[type[Model], ...]: ...

    def export(self, user: User) -> Iterator[Mapping[str, Any]]:
        """Everything of the person that is not being forgotten, one JSON-ready row at a time."""

    def erase(self, user_id: int) -> Mapping[str, int]:
        """Erase all of it; safe to repeat. Gives what went, by table."""

    def count(self, user: User) -> int:
        """How many rows the person has."""


@dataclass(frozen=True)
class Rows:
    """Personal data that is simply the rows of one table with a `user` column.

    `leave_out` names columns that are not the person's to take (digests, internal state).
    """

    model: type[Model]
    order: int
    leave_out: tuple[str, ...] = ()
    name: str = ""
    models: tuple[type[Model], ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.name or self.model._meta.model_name)
        object.__setattr__(self, "models", (self.model,))

    def export(self, user: User) -> Iterator[Mapping[str, Any]]:
        names = [
            column.attname
            for column in self.model._meta.concrete_fields
            if column.name not in self.leave_out
        ]
        yield from self._visible(user).order_by("pk").values(*names).iterator()

    def erase(self, user_id: int) -> Mapping[str, int]:
        rows = self.model._base_manager.filter(user_id=user_id)
        return {self.model._meta.db_table: rows._raw_delete(rows.db)}

    def count(self, user: User) -> int:
        return int(self._visible(user).count())

    def _visible(self, user: User) -> QuerySet[Any]:
        rows = self.model._base_manager.filter(user_id=user.pk)
        if any(column.name == "hidden_at" for column in self.model._meta.concrete_fields):
            rows = rows.filter(hidden_at__isnull=True)
        return rows


def register(*participants: UserData) -> None:
    _participants.extend(participants)


def participants() -> list[UserData]:
    """In the order of erasing."""
    return sorted(_participants, key=lambda one: (one.order, one.name))
