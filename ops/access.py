"""The one place that opens a transaction around services and says for whom.

The policies of `memcenter.lib.row_security` compare rows with `memcenter.user`; work across users
(claiming, sweeps, administration) takes a role of its own inside its transaction.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from django.conf import settings
from django.db import connection, transaction
from psycopg.pq import TransactionStatus

from memcenter.lib import statements
from ops.models import User

# A process that stands still in the middle of a transaction would hold its rows for ever: the
# database ends that transaction, and others go on.
_PATIENCE = (
    f"set_config('idle_in_transaction_session_timeout', '{2 * settings.LEASE_SECONDS}s', true)"
)
# Holds a person of this key whom nothing was asked to be forgotten for since they had asked for so
# many forgets: what was read of them then may be written down, and a forget that begins waits.
STILL_THERE = """
SELECT id FROM ops_user WHERE id = %s AND forgets = %s AND hidden_at IS NULL FOR SHARE"""
_last_acts: ContextVar[list[Callable[[], object]] | None] = ContextVar("last_acts", default=None)
_whose: ContextVar[int | None] = ContextVar("whose", default=None)
_SOFTLY = "set_config('synchronous_commit', 'off', true)"


@contextmanager
def as_user(user: User, *, durable: bool = True) -> Iterator[None]:
    """Open one person's transaction; leave it before any model call.

    With `durable=False` the commit doesn't wait for the disk: for what may be missing after the
    machine itself broke down, as the trace of a recall. Nothing is lost when a process ends.
    Raises `RuntimeError` when a transaction is already open: that would hide whose it is.
    """
    with transaction.atomic(durable=True):
        statements.begin(_entering("memcenter.user", str(int(user.pk)), durable=durable))
        token = _whose.set(user.pk)
        try:
            with _ending():
                yield
        finally:
            _whose.reset(token)
        if connection.savepoint_ids:  # inside a test's transaction: it would outlive the block
            statements.rows("SELECT set_config('memcenter.user', '', true)")


@contextmanager
def within(user: User, *, durable: bool = True) -> Iterator[None]:
    """As `as_user`, or a part of the transaction that is open already for this person."""
    if _whose.get() == user.pk:
        yield
        return
    with as_user(user, durable=durable):
        yield


@contextmanager
def as_system(*, durable: bool = True) -> Iterator[None]:
    """Open a transaction that may touch everybody's rows; `durable` as above."""
    with transaction.atomic(durable=True):
        statements.begin(_entering("role", settings.SYSTEM_ROLE, durable=durable))
        with _ending():
            yield
        if connection.savepoint_ids:
            statements.rows("SET LOCAL ROLE NONE")


@contextmanager
def among_everybody() -> Iterator[None]:
    """Within a person's transaction: look at everybody's rows, where a name must be nobody else's.

    What is read here is never shown and nothing is written.
    """
    statements.rows(f"SET LOCAL ROLE {settings.SYSTEM_ROLE}")
    try:
        yield
    finally:
        if connection.connection.info.transaction_status == TransactionStatus.INTRANS:
            statements.rows("SET LOCAL ROLE NONE")


def _entering(name: str, value: str, *, durable: bool) -> str:
    acts = (f"set_config('{name}', '{value}', true)", _PATIENCE, *(() if durable else (_SOFTLY,)))
    return f"SELECT {', '.join(acts)}"


def last_acts() -> Sequence[Callable[[], object]]:
    """What waits for the end of the transaction that is open; nothing where none of ours is."""
    return _last_acts.get() or ()


def before_commit(act: Callable[[], object]) -> None:
    """Do it as the last thing of the transaction that is open, or at once where none of ours is.

    For what holds a lock that everybody needs.
    """
    waiting = _last_acts.get()
    if waiting is not None:
        waiting.append(act)
        return
    with transaction.atomic():
        act()


@contextmanager
def _ending() -> Iterator[None]:
    waiting: list[Callable[[], object]] = []
    token = _last_acts.set(waiting)
    try:
        yield
        for act in waiting:
            act()
    finally:
        _last_acts.reset(token)
