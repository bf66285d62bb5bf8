"""Open transactions for one person or for the system.

Other modules open only savepoints. `ops.disk` also opens separate database connections.

The row security policies of `foundation.database.schema` compare the owner of a row with the
setting `memcenter.user`. Work that concerns several people (claiming operations, periodic sweeps,
administration) switches to a separate database role inside its transaction.

Transactions that lock shared rows take their locks in this order, so that no deadlock is possible:

1. The person's lock: `lock_person`, or `as_user(changing=True)` at the start of the transaction. A
   transaction that changes or erases existing rows of a person takes this lock before it locks any
   of them, so changes to one person's data run one after the other. Recording, recalling and
   reading don't take it, so they never wait for a forget operation or a worker.
2. The person's row in `ops_user`. Each request to forget increments a counter there
   (`forget_steps.register_forget`). Data that was read before such a request is written only while
   that row is locked and the counter is unchanged (`STILL_THERE`). A transaction that removes
   somebody's owner role locks the rows of all owners, ordered by id (`users.check_not_last_owner`).
3. The operation under whose lease the work is done (`Run.applying`).
4. Other advisory locks: an idempotency key, a person's notes, files and projects, and the vectors
   of one embedder.
5. A conversation, then its messages and turns, then memories and the rows that belong to them.
   Recording locks the person's settings, the conversation and its messages, and nothing else. A
   recall counts an access to a memory only if nobody has locked that memory.
6. The head of the audit log's chain (`audit_chain.lock_head`).

An import takes too long to hold the person's lock. It takes locks of earlier steps only if they are
available without waiting. `tests/rules/test_lock_order.py` checks the locks taken by every API
call, form, tool and operation.
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

from foundation.database import statements
from ops.models import User

# PostgreSQL ends a transaction whose process hangs, so that its row locks are released.
_PATIENCE = (
    f"set_config('idle_in_transaction_session_timeout', '{2 * settings.LEASE_SECONDS}s', true)"
)
# Locks the person's row, unless there was a request to forget since `forgets` was read. If the
# statement returns the row, data read since then may be written; a new request to forget waits for
# the end of this transaction.
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
    """Open a transaction for one person. Don't call a chat model or an embedder inside it.

    With `changing`, the transaction also takes the person's lock, which is needed to change
    existing rows. With `durable=False`, the commit doesn't wait for the disk. Use this for rows
    that may be lost if the machine crashes, such as the record of a search; nothing is lost if only
    the process crashes. With `at_once=False` (ignored with `changing`), the transaction begins
    together with its first statement, which saves a round trip. Raise `RuntimeError` if a
    transaction is already open, since that transaction may belong to another person.
    """
    with transaction.atomic(durable=True):
        lock = (_LOCK_PERSON.format(int(user.pk)),) if changing else ()
        begins = _begin_statement("memcenter.user", str(int(user.pk)), *lock, durable=durable)
        whose, locked = _whose.set(user.pk), _locked.set(user.pk if changing else None)
        try:
            with _begun(begins, at_once=at_once or changing), _ending():
                yield
        finally:
            _whose.reset(whose)
            _locked.reset(locked)


def lock_person(user: User) -> None:
    """Take the person's lock until the transaction ends, so that nobody else changes their rows.

    Call it before locking any of these rows. In the person's own transaction (`as_user`), a second
    call sends no statement.
    """
    if _locked.get() != user.pk:
        statements.rows(f"SELECT {_LOCK_PERSON.format(int(user.pk))}")
        if _whose.get() == user.pk:
            _locked.set(user.pk)


@contextmanager
def join_transaction(user: User, *, durable: bool = True, at_once: bool = True) -> Iterator[None]:
    """Use the person's open transaction, or open one as `as_user` does."""
    if _whose.get() == user.pk:
        yield
        return
    with as_user(user, durable=durable, at_once=at_once):
        yield


def _begun(text: str, *, at_once: bool) -> AbstractContextManager[None]:
    if not at_once:
        return statements.send_with_begin(text)
    statements.begin(text)
    return nullcontext()


@contextmanager
def as_system(*, durable: bool = True) -> Iterator[None]:
    """Open a transaction that may access the rows of all people; see `as_user` for `durable`."""
    with transaction.atomic(durable=True):
        statements.begin(_begin_statement("role", settings.SYSTEM_ROLE, durable=durable))
        with _ending():
            yield


@contextmanager
def read_all_rows() -> Iterator[None]:
    """Allow the block to read the rows of all people, inside the transaction of one person.

    Use it to check that a name is unique or that another owner remains. The block must neither show
    the rows of other people nor write anything. In a transaction opened by `as_system`, the call
    has no effect.
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


def _begin_statement(name: str, value: str, *more: str, durable: bool) -> str:
    softly = () if durable else (_SOFTLY,)
    acts = (f"set_config('{name}', '{value}', true)", _PATIENCE, *softly, *more)
    return f"SELECT {', '.join(acts)}"


def before_commit_actions() -> Sequence[Callable[[], object]]:
    """Return the actions registered by `before_commit` for the open transaction.

    The result is empty if no transaction opened by this module is open.
    """
    return _last_acts.get() or ()


class LastStatement(ABC):
    """A statement that runs at the end of a transaction, in one batch with other such statements.

    Pass it to `before_commit`.
    """

    @abstractmethod
    def statement(self) -> tuple[str, Sequence[Any]]:
        """Return the SQL text and its values."""

    def answered(self, rows: Sequence[tuple[Any, ...]]) -> None:  # noqa: B027 (few need it)
        """Process the rows that the statement returned. By default, they are ignored."""

    def __call__(self) -> None:
        self.answered(statements.rows(*self.statement()))


@dataclass
class CombinedStatement(LastStatement):
    """A statement for a list of ids, run once at the end of the transaction.

    All equal statements registered in the transaction are combined into one, which gets all ids.
    """

    ids: list[str] = field(default_factory=list, compare=False, kw_only=True)

    def add(self, id_: str) -> None:
        """Add the id to an equal statement registered in this transaction, or register this one."""
        waiting = (
            act
            for act in before_commit_actions()
            if isinstance(act, CombinedStatement) and act == self
        )
        if (same := next(waiting, None)) is not None:
            same.ids.append(id_)
            return
        self.ids.append(id_)
        before_commit(self)


def before_commit(act: Callable[[], object]) -> None:
    """Call `act` at the end of the open transaction.

    If no transaction opened by this module is open, call it at once in a transaction of its own.
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
        last_statements = [act for act in waiting if isinstance(act, LastStatement)]
        _run_together(last_statements)
        for act in waiting:
            if act not in last_statements:
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
