"""Apply deletions to the recycle bin again to a restored database."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db.models import QuerySet

from memories.files import user_notes
from memories.models import Memory, MemoryFile
from ops.accounts import access_ledger
from ops.accounts.access_ledger import Decision, applies
from ops.models import User


@applies("memory")
def _memory(decision: Decision) -> bool:
    """Move a memory deleted since the backup back to the bin, with its remaining days."""
    if not decision.state["recycled"]:
        return False
    purge_at = decision.at + timedelta(days=settings.RECYCLE_DAYS)
    rows = Memory.visible.filter(public_id=decision.target, deleted_at__isnull=True)
    return bool(rows.update(deleted_at=decision.at, purge_at=purge_at, removal_asked_at=None))


def record_return(rows: QuerySet[Memory]) -> None:
    """Record that imported memories are in use whose ids were in the recycle bin once."""
    binned = {one.target for one in access_ledger.latest() if one.kind == "memory"}
    for public_id in rows.filter(public_id__in=binned, deleted_at=None).values_list(
        "public_id", flat=True
    ):
        access_ledger.record("memory", public_id, recycled=False)


@applies("file")
def _file(decision: Decision) -> bool:
    """Recycle a file again; keys are reused after a restore, so a later file is another one."""
    user = User.objects.filter(subject=UUID(decision.state["subject"])).first()
    if user is None or not decision.state["recycled"]:
        return False
    rows = MemoryFile.objects.filter(user=user, pk=int(decision.target))
    file = rows.filter(created_at__lt=decision.at).first()
    if file is None:
        return False
    user_notes.recycle([file], user=user)
    return True
