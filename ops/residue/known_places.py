"""Registrations of the other apps for the residue scan: sources, caches and external stores."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


class Vouching(Protocol):
    def __call__(self, user_id: int, *, since: datetime | None) -> Iterator[str]: ...


class ExternalStore(Protocol):
    """A store that follows the database. Its methods run outside transactions, except `look`.

    They raise `ProviderError` if the store can't be reached.
    """

    @property
    def name(self) -> str: ...

    def is_used(self) -> bool:
        """Tell whether the store may contain anything, in one statement."""

    def follow(self, user_id: int, *, then: Callable[[int], object]) -> None:
        """Erase a person's rows there that the database has erased.

        `then` is called with their number, in the transaction that removes them from the list.
        """

    def look(
        self, user_id: int | None, gone: Mapping[str, Collection[int]], *, is_gone: bool
    ) -> Iterator[tuple[str, bool]]:
        """Return each searched entry and whether it is left; `gone` are keys by table.

        `is_gone`: nothing of the person may be left. Without `gone`, every entry is checked, and an
        entry that the database doesn't have counts as left.
        """


@dataclass(frozen=True)
class Cached:
    """Cache keys with this prefix, and the module that writes them.

    `of_user` returns the key of one person. `messages`: the cache is the only place of its texts,
    so they are copies of no message.
    """

    prefix: str
    module: str
    of_user: Callable[[int], str] | None = None
    messages: bool = False


_vouching: list[Vouching] = []
_cached: list[Cached] = []
_personal_folders: list[str] = []
_elsewhere: list[ExternalStore] = []


def vouches(texts: Vouching) -> Vouching:
    """Register the query of texts that people wrote and that remain."""
    _vouching.append(texts)
    return texts


def vouching(user_id: int, *, since: datetime | None) -> Iterator[str]:
    for one in _vouching:
        yield from one(user_id, since=since)


def caches(*found: Cached) -> None:
    _cached.extend(found)


def personal_folders(storage: str) -> None:
    """Register a storage in which each person has a folder, named by the key of their row."""
    _personal_folders.append(storage)


def storages_of_people() -> list[str]:
    return list(_personal_folders)


def register_store(store: ExternalStore) -> None:
    """Register a store beside the database."""
    _elsewhere.append(store)


def stores_in_use() -> Sequence[ExternalStore]:
    return [one for one in _elsewhere if one.is_used()]


def cache_keys(user_id: int) -> set[str]:
    """Return the cache keys of this person."""
    return {one.of_user(user_id) for one in _cached if one.of_user is not None}


def holds_messages(key: str) -> bool:
    return any(key.startswith(one.prefix) for one in _cached if one.messages)
