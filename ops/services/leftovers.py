"""Files that nobody needs any more: expired exports, imports that are over, what a kill left."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

from django.core.files.storage import storages

from memcenter.lib import statements
from ops.access import as_system
from ops.models import Export, Import, Status, User
from ops.services import events, exporting, sign_ins, signin_links, stored_files
from ops.services.stored_files import EXPORTS, IMPORTS, PARTS

_OVER = (Status.SUCCEEDED, Status.FAILED, Status.CANCELLED)
_STRAY_SECONDS = 600
_ARRIVED_SECONDS = 15
_CLOCKS_APART = 5
_LONGEST_AT_WORK = """
SELECT extract(epoch FROM min(xact_start))::float8 FROM pg_stat_activity
 WHERE datname = current_database() AND pid <> pg_backend_pid()
"""


def erase_expired() -> dict[str, int]:
    """Erase them all, in the caller's transaction; safe to repeat."""
    return {
        "exports": exporting.erase_expired(),
        "imports": erase_imports(),
        "stray_files": _erase_strays(),
        "signin_links": signin_links.erase_expired(),
        "sessions": sign_ins.erase_expired(),
        "deliveries": events.erase_old(),
    }


def erase_abandoned_uploads() -> int:
    """Erase what arrived for an import that nobody asked for: its process died between the two.

    Who is still at it has had a transaction open since before the file was there. To be called
    outside any transaction, as the app's role, which sees its own at work. Gives how many.
    """
    arrived = {
        path.name: at
        for path in _files_in(IMPORTS)
        if (at := _changed_at(path)) is not None and time.time() - at > _ARRIVED_SECONDS
    }
    if not arrived:
        return 0
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
    """None where it went meanwhile."""
    with suppress(FileNotFoundError):
        return path.stat().st_mtime
    return None


def erase_imports(user: User | None = None) -> int:
    """Erase the files of imports that are over, however they ended; gives how many."""
    over = Import.objects.filter(operation__status__in=_OVER).exclude(path="")
    if user is not None:
        over = over.filter(user=user)
    count = stored_files.delete(IMPORTS, over.values_list("path", flat=True))
    over.update(path="")
    return count


def _erase_strays() -> int:
    """What no row names: an upload or a request that died half-way. Young ones may be at work."""
    named = {
        *Export.objects.exclude(path="").values_list("path", flat=True),
        *Import.objects.exclude(path="").values_list("path", flat=True),
    }
    count = 0
    for kind in (EXPORTS, IMPORTS, PARTS):
        for path in _files_in(kind):
            if path.name not in named and time.time() - path.stat().st_mtime > _STRAY_SECONDS:
                path.unlink(missing_ok=True)
                count += 1
    return count


def _files_in(kind: str) -> list[Path]:
    """Only where they lie in a folder of ours; object storage expires them by itself."""
    try:
        folder = Path(storages[kind].path(""))
    except NotImplementedError:
        return []
    return [one for one in folder.iterdir() if one.is_file()] if folder.is_dir() else []
