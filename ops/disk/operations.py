"""The handler that erases what was forgotten from the disk."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ops.disk import disk_erasure
from ops.models import Kind
from ops.queue.run import Run
from ops.registry import handles


@handles(Kind.ERASE_DISK, is_long=True)
def erase_disk(run: Run) -> Mapping[str, Any]:
    """Rewrite the tables that forgets erased from, renew the log, scan the raw files.

    Safe to run twice: tables that were rewritten are noted, hashes stay until the scan found
    nothing, and go in the transaction that says so.
    """
    return disk_erasure.carry_out(run)
