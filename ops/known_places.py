"""What the other apps tell the residue scan: who vouches for a text, and what lies in caches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


class Vouching(Protocol):
    def __call__(self, user_id: int, *, since: datetime | None) -> Iterator[str]: ...


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


def cache_keys(user_id: int) -> set[str]:
    """Keys that only exist for this person."""
    return {one.of_user(user_id) for one in _cached if one.of_user is not None}


def holds_messages(key: str) -> bool:
    return any(key.startswith(one.prefix) for one in _cached if one.messages)
