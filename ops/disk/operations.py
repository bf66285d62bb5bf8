"""The operation handler that erases forgotten texts from the disk."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ops.disk import disk_erasure
from ops.models import Kind
from ops.queue.run import Run
from ops.registry import handles


@handles(Kind.ERASE_DISK, is_long=True)
def erase_disk(run: Run) -> Mapping[str, Any]:
    """Rewrite the tables that forgets erased from, renew the log, and scan the raw files.

    Safe to run twice: rewritten tables are recorded, and hashes stay until the transaction that
    records that the scan found nothing.
    """
    return disk_erasure.carry_out(run)
