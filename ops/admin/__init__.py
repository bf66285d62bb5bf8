"""The admin pages of `ops`. The module `base` contains read-only classes that all apps use.

The pages may use all packages of `ops` except its API.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_POST

from foundation.errors import Conflict
from ops import audit_log, selectors
from ops.access import as_system, lock_person
from ops.accounts import keys, users
from ops.admin.audit_events import AuditEventAdmin
from ops.admin.base import LatestValuesFilter, ReadOnlyAdmin, TroubleFilter
from ops.models import (
    ApiKey,
    Attempt,
    AuditEvent,
    Delivery,
    Export,
    IdempotencyRecord,
    Identity,
    Import,
    Invitation,
    ModelCall,
    Operation,
    Receipt,
    SecondFactor,
    SignIn,
    SignInLink,
    Status,
    User,
    UserSettings,
    Webhook,
    WeeklyMail,
)
from ops.pages.operation_rows import error_words, trouble_in_words
from ops.queue import outbox, webhook_events

_AT_ONCE = 500  # the maximum number of operations that one click retries


@admin.register(User)
class UserAdmin(ReadOnlyAdmin):
    called = gettext_lazy("person"), gettext_lazy("people")
    never = ("password",)
    list_display = ("pk", "username", "external_id", "is_staff", "is_active", "created_at")
    list_filter = ("is_staff", "is_active")
    search_fields = ("=username", "=external_id", "=subject")
    actions = ("lock", "unlock")

    @admin.action(permissions=["act"], description=gettext_lazy("Lock: refuse to let them sign in"))
    def lock(self, request: HttpRequest, rows: QuerySet[User]) -> None:
        self._set_active(
            request, rows.exclude(username=request.user.get_username()), is_active=False
        )

    @admin.action(permissions=["act"], description=gettext_lazy("Unlock"))
    def unlock(self, request: HttpRequest, rows: QuerySet[User]) -> None:
        self._set_active(request, rows, is_active=True)

    def _set_active(self, request: HttpRequest, rows: QuerySet[User], *, is_active: bool) -> None:
        changed, people = 0, list(rows.exclude(is_active=is_active).order_by("pk"))
        for user in people:
            lock_person(user)
        for user in people:
            with suppress(Conflict):
                users.set_active(user=user, is_active=is_active)
                changed += 1
        _say_how_many(request, changed)


@admin.register(UserSettings)
class UserSettingsAdmin(ReadOnlyAdmin):
    called = gettext_lazy("settings of a person"), gettext_lazy("settings of people")
    list_display = ("user", "longterm_enabled", "summary_enabled", "episodic_enabled", "language")
    search_fields = ("=user__username", "=user__external_id")


@admin.register(ApiKey)
class ApiKeyAdmin(ReadOnlyAdmin):
    called = gettext_lazy("API key"), gettext_lazy("API keys")
    never = ("digest",)
    list_display = (
        "prefix",
        "name",
        "user",
        "scopes",
        "requires_user",
        "last_used_at",
        "expires_at",
        "revoked_at",
    )
    list_filter = (("revoked_at", admin.EmptyFieldListFilter),)
    search_fields = ("=prefix", "=name", "=user__username", "=user__external_id")
    actions = ("revoke",)

    @admin.action(permissions=["act"], description=gettext_lazy("Revoke"))
    def revoke(self, request: HttpRequest, rows: QuerySet[ApiKey]) -> None:
        alive = list(rows.filter(revoked_at__isnull=True).select_related("user"))
        for key in alive:
            keys.revoke(key)
        for key in alive:
            audit_log.append(
                "key.revoke",
                actor=f"staff {request.user.pk}",
                surface="admin",
                subject=key.user.subject if key.user else None,
                target=f"key {key.pk}",
            )
        _say_how_many(request, len(alive))


@admin.register(SignInLink)
class SignInLinkAdmin(ReadOnlyAdmin):
    called = gettext_lazy("sign-in link"), gettext_lazy("sign-in links")
    never = ("digest",)
    masked = ("next",)
    list_display = ("pk", "user", "created_at", "expires_at", "used_at")


@admin.register(SignIn)
class SignInAdmin(ReadOnlyAdmin):
    called = gettext_lazy("sign-in"), gettext_lazy("sign-ins")
    never = ("session_key",)
    list_display = ("pk", "user", "device", "began_at", "seen_at")


@admin.register(SecondFactor)
class SecondFactorAdmin(ReadOnlyAdmin):
    called = gettext_lazy("second step"), gettext_lazy("second steps")
    never = ("secret", "last_step", "recovery")
    list_display = ("pk", "user", "created_at")
    search_fields = ("=user__username",)


@admin.register(Identity)
class IdentityAdmin(ReadOnlyAdmin):
    called = gettext_lazy("sign-in by another service"), gettext_lazy("sign-ins by other services")
    list_display = ("pk", "user", "issuer", "created_at")
    search_fields = ("=user__username", "=sub")


@admin.register(Invitation)
class InvitationAdmin(ReadOnlyAdmin):
    called = gettext_lazy("invitation"), gettext_lazy("invitations")
    never = ("digest",)
    masked = ("name",)
    list_display = ("pk", "user", "name", "role", "created_at", "expires_at")


@admin.register(WeeklyMail)
class WeeklyMailAdmin(ReadOnlyAdmin):
    called = gettext_lazy("weekly email"), gettext_lazy("weekly emails")
    never = ("nonce",)
    masked = ("address",)
    list_display = ("pk", "user", "address", "asked_at", "confirmed_at", "sent_on")


@admin.register(Operation)
class OperationAdmin(ReadOnlyAdmin):
    called = gettext_lazy("operation"), gettext_lazy("operations")
    never = ("token_digest",)
    list_display = (
        "public_id",
        "kind",
        "status",
        "trouble",
        "attempt",
        "progress_step",
        "error",
        "run_after",
        "created_at",
        "finished_at",
    )
    list_filter = (TroubleFilter, "status", "kind", "priority")
    list_before_template = "ops/includes/admin_queue.html"
    search_fields = ("=public_id", "=subject")
    actions = ("retry", "cancel")

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        with as_system():
            queue = selectors.queue_states(now=timezone.now())
            held = webhook_events.deliveries_held_since()
        own = {"queue": queue, "may_act": self.has_act_permission(request), "held_since": held}
        return super().changelist_view(request, own | (extra_context or {}))

    def get_urls(self) -> list[URLPattern]:
        again = self.admin_site.admin_view(self.again_view)
        resume = self.admin_site.admin_view(self.resume_view)
        return [
            path("again/<str:kind>/", again, name="ops_operation_again"),
            path("resume/", resume, name="ops_operation_resume"),
            *super().get_urls(),
        ]

    @method_decorator(require_POST)
    def resume_view(self, request: HttpRequest) -> HttpResponse:
        """Send the webhook deliveries that have been held back since a restore."""
        if not self.has_act_permission(request):
            raise Http404
        with as_system():
            webhook_events.resume_deliveries()
        return redirect("admin:ops_operation_changelist")

    @method_decorator(require_POST)
    def again_view(self, request: HttpRequest, kind: str) -> HttpResponse:
        """Retry the newest failed operations of one kind, at most `_AT_ONCE`."""
        if not self.has_act_permission(request):
            raise Http404
        with as_system():
            failed = Operation.objects.filter(status=Status.FAILED, kind=kind).order_by("-pk")
            self._move(request, list(failed[:_AT_ONCE]), outbox.retry)
        return redirect("admin:ops_operation_changelist")

    @admin.display(description=gettext_lazy("trouble"))
    def trouble(self, operation: Operation) -> str:
        found = selectors.trouble_of(operation, now=timezone.now())
        return trouble_in_words(found) if found else ""

    @admin.display(description=gettext_lazy("last error"))
    def error(self, operation: Operation) -> str:
        return error_words(operation.last_error)

    @admin.action(permissions=["act"], description=gettext_lazy("Try failed ones again"))
    def retry(self, request: HttpRequest, rows: QuerySet[Operation]) -> None:
        self._move(request, rows, outbox.retry)

    @admin.action(
        permissions=["act"], description=gettext_lazy("Cancel what waits; forgetting goes on")
    )
    def cancel(self, request: HttpRequest, rows: QuerySet[Operation]) -> None:
        waiting = [row for row in rows if selectors.can_be_cancelled(row)]
        self._move(request, waiting, outbox.cancel)

    def _move(
        self, request: HttpRequest, rows: Iterable[Operation], move: Callable[[Operation], None]
    ) -> None:
        moved = 0
        for operation in rows:
            with suppress(Conflict):
                move(operation)
                moved += 1
        _say_how_many(request, moved)


@admin.register(Attempt)
class AttemptAdmin(ReadOnlyAdmin):
    called = gettext_lazy("attempt"), gettext_lazy("attempts")
    list_display = ("operation", "number", "outcome", "error", "started_at", "finished_at")
    list_filter = ("outcome",)
    search_fields = ("=operation__public_id",)


@admin.register(IdempotencyRecord)
class IdempotencyRecordAdmin(ReadOnlyAdmin):
    called = gettext_lazy("repeated request"), gettext_lazy("repeated requests")
    masked = ("body",)
    list_display = ("pk", "user", "api_key", "status_code", "body", "created_at", "expires_at")


@admin.register(Receipt)
class ReceiptAdmin(ReadOnlyAdmin):
    called = gettext_lazy("receipt"), gettext_lazy("receipts")
    list_display = ("public_id", "scope", "subject", "requested_at", "finished_at")
    list_filter = (("scope", LatestValuesFilter),)
    search_fields = ("=public_id", "=subject", "=operation__public_id")


admin.site.register(AuditEvent, AuditEventAdmin)


@admin.register(Export)
class ExportAdmin(ReadOnlyAdmin):
    called = gettext_lazy("export"), gettext_lazy("exports")
    list_display = ("pk", "user", "operation", "format", "bytes", "created_at", "expires_at")


@admin.register(Import)
class ImportAdmin(ReadOnlyAdmin):
    called = gettext_lazy("import"), gettext_lazy("imports")
    masked = ("report",)
    list_display = ("pk", "user", "operation", "format", "created_at", "finished_at")


@admin.register(Webhook)
class WebhookAdmin(ReadOnlyAdmin):
    called = gettext_lazy("webhook"), gettext_lazy("webhooks")
    never = ("secret",)
    list_display = ("pk", "user", "url", "events", "is_active", "created_at")


@admin.register(Delivery)
class DeliveryAdmin(ReadOnlyAdmin):
    called = gettext_lazy("sent notification"), gettext_lazy("sent notifications")
    list_display = ("pk", "webhook", "event", "status_code", "error", "created_at", "delivered_at")
    list_filter = (("status_code", LatestValuesFilter),)


@admin.register(ModelCall)
class ModelCallAdmin(ReadOnlyAdmin):
    called = gettext_lazy("model call"), gettext_lazy("model calls")
    list_display = (
        "created_at",
        "step",
        "provider",
        "model",
        "input_tokens",
        "output_tokens",
        "cost",
        "took_ms",
        "outcome",
    )
    list_filter = (
        *((name, LatestValuesFilter) for name in ("step", "provider", "model", "outcome")),
        "created_at",
    )
    list_before_template = "ops/includes/admin_spent.html"

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        with as_system():
            spent = selectors.model_costs(now=timezone.now())
        return super().changelist_view(request, {"spent": spent} | (extra_context or {}))


def _say_how_many(request: HttpRequest, count: int) -> None:
    words = ngettext("%(n)d was changed.", "%(n)d were changed.", count)
    messages.success(request, words % {"n": count})
