"""Files that nobody needs any more: expired exports, imports that are over, what a kill left."""

from __future__ import annotations

import time
from pathlib import Path

from django.core.files.storage import storages

from ops.models import Export, Import, Status, User
from ops.services import events, exporting, sign_ins, signin_links, stored_files
from ops.services.stored_files import EXPORTS, IMPORTS, PARTS

_OVER = (Status.SUCCEEDED, Status.FAILED, Status.CANCELLED)
_STRAY_SECONDS = 600


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
