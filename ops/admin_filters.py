"""Questions that operators and auditors ask of a list."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy

from ops import selectors
from ops.models import AuditEvent, Operation
from ops.selectors import Trouble


class TroubleFilter(admin.SimpleListFilter):
    title = gettext_lazy("trouble")
    parameter_name = "trouble"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [
            (Trouble.OVERDUE, gettext_lazy("due and taken up by nobody")),
            (Trouble.STUCK, gettext_lazy("not getting on")),
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Operation]) -> QuerySet[Operation]:
        if self.value() not in list(Trouble):
            return queryset
        trouble = Trouble(str(self.value()))
        return queryset.filter(selectors.in_trouble(trouble, now=timezone.now()))


class DeedFilter(admin.SimpleListFilter):
    """An auditor's first question: what kind of thing was done."""

    title = gettext_lazy("what was done")
    parameter_name = "deed"
    deeds: Mapping[str, tuple[Any, tuple[str, ...]]] = {
        "forgotten": (gettext_lazy("deleted or forgotten"), ("forget.", "memory.bulk")),
        "signed-in": (
            gettext_lazy("signed in or tried to"),
            ("signin", "password.", "second_factor.", "identity."),
        ),
        "keys": (gettext_lazy("keys and webhooks"), ("key.", "webhook.")),
        "taken-out": (gettext_lazy("exported or brought in"), ("export", "import")),
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


class KeyFilter(admin.SimpleListFilter):
    title = gettext_lazy("who acted")
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
