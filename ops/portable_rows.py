"""The format of rows in exports and imports, and how rows are imported.

A row is named by its public id (`conv_…`) or, if it has none, by a number that is valid only inside
one file. References to other rows use these names. The caller runs a whole import in one
transaction. An existing row is never changed. An invalid row is skipped and reported with its place
in the file.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import DataError, IntegrityError, transaction
from django.db.models import Field, ForeignKey, Model, QuerySet
from django.utils import timezone
from django.utils.translation import gettext_noop

from foundation import ids
from foundation.database import schema
from ops.access import read_all_rows
from ops.models import User

if TYPE_CHECKING:
    from ops.registry import Rows

CHUNK = 1_000
Row = TypeVar("Row", bound=Model)
IDS = ("public_id", "request_id")
OUR_ID = re.compile(r"\b(?:conv|msg|turn|sum|epi|mem|req|note)_[0-9a-hjkmnp-tv-z]{26}\b")
DANGLING = gettext_noop("it refers to something that isn’t in the file")
BAD_VALUE = gettext_noop("a value is missing or has the wrong form")
BAD_CHARACTERS = gettext_noop("it contains characters that can’t be stored")
BREAKS_A_RULE = gettext_noop("it conflicts with something else in the file")
LISTED = 500
"""At most this many skipped places are listed; the others are only counted."""


class RejectedRow(ValueError):
    """The error for a row that can't be imported. `why` is one of a fixed set of sentences.

    If `is_skipped_silently` is True, rows that refer to this row are skipped without a report.
    """

    def __init__(self, why: str, *, is_skipped_silently: bool = False) -> None:
        super().__init__(why)
        self.why = why
        self.is_skipped_silently = is_skipped_silently


class ParentSkipped(RejectedRow):
    """Raised for a row whose parent was skipped or existed before; the row counts as existing."""

    def __init__(self) -> None:
        super().__init__("", is_skipped_silently=True)


def exported_rows(
    rows: QuerySet[Any],
    *,
    leave_out: Sequence[str] = (),
    also: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[Mapping[str, Any]]:
    """Yield rows as plain dicts, ordered by primary key and loaded in chunks.

    Each chunk is a separate query, so the caller may close its transaction between two chunks.
    `also` maps the names of additional columns to their lookup paths.
    """
    columns = {**_columns_out(rows.model, leave_out), **also}
    names, paths = list(columns), list(columns.values())
    after = 0
    while True:
        found = list(rows.filter(pk__gt=after).order_by("pk").values_list("pk", *paths)[:CHUNK])
        for _, *values in found:
            yield dict(zip(names, values, strict=True))
        if len(found) < CHUNK:
            return
        after = found[-1][0]


def exported_objects(rows: QuerySet[Row], *, chunk: int = 200) -> Iterator[Row]:
    """Yield rows as model instances, ordered by primary key and loaded in chunks."""
    after = 0
    while True:
        found = list(rows.filter(pk__gt=after).order_by("pk")[:chunk])
        yield from found
        if len(found) < chunk:
            return
        after = found[-1].pk


def _columns_out(model: type[Model], leave_out: Sequence[str]) -> dict[str, str]:
    columns = {"id": reference_of(model)}
    for column in model._meta.concrete_fields:
        if column.primary_key or column.name in ("user", "hidden_at", *IDS, *leave_out):
            continue
        if isinstance(column, ForeignKey):
            columns[column.name] = f"{column.name}__{reference_of(column.related_model)}"
        else:
            columns[column.name] = column.name
    return columns


def reference_of(model: Any) -> str:
    """Return the name of the column that identifies rows of this table in a file, or "pk"."""
    names = {column.name for column in model._meta.concrete_fields}
    return next((name for name in IDS if name in names), "pk")


def validated_value(field: Field[Any, Any], row: Mapping[str, Any]) -> Any:
    """Return the validated value of a column in an imported row, or the default if it is missing.

    Raise `RejectedRow` if the value is invalid, or missing in a column without a default.
    """
    if field.name not in row:
        return _default_value(field)
    value = row[field.name]
    if value is None:
        return None if field.null else _default_value(field)
    if not _is_storable(value):
        raise RejectedRow(BAD_CHARACTERS)
    if value in ("", [], {}):
        takes = {"CharField": "", "TextField": "", "ArrayField": []}
        kind = field.get_internal_type()
        if kind == "JSONField" or (kind in takes and value == takes[kind]):
            return value
        raise RejectedRow(BAD_VALUE)
    try:
        cleaned = field.clean(value, None)
    except (ValidationError, TypeError, ValueError, OverflowError) as error:
        raise RejectedRow(BAD_VALUE) from error
    if isinstance(cleaned, datetime):
        aware = cleaned if timezone.is_aware(cleaned) else cleaned.replace(tzinfo=UTC)
        # Times at the very ends of the calendar can't be read back from the database.
        if not 2 <= aware.year <= 9998:
            raise RejectedRow(BAD_VALUE)
        return aware
    return cleaned


def _default_value(field: Field[Any, Any]) -> Any:
    if field.has_default():
        return field.get_default()
    if field.null:
        return None
    if field.get_internal_type() == "DateTimeField":
        return timezone.now()
    if field.blank and field.empty_strings_allowed:
        return ""
    raise RejectedRow(BAD_VALUE)


def _is_storable(value: Any) -> bool:
    """Return whether PostgreSQL can store all strings in the value.

    PostgreSQL rejects NUL characters and lone surrogates.
    """
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            if "\0" in item or any("\ud800" <= char <= "\udfff" for char in item):
                return False
        elif isinstance(item, Mapping):
            waiting += [*item.keys(), *item.values()]
        elif isinstance(item, list):
            waiting += item
    return True


@dataclass(frozen=True)
class LeftOut:
    """A part of the file that was skipped, and the reason.

    `where` is a kind of row, alone ("apikey") or with the number of the row ("message 12"), or
    another position in the file ("line 12").
    """

    where: str
    why: str


@dataclass
class Loading:
    """The import of one file for one person.

    `new` counts the rows that were added, by kind, and `there` the rows that already existed.
    `on_progress` is called after each chunk with the number of processed rows, and may raise an
    exception to stop the import. `reference` names the origin of the data, and is stored with the
    sources of memories. `takes_memories` is True if the person's long-term memory is on. With
    `learns=False`, no memories are extracted from the imported turns.
    """

    user: User
    reference: str = ""
    takes_memories: bool = True
    learns: bool = True
    state: dict[str, Any] = field(default_factory=dict)
    on_progress: Callable[[int], None] = lambda rows: None
    behind: int = 0
    new: Counter[str] = field(default_factory=Counter)
    there: Counter[str] = field(default_factory=Counter)
    left_out: list[LeftOut] = field(default_factory=list)
    left_out_count: int = 0
    added: dict[type[Model], list[int]] = field(default_factory=lambda: defaultdict(list))
    _keys: dict[type[Model], dict[Any, int]] = field(default_factory=lambda: defaultdict(dict))
    _before: dict[type[Model], set[int]] = field(default_factory=lambda: defaultdict(set))
    _skipped: dict[type[Model], set[Any]] = field(default_factory=lambda: defaultdict(set))
    _renamed: dict[str, str] = field(default_factory=dict)
    _at_end: list[Callable[[], None]] = field(default_factory=list)

    def leave_out(self, where: str, why: str) -> None:
        self.left_out_count += 1
        if len(self.left_out) < LISTED:
            self.left_out.append(LeftOut(where, why))

    def key_of(self, model: type[Model], reference: Any) -> int:
        """Return the primary key of the row that has the id `reference` in the file.

        Raise `ParentSkipped` if the row was passed to `mark_skipped`, and `RejectedRow` if no row
        has the id.
        """
        try:
            return self._keys[model][reference]
        except (KeyError, TypeError) as error:
            if isinstance(reference, (str, int)) and reference in self._skipped[model]:
                raise ParentSkipped from error
            raise RejectedRow(DANGLING) from error

    def mark_skipped(self, model: type[Model], reference: Any) -> None:
        """Record that the row `reference` was skipped; rows that refer to it aren't reported."""
        if isinstance(reference, (str, int)):
            self._skipped[model].add(reference)

    def existed(self, model: type[Model], key: int | None) -> bool:
        return key is not None and key in self._before[model]

    def record_key(self, model: type[Model], reference: Any, key: int, *, is_new: bool) -> None:
        self._keys[model][reference] = key
        if not is_new:
            self._before[model].add(key)

    def rename(self, old: Any, new: str) -> None:
        if old != new and isinstance(old, str):
            self._renamed[old] = new

    def with_new_ids(self, text: str) -> str:
        """Replace the old public ids of renamed rows in the text with the new ones, and return it.

        An import changes a row's id if a row of another person already has it.
        """
        if not self._renamed:
            return text
        return OUR_ID.sub(lambda found: self._renamed.get(found[0], found[0]), text)

    def run_at_end(self, then: Callable[[], None]) -> None:
        self._at_end.append(then)

    def finish(self) -> None:
        """Run the actions that had to wait until all rows have their final ids."""
        for then in self._at_end:
            then()

    def advance(self, count: int) -> None:
        self.behind += count
        self.on_progress(self.behind)


