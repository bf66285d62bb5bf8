"""The registry of operation handlers and of all kinds of personal data, for all apps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from django.db.models import Model, Q, QuerySet

from foundation.database import schema
from ops import portable_rows
from ops.models import Kind, Operation, User
from ops.portable_rows import Loading

if TYPE_CHECKING:
    from ops.queue.run import Run


Handler = Callable[["Run"], Mapping[str, Any] | None]
_handlers: dict[str, Handler] = {}
_long: set[str] = set()
_user_data_kinds: list[UserData] = []
_readable: list[Readable] = []
_counts_kept: list[CountsKept] = []


@dataclass(frozen=True)
class Page:
    """A readable page of an export, as lines of Markdown.

    The export contains the page as Markdown at `path`, and as HTML at the same path with `.html`.
    """

    path: str
    lines: Iterator[str]


Readable = Callable[[User, int | None], Iterator[Page]]
CountsKept = Callable[[Operation], Mapping[str, int]]


def register_kept_count(function: CountsKept) -> CountsKept:
    """Register a function that counts the visible rows that still repeat forgotten content."""
    _counts_kept.append(function)
    return function


def kept_rows(operation: Operation) -> Counter[str]:
    """Return how many visible rows of each kind still repeat content that the operation forgot."""
    return sum((Counter(count(operation)) for count in _counts_kept), Counter())


def handles(kind: Kind, *, is_long: bool = False) -> Callable[[Handler], Handler]:
    """Register the handler of one kind of operation. Running it twice must be safe.

    With `is_long`, each step of the handler may use more processor time. Use it for handlers whose
    steps process a lot of data.
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


class ErasableData:
    """Personal data that isn't erased row by row, such as files, cache entries or the account.

    Such data is erased as a whole, but neither exported nor imported, unless a subclass overrides
    `export` and `load`. A subclass defines `name`, `order` and `erase`.
    """

    name = ""
    order = 0
    models: tuple[type[Model], ...] = ()

    def export(self, user: User) -> Iterator[Mapping[str, Any]]:
        """Yield the person's visible rows one at a time, as values for JSON.

        The caller may close its transaction between two rows.
        """
        return iter(())

    def export_conversation(self, user: User, conversation: int) -> Iterator[Mapping[str, Any]]:
        """Yield the rows that belong to one conversation, if this kind has any."""
        return iter(())

    def load(self, loading: Loading, rows: Iterable[Mapping[str, Any]]) -> None:
        """Import rows written by `export`, possibly on another instance.

        Rows that can't be imported are skipped and reported.
        """

    def erase(self, user_id: int) -> Mapping[str, int]:
        """Erase all data of the person; return how much was erased from each table or store.

        Safe to repeat.
        """
        raise NotImplementedError

    def count(self, user: User) -> int:
        """Return how many rows of this kind the person has."""
        return 0


@dataclass(frozen=True)
class Rows:
    """The rows of one table with a column `user`, as a kind of personal data.

    `leave_out` lists further columns that aren't exported, such as digests and internal state.
    `conversation` is the lookup path from a row to its conversation. An import recognises an
    existing row by its public id, or by the columns in `natural`. `inside` lists foreign keys: a
    row whose parent existed before the import counts as existing too. `stays` is the reason why
    this kind is never imported, or empty. An import reports this reason, unless the person already
    has rows of this kind or any row of the file already existed. `also` lists additional columns
    (name and lookup path) that are exported but ignored by an import.
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
        return portable_rows.exported_rows(rows, leave_out=self.leave_out, also=dict(self.also))

    def load(self, loading: Loading, rows: Iterable[Mapping[str, Any]]) -> None:
        if not self.stays:
            portable_rows.load(self, loading, rows)
            return
        if any(True for _ in rows) and not self._visible(loading.user).exists():
            loading.run_at_end(lambda: self._report_stays(loading))

    def _report_stays(self, loading: Loading) -> None:
        if not loading.there:
            loading.leave_out(self.name, self.stays)

    def known(self, loading: Loading, rows: list[Any]) -> list[int | None]:
        """Return for each imported row the key of the matching existing row, or None."""
        found: list[int | None] = [None] * len(rows)
        name = portable_rows.reference_of(self.model)
        if name in portable_rows.IDS:
            found = portable_rows.find_by_columns(self.model, loading.user, rows, (name,))
        if not self.natural:
            return found
        same = portable_rows.find_by_columns(self.model, loading.user, rows, self.natural)
        return [by_id or other for by_id, other in zip(found, same, strict=True)]

    def prepare(self, loading: Loading, row: Any, given: Mapping[str, Any]) -> None:
        """Adapt an imported row before it is stored; subclasses override this.

        For example, replace values that are valid only on the exporting instance. `given` contains
        the values in the file. Raise `RejectedRow` if the row can't be imported.
        """

    def finished(self, loading: Loading) -> None:
        """Do nothing; subclasses override this to act after the table's last row was imported."""

    def erase(self, user_id: int) -> Mapping[str, int]:
        rows = self.model._base_manager.filter(user_id=user_id)
        return {self.model._meta.db_table: rows._raw_delete(rows.db)}

    def count(self, user: User) -> int:
        return int(self._visible(user).count())

    def counted(self, user: User) -> QuerySet[Any] | None:
        """Return the person's visible rows, so that one statement can count rows of many kinds.

        Return None if the rows can't be counted in this way; callers then use `count`.
        """
        return self._visible(user)

    def _visible(self, user: User) -> QuerySet[Any]:
        rows = self.model._base_manager.filter(user_id=user.pk)
        if schema.has_column(self.model, "hidden_at"):
            rows = rows.filter(hidden_at__isnull=True)
        return rows


# One kind of personal data. Kinds are erased by ascending `order`, so that rows are erased before
# the rows to which they refer. Imports use the reverse order.
UserData = ErasableData | Rows


def register(*kinds: UserData) -> None:
    _user_data_kinds.extend(kinds)


def user_data_kinds() -> list[UserData]:
    """Return all kinds of personal data, in the order in which they are erased."""
    return sorted(_user_data_kinds, key=lambda kind: (kind.order, kind.name))


def register_readable_pages(pages: Readable) -> Readable:
    """Register a function that yields the human-readable pages of an export.

    The function is called with a person and, for the export of one conversation, the key of that
    conversation. The caller may close its transaction after any line.
    """
    _readable.append(pages)
    return pages


def readable_pages() -> list[Readable]:
    return list(_readable)


@dataclass(frozen=True)
class ChildRows(Rows):
    """Rows that count as hidden if one of their parent rows is hidden.

    `parents` are the names of the foreign keys to these parent rows.
    """

    parents: tuple[str, ...] = ()

    def _visible(self, user: User) -> QuerySet[Any]:
        rows = super()._visible(user)
        for parent in self.parents:
            rows = rows.filter(Q(**{parent: None}) | Q(**{f"{parent}__hidden_at": None}))
        return rows


@dataclass(frozen=True)
class DerivedRows(ErasableData, Rows):
    """Rows derived from other rows. They are erased, but neither exported nor imported."""

    def erase(self, user_id: int) -> Mapping[str, int]:
        return Rows.erase(self, user_id)

    def counted(self, user: User) -> None:
        return None
