"""Filters of the admin's lists."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib import admin
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy

from ops import selectors
from ops.models import AuditEvent, Operation, Status
from ops.selectors import Trouble

_LATEST = 5_000


class LatestValuesFilter(admin.AllValuesFieldListFilter):
    """Offer the values of a column among the newest rows, since reading all rows would be slow."""

    def __init__(
        self,
        field: Any,
        request: HttpRequest,
        params: Any,
        model: Any,
        model_admin: Any,
        field_path: str,
    ) -> None:
        super().__init__(field, request, params, model, model_admin, field_path)
        newest = model_admin.get_queryset(request).order_by("-pk")[:_LATEST]
        found = set(newest.values_list(field.name, flat=True))
        self.lookup_choices = sorted(found, key=lambda value: (value is None, value))  # type: ignore[assignment]


class FinishedFilter(admin.SimpleListFilter):
    """Filter by whether the requested work is finished. Only background work has an end."""

    title = gettext_lazy("finished")
    parameter_name = "finished"
    statuses: Mapping[str, tuple[Any, tuple[str, ...]]] = {
        "no": (gettext_lazy("not yet"), (Status.PENDING, Status.RUNNING)),
        "yes": (gettext_lazy("done"), (Status.SUCCEEDED,)),
        "failed": (gettext_lazy("failed or cancelled"), (Status.FAILED, Status.CANCELLED)),
    }

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [(name, told) for name, (told, _) in self.statuses.items()]

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[AuditEvent]
    ) -> QuerySet[AuditEvent]:
        if self.value() not in self.statuses:
            return queryset
        _, wanted = self.statuses[str(self.value())]
        asked = Operation.objects.filter(status__in=wanted)
        if self.value() == "no":  # few rows: found by their index, then their events
            return queryset.filter(target__in=asked.values("public_id"))
        return queryset.filter(Exists(asked.filter(public_id=OuterRef("target"))))


class TroubleFilter(admin.SimpleListFilter):
    title = gettext_lazy("trouble")
    parameter_name = "trouble"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [
            (Trouble.OVERDUE, gettext_lazy("due, but not started")),
            (Trouble.STUCK, gettext_lazy("stuck")),
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Operation]) -> QuerySet[Operation]:
        if self.value() not in list(Trouble):
            return queryset
        trouble = Trouble(str(self.value()))
        return queryset.filter(selectors.in_trouble(trouble, now=timezone.now()))


class DeedFilter(admin.SimpleListFilter):
    """Filter by the group of actions."""

    title = gettext_lazy("what was done")
    parameter_name = "deed"
    deeds: Mapping[str, tuple[Any, tuple[str, ...]]] = {
        "forgotten": (
            gettext_lazy("deleted or forgotten"),
            ("forget.", "memory.deleted", "memory.bulk", "file.recycled"),
        ),
        "signed-in": (
            gettext_lazy("signed in or tried to"),
            ("signin", "password.", "second_factor.", "identity."),
        ),
        "keys": (gettext_lazy("keys and webhooks"), ("key.", "webhook.")),
        "taken-out": (gettext_lazy("exported or imported"), ("export", "import")),
        "staff": (gettext_lazy("done by staff"), ("admin.", "user.", "staff.", "operation.")),
    }

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [(name, told) for name, (told, _) in self.deeds.items()]

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[AuditEvent]
    ) -> QuerySet[AuditEvent]:
        if self.value() not in self.deeds:
            return queryset
        _, beginnings = self.deeds[str(self.value())]
        wanted = Q()
        for one in beginnings:
            wanted |= Q(action__startswith=one)
        return queryset.filter(wanted)


class ActorFilter(admin.SimpleListFilter):
    """Which key or member of the staff it was is searched for: `key 12`."""

    title = gettext_lazy("who did it")
    parameter_name = "through"
    lookups_of = {
        "key": gettext_lazy("an API key"),
        "user": gettext_lazy("the person"),
        "staff": gettext_lazy("staff"),
    }

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return list(self.lookups_of.items())

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[AuditEvent]
    ) -> QuerySet[AuditEvent]:
        if self.value() not in self.lookups_of:
            return queryset
        return queryset.filter(actor__startswith=str(self.value()))