def load(table: Rows, loading: Loading, rows: Iterable[Mapping[str, Any]]) -> None:
    """Import all rows of one table, in the order of the file."""
    numbered = enumerate(rows, start=1)
    while chunk := list(islice(numbered, CHUNK)):
        made = list(_validated_rows(table, loading, chunk))
        _free_ids(table.model, loading, made)
        fresh: list[_ValidatedRow] = []
        for item, key in zip(made, table.known(loading, [item.row for item in made]), strict=True):
            if key is None:
                fresh.append(item)
                continue
            loading.record_key(table.model, item.reference, key, is_new=False)
            loading.there[table.name] += 1
        for item, key in _insert(table, loading, fresh):
            loading.record_key(table.model, item.reference, key, is_new=True)
            loading.added[table.model].append(key)
            loading.new[table.name] += 1
            if item.own:
                loading.run_at_end(_reference_setter(loading, table.model, key, item.own))
        loading.advance(len(chunk))
    table.finished(loading)


@dataclass
class _ValidatedRow:
    where: str
    reference: Any
    row: Model
    own: Mapping[str, Any]


def _validated_rows(
    table: Rows, loading: Loading, chunk: list[tuple[int, Mapping[str, Any]]]
) -> Iterator[_ValidatedRow]:
    for number, given in chunk:
        where = f"{table.name} {number}"
        try:
            if not isinstance(given, Mapping):
                raise RejectedRow(BAD_VALUE)
            row, own = _row(table, loading, given)
            for parent in map(table.model._meta.get_field, table.inside):
                key = getattr(row, parent.attname)  # type: ignore[union-attr] # a foreign key
                if loading.existed(parent.related_model, key):  # type: ignore[arg-type]
                    raise ParentSkipped
            table.prepare(loading, row, given)
        except RejectedRow as unfit:
            if unfit.is_skipped_silently:
                loading.mark_skipped(table.model, given.get("id"))
            if isinstance(unfit, ParentSkipped):
                loading.there[table.name] += 1
            else:
                loading.leave_out(where, unfit.why)
            continue
        yield _ValidatedRow(where, given.get("id"), row, own)


