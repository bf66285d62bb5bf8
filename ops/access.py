"""The one place that opens a transaction around services and says for whom.

The policies of `memcenter.lib.database.row_security` compare rows with `memcenter.user`; work
across users (claiming, sweeps, administration) takes a role of its own inside its transaction.

The order of locks. Transactions that lock what others lock too take it in this order, so that they
never wait for each other in a circle:

1. the person: `lock_person`, which `as_user(changing=True)` takes with the transaction. Whoever
   changes or erases rows of a person that are there already takes it before any of them, so one
   person's changes come one after the other. Recording what is said, recalling and reading don't
   take it: they wait for no forget and no worker;
2. the row of the person in `ops_user`: a forget counts itself there (`erasing.start`), and what was
   read before a forget is written only while that row is held (`STILL_THERE`);
3. the operation under whose lease the work is done (`Run.applying`);
4. other advisory locks: an idempotency key, a person's notes, files and projects, a vector space;
5. a conversation, then its messages and turns, then memories and all that hangs on them. Recording
   holds the person's settings, the conversation and what was said in it, and nothing else. A recall
   counts its accesses where nobody holds the memory;
6. last the head of the audit log's chain (`audit_chain.hold`).

An import is too long to hold the person. It takes no lock of an earlier step that it would have to
wait for (`bringing_in.check_still_wanted`). `tests/rules/test_lock_order.py` looks at what every
call, form, tool and operation locks.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from django.conf import settings
from django.db import connection, transaction
from psycopg.pq import TransactionStatus

from memcenter.lib.database import statements
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
_locked: ContextVar[int | None] = ContextVar("locked", default=None)
_LOCK_PERSON = "pg_advisory_xact_lock(hashtextextended('memcenter.person {}', 0))"
_SOFTLY = "set_config('synchronous_commit', 'off', true)"


@contextmanager
def as_user(user: User, *, durable: bool = True, changing: bool = False) -> Iterator[None]:
    """Open one person's transaction; leave it before any model call.

    `changing` takes the person's lock with it: for whatever changes rows that are there already.
    With `durable=False` the commit doesn't wait for the disk: for what may be missing after the
    machine itself broke down, as the trace of a recall. Nothing is lost when a process ends.
    Raises `RuntimeError` when a transaction is already open: that would hide whose it is.
    """
    with transaction.atomic(durable=True):
        lock = (_LOCK_PERSON.format(int(user.pk)),) if changing else ()
        statements.begin(_entering("memcenter.user", str(int(user.pk)), *lock, durable=durable))
        whose, locked = _whose.set(user.pk), _locked.set(user.pk if changing else None)
        try:
            with _ending():
                yield
        finally:
            _whose.reset(whose)
            _locked.reset(locked)


def lock_person(user: User) -> None:
    """Let nobody else change rows of this person until the transaction ends.

    Call it before any of them is locked. It costs nothing where the transaction holds it already.
    """
    if _locked.get() != user.pk:
        statements.rows(f"SELECT {_LOCK_PERSON.format(int(user.pk))}")
        if _whose.get() == user.pk:
            _locked.set(user.pk)


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


def _entering(name: str, value: str, *more: str, durable: bool) -> str:
    softly = () if durable else (_SOFTLY,)
    acts = (f"set_config('{name}', '{value}', true)", _PATIENCE, *softly, *more)
    return f"SELECT {', '.join(acts)}"


def last_acts() -> Sequence[Callable[[], object]]:
    """What waits for the end of the transaction that is open; nothing where none of ours is."""
    return _last_acts.get() or ()


def before_commit(act: Callable[[], object]) -> None:
    """Do it as the last thing of the transaction that is open, or at once where none of ours is."""
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
