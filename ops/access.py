"""Open transactions for one person or for the system. Only this module opens them.

The policies of `memcenter.lib.database.schema` compare rows with `memcenter.user`. Work across
users (claiming, sweeps, administration) switches to a separate role inside its transaction.

Transactions that lock shared rows take their locks in this order, so that no deadlock is possible:

1. The person: `lock_person`, or `as_user(changing=True)` at the start of the transaction. A
   transaction that changes or erases a person's existing rows takes this lock before it locks any
   of them, so changes of one person run one after the other. Recording, recalling and reading
   don't take it; they wait for no forget and no worker.
2. The person's row in `ops_user`. A forget increments a counter there (`erasure.start`), and data
   that was read before a forget is written only while that row is locked (`STILL_THERE`). A
   transaction that ends an ownership locks the rows of all owners, by id
   (`users.check_not_last_owner`).
3. The operation under whose lease the work is done (`Run.applying`).
4. Other advisory locks: an idempotency key, a person's notes, files and projects, a vector space.
5. A conversation, then its messages and turns, then memories and the rows that belong to them.
   Recording locks the person's settings, the conversation and its messages, and nothing else. A
   recall counts an access only if nobody holds the memory.
6. The head of the audit log's chain (`audit_chain.hold`).

An import takes too long to lock the person. It takes locks of earlier steps only if it doesn't have
to wait for them. `tests/rules/test_lock_order.py` checks the locks of every call, form, tool and
operation.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from psycopg.pq import TransactionStatus

from memcenter.lib.database import statements
from ops.models import User

# PostgreSQL ends a transaction whose process hangs, so that its row locks are released.
_PATIENCE = (
    f"set_config('idle_in_transaction_session_timeout', '{2 * settings.LEASE_SECONDS}s', true)"
)
# Locks the person's row if no further forget was requested since `forgets` was read. Data read at
# that time may then be written, and a new forget waits.
STILL_THERE = """
SELECT id FROM ops_user WHERE id = %s AND forgets = %s AND hidden_at IS NULL FOR SHARE"""
_last_acts: ContextVar[list[Callable[[], object]] | None] = ContextVar("last_acts", default=None)
_whose: ContextVar[int | None] = ContextVar("whose", default=None)
_locked: ContextVar[int | None] = ContextVar("locked", default=None)
_LOCK_PERSON = "pg_advisory_xact_lock(hashtextextended('memcenter.person {}', 0))"
_SOFTLY = "set_config('synchronous_commit', 'off', true)"


@contextmanager
def as_user(
    user: User, *, durable: bool = True, changing: bool = False, at_once: bool = True
) -> Iterator[None]:
    """Open a transaction of one person. Leave it before any model call.

    `changing` also takes the person's lock, for changes of existing rows. With `durable=False` the
    commit doesn't wait for the disk. It is for rows that a crash of the machine may lose, such as
    the trace of a recall; a crash of the process loses nothing. Without `at_once` the transaction
    begins with its first statement, which saves a round trip. Raise `RuntimeError` if a transaction
    is already open, since its person would be unclear.
    """
    with transaction.atomic(durable=True):
        lock = (_LOCK_PERSON.format(int(user.pk)),) if changing else ()
        begins = _entering("memcenter.user", str(int(user.pk)), *lock, durable=durable)
        whose, locked = _whose.set(user.pk), _locked.set(user.pk if changing else None)
        try:
            with _begun(begins, at_once=at_once or changing), _ending():
                yield
        finally:
            _whose.reset(whose)
            _locked.reset(locked)


def lock_person(user: User) -> None:
    """Lock the person's rows against other changes until the transaction ends.

    Call it before any of the rows is locked. A second call in one transaction is free.
    """
    if _locked.get() != user.pk:
        statements.rows(f"SELECT {_LOCK_PERSON.format(int(user.pk))}")
        if _whose.get() == user.pk:
            _locked.set(user.pk)


@contextmanager
def within(user: User, *, durable: bool = True, at_once: bool = True) -> Iterator[None]:
    """Join the person's open transaction, or open one like `as_user`."""
    if _whose.get() == user.pk:
        yield
        return
    with as_user(user, durable=durable, at_once=at_once):
        yield


def _begun(text: str, *, at_once: bool) -> AbstractContextManager[None]:
    if not at_once:
        return statements.beginning(text)
    statements.begin(text)
    return nullcontext()


@contextmanager
def as_system(*, durable: bool = True) -> Iterator[None]:
    """Open a transaction that may access every person's rows; `durable` as in `as_user`."""
    with transaction.atomic(durable=True):
        statements.begin(_entering("role", settings.SYSTEM_ROLE, durable=durable))
        with _ending():
            yield


@contextmanager
def among_everybody() -> Iterator[None]:
    """Read every person's rows inside a person's transaction.

    Used to check that a name is unique and that an owner is left. The rows are never shown, and
    nothing is written. A system transaction can read them anyway.
    """
    if _whose.get() is None:
        yield
        return
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
    """Return the actions pending for the end of the open transaction, if one of ours is open."""
    return _last_acts.get() or ()


class LastStatement(ABC):
    """A statement at the end of a transaction, sent together with other such statements.

    Pass it to `before_commit`.
    """

    @abstractmethod
    def statement(self) -> tuple[str, Sequence[Any]]:
        """Return the SQL and its values."""

    def answered(self, rows: Sequence[tuple[Any, ...]]) -> None:  # noqa: B027 (few need it)
        """Process the rows that the statement returned."""

    def __call__(self) -> None:
        self.answered(statements.rows(*self.statement()))


@dataclass
class Gathered(LastStatement):
    """A statement that collects the ids of all equal statements in the same transaction."""

    ids: list[str] = field(default_factory=list, compare=False, kw_only=True)

    def add(self, id_: str) -> None:
        """Add the id to an equal pending statement, or make this one pending."""
        waiting = (act for act in last_acts() if isinstance(act, Gathered) and act == self)
        if (same := next(waiting, None)) is not None:
            same.ids.append(id_)
            return
        self.ids.append(id_)
        before_commit(self)


def before_commit(act: Callable[[], object]) -> None:
    """Call `act` at the end of the open transaction, or at once if none of ours is open."""
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
        asked = [act for act in waiting if isinstance(act, LastStatement)]
        _run_together(asked)
        for act in waiting:
            if act not in asked:
                act()
    finally:
        _last_acts.reset(token)


def _run_together(acts: Sequence[LastStatement]) -> None:
    if len(acts) == 1:
        acts[0]()
        return
    batch = statements.Batch()
    for act, later in [(act, batch.add(*act.statement())) for act in acts]:
        act.answered(later.rows())
