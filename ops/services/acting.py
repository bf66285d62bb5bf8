"""Who acts, and through which surface: for the audit log, told once at the edge."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True)
class Acting:
    """`actor` is `user`, `visitor`, `key <id>`, `staff <id>`, `operator` or `worker`.

    `surface` is `page`, `api`, `mcp`, `mem0`, `openai`, `admin`, `command` or `worker`.
    """

    actor: str
    surface: str


_AT_THE_TERMINAL = Acting("operator", "command")
_now: ContextVar[Acting] = ContextVar("acting", default=_AT_THE_TERMINAL)


def who() -> Acting:
    return _now.get()


def key_id() -> int | None:
    """The id of the API key that acts, if one does."""
    kind, _, number = who().actor.partition(" ")
    return int(number) if kind == "key" else None


def comes_in(actor: str, surface: str) -> None:
    """For a request, until the thread's next one: what it streams comes after the view is left."""
    _now.set(Acting(actor, surface))


@contextmanager
def acting(actor: str, surface: str) -> Iterator[None]:
    token = _now.set(Acting(actor, surface))
    try:
        yield
    finally:
        _now.reset(token)