def _row(
    table: Rows, loading: Loading, given: Mapping[str, Any]
) -> tuple[Model, Mapping[str, Any]]:
    """Return the unsaved row, and its references to rows of the same table, by column.

    These references are set later, when all rows have primary keys. Raise `RejectedRow` if a value
    is invalid.
    """
    values: dict[str, Any] = {"user_id": loading.user.pk}
    own: dict[str, Any] = {}
    for column in table.model._meta.concrete_fields:
        if column.primary_key or column.name in ("user", "hidden_at", *IDS, *table.leave_out):
            continue
        if not isinstance(column, ForeignKey):
            values[column.name] = validated_value(column, given)
        elif column.related_model is table.model:
            if given.get(column.name) is not None:
                own[column.attname] = given[column.name]
        else:
            values[column.attname] = _parent(loading, column, given)
    row = table.model(**values)
    old = given.get("id")
    name = reference_of(table.model)
    if name in IDS and isinstance(old, str) and OUR_ID.fullmatch(old):
        setattr(row, name, old)
    return row, own


def _parent(loading: Loading, column: ForeignKey[Any, Any], given: Mapping[str, Any]) -> int | None:
    reference = given.get(column.name)
    if reference is None:
        if column.null:
            return None
        raise RejectedRow(DANGLING)
    return loading.key_of(column.related_model, reference)


