"""Claim an operation as a worker does, in a transaction of its own."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from django.db import IntegrityError, transaction

from ops.models import Operation
from ops.queue import outbox


def claim(kinds: Sequence[str], *, now: datetime, after: UUID | None = None) -> Operation | None:
    try:
        with transaction.atomic():
            claimed = outbox.claim_next(kinds, now=now, after=after)
    except IntegrityError:
        return None
    return claimed.operation if claimed else None
