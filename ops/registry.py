"""How other apps reach `ops`: handlers of operations, and the places where personal data lives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from django.db.models import Model, QuerySet

from ops.models import Kind, User
from ops.transfer import import_rows, portable_rows
from ops.transfer.import_rows import Loading

if TYPE_CHECKING:
    from ops.queue.run import Run

Handler = Callable[["Run"], Mapping[str, Any] | None]


@dataclass(frozen=True)
class Page:
    """A page of an export that is there to be read: Markdown, line by line."""

    path: str
    lines: Iterator[str]


Readable = Callable[[User, int | None], Iterator[Page]]
_handlers: dict[str, Handler] = {}
_long: set[str] = set()
_participants: list[UserData] = []
_readable: list[Readable] = []


def handles(kind: Kind, *, is_long: bool = False) -> Callable[[Handler], Handler]:
    """Register the handler of one kind of operation. It must be safe to run twice.

    `is_long`: a step of it goes over much data, and may take more processor time.
    """

    def register(handler: Handler) -> Handler:
        if kind.value in _handlers:
            raise RuntimeError(f"{kind} has a handler already")
        _handlers[kind.value] = handler
        if is_long:
            _long.add(kind.value)
        return handler

    return register


def handler_of(kind: str) -> Handler | None:
    return _handlers.get(kind)


def handled_kinds() -> set[str]:
    return set(_handlers)


def is_long(kind: str) -> bool:
    return kind in _long


class UserData(Protocol):
    """One kind of personal data: how it leaves, comes back and is erased, side by side.

    `order` says when it is erased, low first: what points at others goes before them. It comes
    back in the opposite order.
    """

    @property
    def name(self) -> str: ...

    @property
    def order(self) -> int: ...

    @property
    def models(self) -> tuple[type[Model], ...]: ...

    def export(self, user: User) -> Iterator[Mapping[str, Any]]:
        """Everything of the person that is not being forgotten, one JSON-ready row at a time.

        No transaction need stay open between two rows.
        """

    def export_conversation(self, user: User, conversation: int) -> Iterator[Mapping[str, Any]]:
        """The same of one conversation; nothing where the kind has no part in one."""

    def load(self, loading: Loading, rows: Iterable[Mapping[str, Any]]) -> None:
        """Take in rows that `export` gave, here or elsewhere; what isn't taken is reported."""

    def erase(self, user_id: int) -> Mapping[str, int]:
        """Erase all of it; safe to repeat. Gives what went, by table."""

    def count(self, user: User) -> int:
        """How many rows the person has."""


class Derived:
    """What says again what rows say, outside the tables: erased, and neither exported nor loaded.

    Whoever is one says its `name`, its `order`, and how it is erased.
    """

    name = ""
    order = 0
    models: tuple[type[Model], ...] = ()

    def export(self, user: User) -> Iterator[Mapping[str, Any]]:
        return iter(())

    def export_conversation(self, user: User, conversation: int) -> Iterator[Mapping[str, Any]]:
        return iter(())

    def load(self, loading: Loading, rows: Iterable[Mapping[str, Any]]) -> None:
        """It is made again from the rows that come back."""

    def erase(self, user_id: int) -> Mapping[str, int]:
        raise NotImplementedError

    def count(self, user: User) -> int:
        return 0


@dataclass(frozen=True)
class Rows:
    """Personal data that is simply the rows of one table with a `user` column.

    `leave_out` names columns that are not the person's to take (digests, internal state).
    `conversation` is the path to the conversation that a row is part of. Coming back, a row is
    known by its public id or by the columns of `natural`, and one whose parent (`inside`) was
    there already is there as well. `stays` says why rows of a kind don't come back at all.
    `also` are names and paths of what is exported beside the columns, only to be read.
    """

    model: type[Model]
    order: int
    leave_out: tuple[str, ...] = ()
    name: str = ""
    conversation: str = ""
    natural: tuple[str, ...] = ()
    inside: tuple[str, ...] = ()
    stays: str = ""
    also: tuple[tuple[str, str], ...] = ()
    models: tuple[type[Model], ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.name or self.model._meta.model_name)
        object.__setattr__(self, "models", (self.model,))

    def export(self, user: User) -> Iterator[Mapping[str, Any]]:
        return self._out(self._visible(user))

    def export_conversation(self, user: User, conversation: int) -> Iterator[Mapping[str, Any]]:
        if not self.conversation:
            return iter(())
        return self._out(self._visible(user).filter(**{self.conversation: conversation}))

    def _out(self, rows: QuerySet[Any]) -> Iterator[Mapping[str, Any]]:
        return portable_rows.rows_out(rows, leave_out=self.leave_out, also=dict(self.also))

    def load(self, loading: Loading, rows: Iterable[Mapping[str, Any]]) -> None:
        if not self.stays:
            import_rows.load(self, loading, rows)
            return
        if any(True for _ in rows):
            loading.leave_out(self.name, self.stays)

    def known(self, loading: Loading, rows: list[Any]) -> list[int | None]:
        """The key of each row that is there already."""
        found: list[int | None] = [None] * len(rows)
        name = portable_rows.reference_of(self.model)
        if name in portable_rows.IDS:
            found = import_rows.by_columns(self.model, loading.user, rows, (name,))
        if not self.natural:
            return found
        same = import_rows.by_columns(self.model, loading.user, rows, self.natural)
        return [one or other for one, other in zip(found, same, strict=True)]

    def prepare(self, loading: Loading, row: Any, given: Mapping[str, Any]) -> None:
        """Put right what only makes sense where it came from. Raises `Unfit`."""

    def finished(self, loading: Loading) -> None:
        """After the last row of the table."""

    def erase(self, user_id: int) -> Mapping[str, int]:
        rows = self.model._base_manager.filter(user_id=user_id)
        return {self.model._meta.db_table: rows._raw_delete(rows.db)}

    def count(self, user: User) -> int:
        return int(self._visible(user).count())

    def counted(self, user: User) -> QuerySet[Any] | None:
        """What `count` counts, for whoever counts several kinds in one statement."""
        return self._visible(user)

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


def reads_well(pages: Readable) -> Readable:
    """Register who writes pages of a person's data (or of one conversation, by its key).

    They are fetched like rows: no transaction stays open between two lines.
    """
    _readable.append(pages)
    return pages


def readable() -> list[Readable]:
    return list(_readable)
