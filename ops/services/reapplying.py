"""After an older state of the database was restored: forget again what was forgotten since."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any

from ops.access import as_system, as_user
from ops.models import Operation, User
from ops.services import forgetting, ledger

# Gives the operation, or None where nothing of it is there (any longer).
Again = Callable[[User, Mapping[str, Any], datetime], Operation | None]
_again: dict[str, Again] = {}


def again(scope: str) -> Callable[[Again], Again]:
    """Register how one scope of the ledger is forgotten again. It must be safe to repeat."""

    def register(one: Again) -> Again:
        _again[scope] = one
        return one

    return register


def scopes() -> set[str]:
    return set(_again)


def is_older_than_ledger() -> bool:
    """Whether the ledger tells of a forget that this database has never heard of."""
    last = deque(ledger.read(), maxlen=1)
    if not last:
        return False
    with as_system():
        return not Operation.objects.filter(public_id=last[0].operation).exists()


def reapply() -> Iterator[Operation]:
    """Request every forget of the ledger whose data is there, oldest first.

    People who came later, and rows made after the line was written, are not touched: subjects and
    ids are random, and what has none is compared by when it was made. Running it again does
    nothing where nothing came back.
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


@again("user")
def _user(user: User, target: Mapping[str, Any], at: datetime) -> Operation | None:
    return forgetting.forget_user(user=user)[0]
