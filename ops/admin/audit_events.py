"""The admin pages of the audit log, and its download as JSON lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import orjson
from django.contrib import admin
from django.db.models import F, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest, StreamingHttpResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from ops import audit_chain, audit_log
from ops.access import as_system
from ops.admin.base import (
    ActorFilter,
    DeedFilter,
    FinishedFilter,
    LatestValuesFilter,
    ReadOnlyAdmin,
)
from ops.models import AuditEvent, Kind, Operation, Status, User

_AT_ONCE = 2_000  # events of a batch
# The admin pages of actors, by the kind of actor.
_PAGES = {"key": "ops_apikey", "staff": "ops_user"}


class AuditEventAdmin(ReadOnlyAdmin):
    called = gettext_lazy("audit event"), gettext_lazy("audit events")
    list_display = ("at", "by", "surface", "action", "what", "whose", "target", "finished")
    list_filter = (
        DeedFilter,
        ActorFilter,
        FinishedFilter,
        "at",
        ("surface", LatestValuesFilter),
        ("action", LatestValuesFilter),
    )
    search_fields = ("=actor", "=subject", "=target")
    search_help_text = gettext_lazy(
        "A subject id, the id of a memory or operation, or who acted: “key 12”, “staff 3”."
    )
    actions = ("export",)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        return [*super().get_fields(request, obj), "place"]

    def whole(self, rows: QuerySet[AuditEvent]) -> QuerySet[AuditEvent]:
        asked = Operation.objects.filter(public_id=OuterRef("target"))
        person = User.objects.filter(subject=OuterRef("subject"))
        found: QuerySet[AuditEvent] = super().whole(rows)
        return found.annotate(
            operation_kind=Subquery(asked.values("kind")[:1]),
            operation_status=Subquery(asked.values("status")[:1]),
            person=Subquery(person.values(name=Coalesce("username", "external_id"))[:1]),
        )

    @admin.display(description=gettext_lazy("by"))
    def by(self, event: AuditEvent) -> str:
        """Return the actor; an API key or a staff member is linked to its page."""
        who, _, number = event.actor.partition(" ")
        if who not in _PAGES or not number.isdecimal():
            return event.actor
        page = reverse(f"admin:{_PAGES[who]}_change", args=[number])
        return format_html('<a href="{}">{}</a>', page, event.actor)

    @admin.display(description=gettext_lazy("place in the chain"))
    def place(self, event: AuditEvent) -> str:
        """Return the event's number and hash in the chain, or "not sealed yet"."""
        seal = getattr(event, "seal", None)
        return f"{seal.number} · {seal.hash.hex()}" if seal else str(_("not sealed yet"))

    @admin.display(description=gettext_lazy("what"))
    def what(self, event: Any) -> str:
        return str(Kind(event.operation_kind).label) if event.operation_kind else ""

    @admin.display(description=gettext_lazy("whose"))
    def whose(self, event: Any) -> str:
        """Return the name of the person concerned, or the subject id if the account is gone."""
        return event.person or str(event.subject or "")

    @admin.display(description=gettext_lazy("finished"))
    def finished(self, event: Any) -> str:
        return str(Status(event.operation_status).label) if event.operation_status else ""

    @admin.action(description=gettext_lazy("Export as JSON lines"))
    def export(self, request: HttpRequest, rows: QuerySet[AuditEvent]) -> StreamingHttpResponse:
        """Return a download of the selected events, or of all events that match the filters."""
        actor = f"staff {request.user.pk}"
        audit_log.append("admin.audit_export", actor=actor, surface="admin", subject=None)
        response = StreamingHttpResponse(_lines(rows), content_type="application/x-ndjson")
        response["Content-Disposition"] = 'attachment; filename="audit.jsonl"'
        return response


def _lines(rows: QuerySet[AuditEvent]) -> Iterator[bytes]:
    """Yield the events as lines of JSON, reading each batch in a transaction of its own.

    Events that aren't sealed yet are sealed first, so that each line contains the event's place in
    the chain.
    """
    audit_chain.seal()
    names = [column.name for column in AuditEvent._meta.concrete_fields]
    place = {name: F(f"seal__{name}") for name in ("number", "previous_hash", "hash")}
    last = 0
    while True:
        with as_system(durable=False):
            batch = list(rows.filter(pk__gt=last).order_by("pk").values(*names, **place)[:_AT_ONCE])
        yield b"".join(_line(row) for row in batch)
        if len(batch) < _AT_ONCE:
            return
        last = batch[-1]["id"]


def _line(row: Mapping[str, Any]) -> bytes:
    return orjson.dumps(row, default=bytes.hex, option=orjson.OPT_APPEND_NEWLINE)
