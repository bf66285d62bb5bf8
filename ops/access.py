"""The one place that opens a transaction around services and says for whom.

Row security is prepared: the policies compare rows with `memcenter.user`, and work across
users (claiming, sweeps, administration) takes a role of its own inside its transaction.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.db import connection, transaction

from ops.models import User

_ENTER = "SELECT set_config('memcenter.user', %s, true)"
_ENTER_SOFTLY = f"{_ENTER}, set_config('synchronous_commit', 'off', true)"


@contextmanager
def as_user(user: User, *, durable: bool = True) -> Iterator[None]:
    """Open one person's transaction; leave it before any model call.

    With `durable=False` the commit doesn't wait for the disk: for what may be missing after the
    machine itself broke down, as the trace of a recall. Nothing is lost when a process ends.
    Raises `RuntimeError` when a transaction is already open: that would hide whose it is.
    """
    with transaction.atomic(durable=True), connection.cursor() as cursor:
        cursor.execute(_ENTER if durable else _ENTER_SOFTLY, [str(user.pk)])
        yield
        if connection.savepoint_ids:  # inside a test's transaction: it would outlive the block
            cursor.execute("SELECT set_config('memcenter.user', '', true)")


@contextmanager
def as_system() -> Iterator[None]:
    """Open a transaction that may touch everybody's rows."""
    with transaction.atomic(durable=True), connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL ROLE {connection.ops.quote_name(settings.SYSTEM_ROLE)}")
        yield
        if connection.savepoint_ids:
            cursor.execute("SET LOCAL ROLE NONE")
