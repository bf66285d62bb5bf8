"""The audit log: append-only. Nobody waits here; `ops.services.audit_chain` chains the events."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.utils import timezone

from memcenter.lib import statements
from ops.access import before_commit, last_acts
from ops.models import AuditEvent
from ops.services import acting

_LISTED = 100


def record(
    action: str,
    *,
    subject: UUID | None,
    target: str = "",
    details: Mapping[str, Any] | None = None,
) -> None:
    """Write down what is being done, by whoever acts now, in the transaction that does it.

    If the transaction fails there is no event. `details` holds ids, names of ours and counts only.
    """
    now = acting.who()
    append(
        action,
        actor=now.actor,
        surface=now.surface,
        subject=subject,
        target=target,
        details=details,
    )


def gather(action: str, *, subject: UUID | None, target: str) -> None:
    """As `record`, for what may happen many times in one transaction: that is one event.

    One target stands where it always does; several are listed, the first hundred of them.
    """
    this = _Together(action, acting.who(), subject)
    for one in last_acts():
        if isinstance(one, _Together) and one == this:
            one.targets.append(target)
            return
    this.targets.append(target)
    before_commit(this)


@dataclass
class _Together:
    action: str
    who: acting.Acting
    subject: UUID | None
    targets: list[str] = field(default_factory=list, compare=False)

    def __call__(self) -> None:
        alone = len(self.targets) == 1
        details = {"ids": self.targets[:_LISTED], "count": len(self.targets)}
        append(
            self.action,
            actor=self.who.actor,
            surface=self.who.surface,
            subject=self.subject,
            target=self.targets[0] if alone else "",
            details=None if alone else details,
        )


def append(
    action: str,
    *,
    actor: str,
    surface: str,
    subject: UUID | None,
    target: str = "",
    details: Mapping[str, Any] | None = None,
) -> AuditEvent:
    """Add one event in the caller's transaction; `details` holds ids and counts only."""
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
