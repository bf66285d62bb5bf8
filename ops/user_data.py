"""Everything personal that stands in the tables of this app: how it leaves and how it goes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db.models import Model, Q

from ops.models import (
    ApiKey,
    Delivery,
    Export,
    IdempotencyRecord,
    Import,
    SignInLink,
    User,
    UserSettings,
    Webhook,
)
from ops.registry import Rows, register
from ops.services import erasing, forgetting


class TransferRows(Rows):
    """Exports or imports: the files go before the rows that name them."""

    def erase(self, user_id: int) -> Mapping[str, int]:
        rows = self.model._base_manager.filter(user_id=user_id)
        files = erasing.delete_files(rows.exclude(path="").values_list("path", flat=True))
        return {**super().erase(user_id), "files:transfer": files}


class WebhookRows(Rows):
    """Webhooks of the person or of a key of theirs, with what was sent to them."""

    def erase(self, user_id: int) -> Mapping[str, int]:
        own = Q(user_id=user_id) | Q(api_key__user_id=user_id)
        sent, _ = Delivery.objects.filter(webhook__in=Webhook.objects.filter(own)).delete()
        gone, _ = Webhook.objects.filter(own).delete()
        return {"ops_webhook": gone, "ops_delivery": sent}


class AnswerRows(Rows):
    """Stored answers to the person's calls, also to those made before it was known whose."""

    def erase(self, user_id: int) -> Mapping[str, int]:
        own = Q(user_id=user_id) | Q(api_key__user_id=user_id)
        gone, _ = IdempotencyRecord.objects.filter(own).delete()
        return {"ops_idempotencyrecord": gone}


class KeyRows(Rows):
    """Keys bound to the person; people that such a key made appear stay."""

    def erase(self, user_id: int) -> Mapping[str, int]:
        User.objects.filter(created_by__user_id=user_id).update(created_by=None)
        return super().erase(user_id)


class Account:
    """The account itself, its sessions and what the admin's log says of it. It goes last."""

    name = "account"
    order = 1_000
    models: tuple[type[Model], ...] = (User,)

    def export(self, user: User) -> Iterator[Mapping[str, Any]]:
        names = "username", "external_id", "display_name", "created_at", "updated_at"
        yield from User.objects.filter(pk=user.pk, hidden_at__isnull=True).values(*names)

    def erase(self, user_id: int) -> Mapping[str, int]:
        sessions = forgetting.erase_sessions(user_id)
        about = Q(content_type=ContentType.objects.get_for_model(User), object_id=str(user_id)) | Q(
            user_id=user_id
        )
        entries, _ = LogEntry.objects.filter(about).delete()
        _, erased = User.objects.filter(pk=user_id).delete()
        return {
            "ops_user": erased.get("ops.User", 0),
            "django_session": sessions,
            "django_admin_log": entries,
        }

    def count(self, user: User) -> int:
        return User.objects.filter(pk=user.pk, hidden_at__isnull=True).count()


register(
    TransferRows(Export, order=60, leave_out=("path", "hidden_at")),
    TransferRows(Import, order=61, leave_out=("path", "position", "hidden_at")),
    Rows(SignInLink, order=62, leave_out=("digest",)),
    WebhookRows(Webhook, order=63, leave_out=("secret",)),
    AnswerRows(IdempotencyRecord, order=64, leave_out=("fingerprint", "body")),
    KeyRows(ApiKey, order=65, leave_out=("digest",)),
    Rows(UserSettings, order=66),
    Account(),
)
