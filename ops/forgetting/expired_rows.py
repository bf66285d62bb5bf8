"""Erase expired rows, such as exports and sessions, and files that are no longer needed.

Such files belong to imports that have ended, or were left behind by killed processes.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import timedelta
from itertools import islice
from pathlib import Path

from django.conf import settings
from django.contrib.sessions.models import Session
from django.core.files.storage import storages
from django.db.models import QuerySet
from django.utils import timezone

from foundation.database import statements
from ops import weekly_mail
from ops.access import as_system
from ops.models import Delivery, Export, Import, Invitation, SignIn, Status, User
from ops.queue.run import AT_ONCE, Run, delete_rows, work_in_batches
from ops.transfer import exports, stored_files
from ops.transfer.stored_files import EXPORTS, IMPORTS, PARTS

_OVER = (Status.SUCCEEDED, Status.FAILED, Status.CANCELLED)
_STRAY_SECONDS = 600
_ARRIVED_SECONDS = 15
_CLOCKS_APART = 5
_LONGEST_AT_WORK = """
SELECT extract(epoch FROM min(xact_start))::float8 FROM pg_stat_activity
 WHERE datname = current_database() AND pid <> pg_backend_pid()
"""


def erase_expired(run: Run) -> dict[str, int]:
    """Erase expired exports, sessions, invitations and deliveries, and files without a row.

    Also erases the files of finished imports, and unconfirmed email addresses. Each batch has a
    transaction of its own. Safe to repeat.
    """
    now = timezone.now()
    session_began = now - timedelta(seconds=settings.SESSION_COOKIE_AGE)
    sign_ins = SignIn.objects.filter(began_at__lt=session_began, seen_at__lt=session_began)
    deliveries = Delivery.objects.filter(created_at__lt=now - timedelta(days=settings.TRACE_DAYS))
    expired = Export.objects.filter(expires_at__lte=now)
    counts = {
        "exports": work_in_batches(run, expired, exports.erase_exports),
        "imports": work_in_batches(run, _ended_imports(), _erase_imports),
        "sessions": work_in_batches(run, Session.objects.filter(expire_date__lt=now), delete_rows),
        "deliveries": work_in_batches(run, deliveries, delete_rows),
    }
    work_in_batches(run, sign_ins, delete_rows)
    work_in_batches(run, Invitation.objects.filter(expires_at__lt=now), delete_rows)
    work_in_batches(run, weekly_mail.unconfirmed_addresses(), delete_rows)
    return counts | {"stray_files": _erase_strays(run)}


def erase_abandoned_uploads() -> int:
    """Erase uploads whose process died before it requested the import.

    Return their number. A process that receives an upload opens a transaction before it creates the
    file, so a file older than every open transaction is abandoned. Call this outside any
    transaction and with the app's own database role, which can see all transactions of the app.
    """
    return sum(
        _erase_abandoned(arrived) for arrived in _old_files_in(IMPORTS, older_than=_ARRIVED_SECONDS)
    )


def _erase_abandoned(arrived: Mapping[str, float]) -> int:
    [(begun,)] = statements.rows(_LONGEST_AT_WORK)
    with as_system():
        named = {*Import.objects.filter(path__in=arrived).values_list("path", flat=True)}
    gone = [
        name
        for name, at in arrived.items()
        if name not in named and (begun is None or begun > at + _CLOCKS_APART)
    ]
    return stored_files.delete(IMPORTS, gone)


def _changed_at(path: Path) -> float | None:
    with suppress(FileNotFoundError):
        return path.stat().st_mtime
    return None


def erase_imports(user: User) -> None:
    """Erase the files of the person's finished, failed and cancelled imports."""
    _erase_imports(_ended_imports().filter(user=user))


def _ended_imports() -> QuerySet[Import]:
    return Import.objects.filter(operation__status__in=_OVER).exclude(path="")


def _erase_imports(rows: QuerySet[Import]) -> None:
    stored_files.delete(IMPORTS, rows.values_list("path", flat=True))
    rows.update(path="")


def _erase_strays(run: Run) -> int:
    """Erase files without a row, each batch in its own transaction; return their number.

    Recent files are kept, since they may be in use.
    """
    count = 0
    for kind in (EXPORTS, IMPORTS, PARTS):
        for names in _old_files_in(kind, older_than=_STRAY_SECONDS):
            with run.applying_as_system():
                gone = set(names)
                for rows in (Export.objects, Import.objects):
                    gone.difference_update(
                        rows.filter(path__in=gone).values_list("path", flat=True)
                    )
                for name in gone:
                    Path(storages[kind].path(name)).unlink(missing_ok=True)
            count += len(gone)
    return count


def _old_files_in(kind: str, *, older_than: float) -> Iterator[dict[str, float]]:
    """Yield the old files in a folder on the local disk, at most `AT_ONCE` at a time.

    A batch maps file names to modification times (Unix seconds). `older_than` is in seconds.
    Nothing is yielded for object storage, which deletes expired files itself.
    """
    try:
        folder = Path(storages[kind].path(""))
    except NotImplementedError:
        return
    if not folder.is_dir():
        return
    with os.scandir(folder) as entries:
        while some := list(islice(entries, AT_ONCE)):
            now = time.time()
            found = ((one.name, _changed_at(Path(one))) for one in some if one.is_file())
            old = {name: at for name, at in found if at is not None and now - at > older_than}
            if old:
                yield old
