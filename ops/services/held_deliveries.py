"""Deliveries to addresses outside are held after a restore, until the owner lets them go."""

from __future__ import annotations

from datetime import datetime

from django.utils import timezone

from ops.models import Instance, Kind
from ops.services import audit

KINDS = frozenset([Kind.DELIVER_WEBHOOK])


def hold() -> None:
    """Send nothing from now on. Safe to repeat; in a transaction of the system's."""
    Instance.objects.get_or_create(pk=1)
    held = Instance.objects.filter(pk=1, deliveries_held_at__isnull=True)
    if held.update(deliveries_held_at=timezone.now()):
        audit.record("deliveries.held", subject=None)


def resume() -> bool:
    """Send again, what waits as well. Returns False where nothing was held."""
    held = Instance.objects.filter(pk=1, deliveries_held_at__isnull=False)
    resumed = bool(held.update(deliveries_held_at=None))
    if resumed:
        audit.record("deliveries.resumed", subject=None)
    return resumed


def held_since() -> datetime | None:
    """Since when deliveries are held, or None."""
    return Instance.objects.filter(pk=1).values_list("deliveries_held_at", flat=True).first()
