"""What the other apps tell the residue scan: who vouches for a text, and what lies in caches."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


class Vouching(Protocol):
    def __call__(self, user_id: int, *, since: datetime | None) -> Iterator[str]: ...


class Elsewhere(Protocol):
    """A store beside the database that follows it; asked outside of any transaction but `look`.

    Raises `ProviderError` where it can't be reached.
    """

    @property
    def name(self) -> str: ...

    def is_used(self) -> bool:
        """Whether it may hold anything at all; one statement of the database."""

    def follow(self, user_id: int, *, then: Callable[[int], object]) -> None:
        """Erase there what was erased of a person in the database.

        `then` is called with how many went, in the transaction that takes them off the list.
        """

    def look(
        self, user_id: int | None, gone: Mapping[str, Collection[int]], *, is_gone: bool
    ) -> Iterator[tuple[str, bool]]:
        """What was looked for, each with whether it is left; `gone` are keys by table.

        `is_gone`: nothing of the person may be there. Without `gone` all that is there is looked
        at, and is left where the database doesn't know it.
        """


@dataclass(frozen=True)
class Cached:
    """Keys that begin so, and the module that writes them.

    `of_user` names the key that holds something of one person. `messages`: what people say in it
    is said there and nowhere else, so it is nobody's copy.
    """

    prefix: str
    module: str
    of_user: Callable[[int], str] | None = None
    messages: bool = False


_vouching: list[Vouching] = []
_cached: list[Cached] = []
_personal_folders: list[str] = []
_elsewhere: list[Elsewhere] = []


def vouches(texts: Vouching) -> Vouching:
    """Register what people said themselves and what is still there."""
    _vouching.append(texts)
    return texts


def vouching(user_id: int, *, since: datetime | None) -> Iterator[str]:
    for one in _vouching:
        yield from one(user_id, since=since)


def caches(*found: Cached) -> None:
    _cached.extend(found)


def cached() -> list[Cached]:
    return list(_cached)


def personal_folders(storage: str) -> None:
    """Register a storage in which each person has a folder, named by the key of their row."""
    _personal_folders.append(storage)


def storages_of_people() -> list[str]:
    return list(_personal_folders)


def elsewhere(store: Elsewhere) -> None:
    """Register a store beside the database."""
    _elsewhere.append(store)


def stores_beside() -> Sequence[Elsewhere]:
    return list(_elsewhere)


def stores_in_use() -> Sequence[Elsewhere]:
    return [one for one in _elsewhere if one.is_used()]


def cache_keys(user_id: int) -> set[str]:
    """Keys that only exist for this person."""
    return {one.of_user(user_id) for one in _cached if one.of_user is not None}


def holds_messages(key: str) -> bool:
    return any(key.startswith(one.prefix) for one in _cached if one.messages)
