"""How deletions to the recycle bin are applied again to a restored database."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from django.conf import settings

from memories.models import Memory, MemoryFile
from memories.services import own_files
from ops.models import User
from ops.services.decisions import Decision, applies


@applies("memory")
def _memory(decision: Decision) -> bool:
    """What was deleted since goes back to the bin, with the days that were left."""
    if not decision.state["recycled"]:
        return False
    purge_at = decision.at + timedelta(days=settings.RECYCLE_DAYS)
    rows = Memory.visible.filter(public_id=decision.target, deleted_at__isnull=True)
    return bool(rows.update(deleted_at=decision.at, purge_at=purge_at, removal_asked_at=None))


@applies("file")
def _file(decision: Decision) -> bool:
    """Numbers are given out again after a restore: a file made since then is another one."""
    user = User.objects.filter(subject=UUID(decision.state["subject"])).first()
    if user is None or not decision.state["recycled"]:
        return False
    rows = MemoryFile.objects.filter(user=user, pk=int(decision.target))
    file = rows.filter(created_at__lt=decision.at).first()
    if file is None:
        return False
    own_files.recycle([file], user=user)
    return True
