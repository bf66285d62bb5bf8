"""The append-only audit log. Events are added without waiting; `audit_chain` seals them later."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.utils import timezone

from memcenter.lib.database import statements
from ops.access import before_commit, last_acts
from ops.audit import acting_user
from ops.models import AuditEvent

_LISTED = 100


def record(
    action: str,
    *,
    subject: UUID | None,
    target: str = "",
    details: Mapping[str, Any] | None = None,
) -> None:
    """Add an event for the present actor, in the transaction of the audited change.

    If the transaction fails there is no event. `details` holds only ids, our own names and counts.
    """
    now = acting_user.who()
    append(
        action,
        actor=now.actor,
        surface=now.surface,
        subject=subject,
        target=target,
        details=details,
    )


def gather(action: str, *, subject: UUID | None, target: str) -> None:
    """Add one event for all calls with the same action in this transaction, like `record`.

    A single target is the event's target; of several the first hundred are listed in the details.
    """
    this = _Together(action, acting_user.who(), subject)
    for one in last_acts():
        if isinstance(one, _Together) and one == this:
            one.targets.append(target)
            return
    this.targets.append(target)
    before_commit(this)


@dataclass
class _Together:
    action: str
    who: acting_user.Acting
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
