"""The append-only audit log, and the current actor with the surface that the actor uses.

Adding an event never waits for other transactions; `audit_chain` seals the event later. The
actor is set for each request.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.utils import timezone

from foundation.database import statements
from ops.access import CombinedStatement
from ops.models import AuditEvent

_LISTED = 100


def record(
    action: str,
    *,
    subject: UUID | None,
    target: str = "",
    details: Mapping[str, Any] | None = None,
) -> None:
    """Add an event for the current actor, in the transaction of the change that it describes.

    If the transaction fails, there is no event. `details` may contain only ids, numbers, booleans
    and names defined in our code.
    """
    now = current_actor()
    append(
        action,
        actor=now.actor,
        surface=now.surface,
        subject=subject,
        target=target,
        details=details,
    )


def record_together(action: str, *, subject: UUID | None, target: str) -> None:
    """Record in the audit log that the current actor performed `action` on `target`.

    All targets of the same action in this transaction share one event. A single target is stored as
    the event's target. For several targets, the details contain their number and the first hundred.
    """
    _EventBatch(action, current_actor(), subject).add(target)


@dataclass
class _EventBatch(CombinedStatement):
    action: str
    who: Acting
    subject: UUID | None

    def statement(self) -> tuple[str, Sequence[Any]]:
        alone = len(self.ids) == 1
        event = AuditEvent(
            at=timezone.now(),
            actor=self.who.actor,
            surface=self.who.surface,
            action=self.action,
            subject=self.subject,
            target=self.ids[0] if alone else "",
            details={} if alone else {"ids": self.ids[:_LISTED], "count": len(self.ids)},
        )
        return statements.insert_statement([event])


def append(
    action: str,
    *,
    actor: str,
    surface: str,
    subject: UUID | None,
    target: str = "",
    details: Mapping[str, Any] | None = None,
) -> AuditEvent:
    """Add an event for the given actor, in the caller's transaction.

    `details` may contain only ids, numbers, booleans and names defined in our code.
    """
    event = AuditEvent(
        at=timezone.now(),
        actor=actor,
        surface=surface,
        action=action,
        subject=subject,
        target=target,
        details=dict(details or {}),
    )
    statements.insert([event])
    return event


@dataclass(frozen=True)
class Acting:
    """The current actor and the surface that they use.

    `actor` is `user`, `visitor`, `key <id>`, `staff <id>`, `operator` or `worker`. `surface` is
    `page`, `api`, `mcp`, `mem0`, `openai`, `admin`, `command` or `worker`.
    """

    actor: str
    surface: str


_AT_THE_TERMINAL = Acting("operator", "command")
_acting: ContextVar[Acting] = ContextVar("acting", default=_AT_THE_TERMINAL)


def current_actor() -> Acting:
    return _acting.get()


def acting_key_id() -> int | None:
    """Return the id of the acting API key, or None if the actor isn't a key."""
    kind, _, number = current_actor().actor.partition(" ")
    return int(number) if kind == "key" else None


def set_actor(actor: str, surface: str) -> None:
    """Set the actor until this thread handles its next request.

    The actor isn't reset after the view, since a streamed response is produced later.
    """
    _acting.set(Acting(actor, surface))


@contextmanager
def use_actor(actor: str, surface: str) -> Iterator[None]:
    token = _acting.set(Acting(actor, surface))
    try:
        yield
    finally:
        _acting.reset(token)
