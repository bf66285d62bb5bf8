"""Repeat forgets after a restore of an older database state."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any

from ops.access import as_system, as_user
from ops.forgetting import ledger, person_forgets
from ops.models import Operation, User

# Returns the operation, or None if no data of it exists.
Again = Callable[[User, Mapping[str, Any], datetime], Operation | None]
_again: dict[str, Again] = {}


def reapplies(scope: str) -> Callable[[Again], Again]:
    """Register the function that repeats one scope of the ledger. It must be safe to repeat."""

    def register(one: Again) -> Again:
        _again[scope] = one
        return one

    return register


def is_older_than_ledger() -> bool:
    """Tell whether the ledger has a forget that is unknown to this database."""
    last = deque(ledger.read(), maxlen=1)
    if not last:
        return False
    with as_system():
        return not Operation.objects.filter(public_id=last[0].operation).exists()


def reapply() -> Iterator[Operation]:
    """Request every forget of the ledger whose data exists, oldest first.

    Later people and rows are not touched: subjects and ids are random, and rows without an id are
    compared by their time. A second run does nothing if no data came back.
    """
    for line in list(ledger.read()):  # each of these writes a line of its own
        with as_system():
            user = User.objects.filter(subject=line.subject).first()
        if user is None or user.created_at > line.at:
            continue
        with as_user(user, changing=True):
            operation = _again[line.scope](user, line.target, line.at)
        if operation is not None:
            yield operation


@reapplies("user")
def _user(user: User, target: Mapping[str, Any], at: datetime) -> Operation | None:
    return person_forgets.forget_user(user=user, is_repeated=True)[0]
