"""Hold outgoing deliveries after a restore, until the owner releases them."""

from __future__ import annotations

from datetime import datetime

from django.utils import timezone

from ops.audit import audit_log
from ops.models import Instance, Kind

KINDS = frozenset([Kind.DELIVER_WEBHOOK])


def hold() -> None:
    """Hold all deliveries. Safe to repeat; call it in a system transaction."""
    Instance.objects.get_or_create(pk=1)
    held = Instance.objects.filter(pk=1, deliveries_held_at__isnull=True)
    if held.update(deliveries_held_at=timezone.now()):
        audit_log.record("deliveries.held", subject=None)


def resume() -> bool:
    """Release deliveries, including the waiting ones. Returns False if none were held."""
    held = Instance.objects.filter(pk=1, deliveries_held_at__isnull=False)
    resumed = bool(held.update(deliveries_held_at=None))
    if resumed:
        audit_log.record("deliveries.resumed", subject=None)
    return resumed


def held_since() -> datetime | None:
    """Return since when deliveries are held, or None."""
    return Instance.objects.filter(pk=1).values_list("deliveries_held_at", flat=True).first()