def _free_ids(model: type[Model], loading: Loading, made: list[_ValidatedRow]) -> None:
    """Give a row a new public id if a row of another person already has its id.

    The new id is derived from the old one, so that importing the file again finds the same rows.
    """
    name = reference_of(model)
    if name not in IDS:
        return
    wanted = {f"{name}__in": [getattr(item.row, name) for item in made]}
    others = model._base_manager.filter(**wanted).exclude(user_id=loading.user.pk)
    with read_all_rows():
        taken = set(others.values_list(name, flat=True))
    for item in made:
        old = getattr(item.row, name)
        if old in taken:
            setattr(item.row, name, _derived(loading.user, old))
        loading.rename(item.reference, getattr(item.row, name))


def _derived(user: User, old: str) -> str:
    key = f"{settings.SECRET_KEY}:{user.subject}".encode()
    digest = hmac.new(key, old.encode(), hashlib.sha256).digest()
    return ids.write(old.partition("_")[0] + "_", int.from_bytes(digest[:17], "big"))


def _insert(
    table: Rows, loading: Loading, made: list[_ValidatedRow]
) -> Iterator[tuple[_ValidatedRow, int]]:
    """Insert all rows at once; if the database rejects one of them, insert them one by one.

    Rejected rows are reported. Yield each inserted row with its primary key.
    """
    if not made:
        return
    try:
        keys = _insert_raw(table.model, [item.row for item in made])
    except (IntegrityError, DataError):
        if len(made) == 1:
            loading.leave_out(made[0].where, BREAKS_A_RULE)
            return
        for item in made:
            yield from _insert(table, loading, [item])
        return
    yield from zip(made, keys, strict=True)


def _insert_raw(model: type[Model], rows: list[Model]) -> list[int]:
    """Insert the rows with exactly these values; return their keys.

    `save` would replace `updated_at` with the current time.
    """
    fields = [column for column in model._meta.concrete_fields if not column.primary_key]
    manager: Any = model._base_manager
    keys: list[int] = []
    with transaction.atomic():
        for start in range(0, len(rows), 500):
            part = rows[start : start + 500]
            for number, row in enumerate(
                manager._insert(
                    part,
                    fields=fields,
                    returning_fields=[model._meta.pk],
                    raw=True,
                    using=manager.db,
                )
            ):
                part[number].pk = row[0]
                keys.append(row[0])
    return keys


def _reference_setter(
    loading: Loading, model: type[Model], key: int, own: Mapping[str, Any]
) -> Callable[[], None]:
    def set_references() -> None:
        found: dict[str, int] = {}
        for column, reference in own.items():
            try:
                found[column] = loading.key_of(model, reference)
            except RejectedRow:
                continue  # the other row was left out and reported
        if found:
            model._base_manager.filter(pk=key).update(**found)

    return set_references


def find_by_columns(
    model: type[Model], user: User, rows: list[Model], columns: tuple[str, ...]
) -> list[int | None]:
    """Return for each row the key of a visible row with the same values in `columns`, or None.

    Only the person's rows are searched. A row with None in one of the columns matches nothing.
    """
    fields: list[Any] = [model._meta.get_field(name) for name in columns]
    names = [column.attname for column in fields]
    wanted = [tuple(getattr(row, name) for name in names) for row in rows]
    complete = [values for values in wanted if None not in values]
    if not complete:
        return [None] * len(rows)
    found = model._base_manager.filter(user_id=user.pk)
    if schema.has_column(model, "hidden_at"):
        found = found.filter(hidden_at__isnull=True)
    for place, name in enumerate(names):
        found = found.filter(**{f"{name}__in": {values[place] for values in complete}})
    known = {tuple(values): pk for pk, *values in found.values_list("pk", *names)}
    return [known.get(values) for values in wanted]
