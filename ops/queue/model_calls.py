"""Accounting of model calls: operation, tokens, time and cost, never any content."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from decimal import Decimal
from uuid import UUID

from django.conf import settings

from memcenter.providers.base import ModelUse
from ops.access import as_system
from ops.models import ModelCall, Operation

_MILLION = Decimal(1_000_000)
_MOST = Decimal("999999.999999")  # what the column holds
_current: ContextVar[Operation | None] = ContextVar("operation_that_asks", default=None)


@contextmanager
def on_behalf_of(operation: Operation) -> Iterator[None]:
    """Attribute model calls inside the block to this operation."""
    before = _current.set(operation)
    try:
        yield
    finally:
        _current.reset(before)


def record(use: ModelUse, *, subject: UUID | None = None) -> None:
    """Record one call for the running operation, outside of any transaction.

    `subject` names the person if no operation runs, as in the chat. The record stays if the
    operation fails later, since the call was paid for.
    """
    operation = _current.get()
    with as_system():
        ModelCall.objects.create(
            subject=operation.subject if operation else subject,
            operation_public_id=operation.public_id if operation else "",
            step=use.step[:30],
            provider=use.provider[:60],
            model=use.model[:100],
            prompt_version=use.prompt_version[:20],
            input_tokens=use.input_tokens,
            output_tokens=use.output_tokens,
            cost=cost(use),
            took_ms=use.took_ms,
            outcome=use.outcome[:20],
            dropped=use.dropped,
        )


def cost(use: ModelUse) -> Decimal:
    """Return the cost by the price settings, which are for a million tokens."""
    paid = use.input_tokens * Decimal(str(settings.MODEL_PRICE_INPUT))
    paid += use.output_tokens * Decimal(str(settings.MODEL_PRICE_OUTPUT))
    return min(_MOST, (paid / _MILLION).quantize(Decimal("0.000001")))
