"""Find the owner of a memory or a trace if a call names no user. Reads across users, as system."""

import time

from memories.models import Memory, RecallTrace
from ops.access import as_system
from ops.models import User


def of_memory(public_id: str) -> User | None:
    if not public_id.startswith("mem_"):
        return None
    with as_system():
        row = Memory.visible.filter(public_id=public_id).select_related("user").first()
    return row.user if row is not None else None


# A trace is written after its response was sent: a client that asks at once may be faster.
_PATIENCE = (0.01, 0.02, 0.04, 0.08, 0.16)


def of_request(request_id: str) -> User | None:
    """Return the owner, waiting up to 0.3 s for a trace to appear; outside any transaction."""
    user = _of_request(request_id)
    for pause in _PATIENCE if request_id.startswith("req_") else ():
        if user is not None:
            break
        time.sleep(pause)
        user = _of_request(request_id)
    return user


def _of_request(request_id: str) -> User | None:
    with as_system():
        row = RecallTrace.objects.filter(request_id=request_id).select_related("user").first()
    return row.user if row is not None else None
