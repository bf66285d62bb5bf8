"""Scan all stores for residue: data that a forget operation should have erased.

Residue is an entry that contains an erased id, or a field that contains at least half of the
shingles of an erased text. Such a field isn't residue if the same shingles occur in a remaining
text of independent origin: a message, a version of a memory written by a person or client, or a
text written after the request to forget. In other people's rows, only ids are searched for. Some
tables, such as operations, receipts and the audit log, contain ids on purpose. Findings name the
place, never the content.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

import numpy as np
from django.contrib.sessions.models import Session
from django.db.models import QuerySet

from foundation.database import schema
from foundation.errors import ApplicationError, TryAgain
from ops.models import Operation, Priority, Status, User
from ops.residue import erased_hashes, fingerprints, residue_columns, stores
from ops.residue.erased_hashes import Erased
from ops.residue.fingerprints import Fingerprints, FoundText, Hashes
from ops.residue.residue_columns import ColumnQuery, ScannedTable

_SHOWN = 20
_UNFINISHED = (Status.PENDING, Status.RUNNING, Status.FAILED)


class ResidueFound(ApplicationError):
    """The scan found residue. The message names the places, never the content."""

    code = "residue"


class OtherForgetPending(TryAgain):
    """Residue was found, but another unfinished forget operation of the person may erase it."""


@dataclass(frozen=True)
class Residue:
    """One finding of the scan.

    `place` is a column of a table, or a store. `row` is the key of the row or entry. `why` is "id"
    or "text".
    """

    place: str
    row: str
    why: str

    def __str__(self) -> str:
        return f"{self.place} {self.row} ({self.why})"


@dataclass(frozen=True)
class Scan:
    """The result of a scan.

    `looked` is the number of places searched: of columns for "database", of entries for the other
    stores. `texts` is the number of erased texts searched for. `others_wait` is True if the person
    has another unfinished forget operation.
    """

    looked: Mapping[str, int]
    texts: int
    found: Sequence[Residue]
    others_wait: bool = False

    @property
    def places(self) -> int:
        return sum(self.looked.values())

    def summary(self) -> dict[str, Any]:
        """Return the numbers that the receipt shows."""
        return {
            "places": self.places,
            "residue": len(self.found),
            "looked": dict(self.looked),
            "texts": self.texts,
        }


@dataclass(frozen=True)
class ScannedPerson:
    """The person whose data was erased, and the time of the request to forget (`since`).

    `user_id` is None if the account no longer exists, or if an operator's scan covers all people.
    """

    user_id: int | None
    subject: UUID | None
    since: datetime | None = None


@dataclass
class _Suspect:
    residue: Residue
    hashes: Hashes


@dataclass
class _Search:
    whose: ScannedPerson
    erased: Erased
    others_wait: bool = False
    by_hand: bool = False
    suspects: list[_Suspect] = field(default_factory=list)
    found: list[Residue] = field(default_factory=list)
    looked: Counter[str] = field(default_factory=Counter)
    _known: dict[tuple[Any, ...], list[FoundText]] = field(default_factory=dict)

    def field(self, place: str, row: str, strings: Sequence[str], *, short: bool) -> None:
        """Check whether a field contains an erased text, and record it as a suspect if so.

        Equal fields are compared only once. With `short`, texts shorter than a shingle are searched
        for too. Use `short` only for columns that hold people's texts: in other columns, a short
        text may match an unrelated value, such as a status code, by chance.
        """
        if not len(self.erased.texts):
            return
        key = (short, *strings)
        held = self._known.get(key)
        if held is None:
            held = self._known[key] = self.erased.texts.texts_found_in(strings, short=short)
        for text in held:
            self.suspects.append(_Suspect(Residue(place, row, "text"), text.hashes))

    def ids(self, place: str, row: str, strings: Iterable[str]) -> None:
        gone = self.erased.public_ids
        if not gone:
            return
        for text in strings:
            if residue_columns.contains_id(text, gone):
                self.found.append(Residue(place, row, "id"))
                return


def scan(whose: ScannedPerson, erased: Erased, *, by_hand: bool = False) -> Scan:
    """Scan all stores for residue. Call this inside `as_system`, since it reads all people's rows.

    With `by_hand`, which is meant for texts typed by an operator, messages and other original texts
    are searched too.
    """
    waiting = Operation.objects.filter(
        subject=whose.subject, priority=Priority.FORGET, status__in=_UNFINISHED
    )
    search = _Search(whose, erased, others_wait=waiting.count() > 1, by_hand=by_hand)
    tables = residue_columns.scanned_tables()
    with residue_columns.prefer_indexes():
        search.looked["database"] = sum(len(residue_columns.columns_in(item)) for item in tables)
        for place, row in residue_columns.erased_rows(tables, search.erased.row_ids):
            search.found.append(Residue(place, row, "id"))
        for item in residue_columns.rows_mentioning(tables, search.erased.public_ids):
            search.found.append(Residue(f"{item.table}.{item.column}", item.row, "id"))
        _look_for_texts(search, tables)
    is_gone = whose.user_id in erased.row_ids.get("ops_user", ())
    for entry in stores.read_entries(whose.user_id, is_gone=is_gone, gone=erased.row_ids):
        search.looked[entry.store] += 1
        if entry.has_words:
            search.field(entry.place, entry.row, entry.strings, short=by_hand)
        if entry.has_ids:
            search.ids(entry.place, entry.row, entry.strings)
        if entry.is_left:
            search.found.append(Residue(entry.place, entry.row, "id"))
    left = _unexplained(search)
    found = sorted({*search.found, *left}, key=str)
    return Scan(dict(search.looked), len(erased.texts), found, search.others_wait)


def check(found: Scan) -> None:
    """Raise `ResidueFound` or `OtherForgetPending` with the first places if there is residue."""
    if found.found:
        where = ", ".join(map(str, found.found[:_SHOWN]))
        error = OtherForgetPending if found.others_wait else ResidueFound
        raise error(f"{len(found.found)} traces are left: {where}"[:500])


def _look_for_texts(search: _Search, tables: Sequence[ScannedTable]) -> None:
    if not len(search.erased.texts):
        return
    person = search.whose
    of_all = search.by_hand and person.user_id is None
    readings = [
        ColumnQuery(scanned, columns, partial(_rows_to_read, scanned, search=search))
        for scanned in tables
        if (columns := scanned.columns + (scanned.vouching if search.by_hand else ()))
    ]
    key = (search.by_hand, of_all, search.others_wait)
    for reading, row, values in residue_columns.rows_of_person(
        readings, key, user_id=person.user_id, subject=person.subject
    ):
        for name in reading.columns:
            value = values[name]
            if value and reading.scanned.model is Session and name == "session_data":
                value = Session(session_data=value).get_decoded()
            strings = list(filter(None, fingerprints.strings_in(value)))
            if strings:
                short = name in reading.scanned.words
                search.field(f"{reading.scanned.table}.{name}", row, strings, short=short)


def _rows_to_read(
    scanned: ScannedTable, user_id: int | None, subject: UUID | None, *, search: _Search
) -> QuerySet[Any]:
    rows: QuerySet[Any] = scanned.model._base_manager.all()
    if not search.by_hand or search.whose.user_id is not None:
        rows = scanned.of(user_id=user_id, subject=subject)
    if search.others_wait and schema.has_column(scanned.model, "hidden_at"):
        # another forget operation erases these rows and scans again
        rows = rows.filter(hidden_at__isnull=True)
    return rows


def explained_hashes(
    texts: Fingerprints, wanted: Hashes, *, user_id: int | None, since: datetime | None
) -> Hashes:
    """Return the `wanted` hashes that remaining texts of independent origin contain.

    Such texts are for example messages. A field that matches only these hashes isn't residue.
    """
    found: Hashes = np.empty(0, dtype=np.int64)
    if user_id is None or not wanted.size:
        return found
    for text in stores.independent_texts(user_id, since=since):
        found = np.union1d(found, texts.within([text]))
        if np.isin(wanted, found).all():
            break
    return found


def _unexplained(search: _Search) -> list[Residue]:
    """Return the suspected fields that are residue.

    A field isn't residue if all of its matching hashes also occur in remaining texts (see
    `explained_hashes`).
    """
    if not search.suspects:
        return []
    person = search.whose
    wanted = np.unique(np.concatenate([suspect.hashes for suspect in search.suspects]))
    user_id = None if search.by_hand else person.user_id
    known = explained_hashes(search.erased.texts, wanted, user_id=user_id, since=person.since)
    return [
        suspect.residue
        for suspect in search.suspects
        if not suspect.hashes.size or not np.isin(suspect.hashes, known).all()
    ]


class RepeatedTexts:
    """A search for rows of the same person that repeat a text that is being forgotten."""

    def __init__(self, operation: Operation, *, user: User) -> None:
        erased = erased_hashes.erased_hashes_of(operation)
        self._texts = erased.texts
        self.public_ids = erased.public_ids
        self._user = user
        self._since: datetime = operation.created_at

    def __bool__(self) -> bool:
        return bool(len(self._texts))

    def among(self, fields: Iterable[tuple[int, str]]) -> set[int]:
        """Return the numbers of the fields that contain a forgotten text.

        `fields` are pairs of a number and a text. A field isn't returned if remaining texts of
        independent origin contain the same text (see `explained_hashes`).
        """
        held: dict[int, list[FoundText]] = {}
        for number, text in fields:
            if found := self._texts.texts_found_in([text]):
                held[number] = found
        if not held:
            return set()
        hashes = [match.hashes for found in held.values() for match in found]
        known = explained_hashes(
            self._texts,
            np.unique(np.concatenate(hashes)),
            user_id=self._user.pk,
            since=self._since,
        )
        return {
            number
            for number, found in held.items()
            if any(not np.isin(match.hashes, known).all() for match in found)
        }
