"""The acting user or key and the surface, set once for each request, for the audit log."""

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
    """Return the id of the acting API key, or None."""
    kind, _, number = who().actor.partition(" ")
    return int(number) if kind == "key" else None


def comes_in(actor: str, surface: str) -> None:
    """Set the actor until the thread's next request, since streaming outlives the view."""
    _now.set(Acting(actor, surface))


@contextmanager
def acting(actor: str, surface: str) -> Iterator[None]:
    token = _now.set(Acting(actor, surface))
    try:
        yield
    finally:
        _now.reset(token)
