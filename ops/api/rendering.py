"""Convert rows to the API's answers."""

from __future__ import annotations

from typing import Any

from ops.accounts import keys
from ops.disk import disk_erasure
from ops.models import ApiKey, Delivery, Kind, Operation, Receipt, User, UserSettings, Webhook


def settings(row: UserSettings, *, user: User) -> dict[str, Any]:
    return {
        "user_id": user.external_id,
        "summary_enabled": row.summary_enabled,
        "episodic_enabled": row.episodic_enabled,
        "longterm_enabled": row.longterm_enabled,
        "confirm_before_remembering": row.confirm_before_remembering,
        "language": row.language,
        "timezone": row.timezone,
        "theme": row.theme,
        "updated_at": row.updated_at,
    }


def key(row: ApiKey) -> dict[str, Any]:
    return {
        "id": keys.public_id(row),
        "user_id": row.user.external_id if row.user else None,
        "name": row.name,
        "prefix": row.prefix,
        "scopes": row.scopes,
        "requires_user": row.requires_user,
        "created_at": row.created_at,
        "last_used_at": row.last_used_at,
        "expires_at": row.expires_at,
        "revoked_at": row.revoked_at,
    }


def webhook(row: Webhook) -> dict[str, Any]:
    return {
        "id": row.public_id,
        "user_id": row.user.external_id if row.user else None,
        "url": row.url,
        "events": row.events,
        "is_active": row.is_active,
        "created_at": row.created_at,
    }


def delivery(row: Delivery) -> dict[str, Any]:
    return {
        "id": row.public_id,
        "event": row.event,
        "status_code": row.status_code,
        "error": row.error,
        "attempts": row.attempts,
        "created_at": row.created_at,
        "delivered_at": row.delivered_at,
    }


def operation(row: Operation) -> dict[str, Any]:
    receipt = getattr(row, "receipt", None)  # the reverse side raises where there is none
    taken_in = getattr(row, "import", None) if row.kind == Kind.IMPORT else None
    return {
        "op_id": row.public_id,
        "kind": row.kind,
        "status": row.status,
        "progress": {
            "done": row.progress_done,
            "total": row.progress_total,
            "step": row.progress_step,
        },
        "attempts": row.attempt,
        "last_error": row.last_error,
        "run_after": row.run_after,
        "created_at": row.created_at,
        "updated_at": row.updated_at,
        "finished_at": row.finished_at,
        **({"receipt_id": receipt.public_id} if receipt is not None else {}),
        **({"forget": row.forget_outcome} if row.forget_outcome else {}),
        **({"report": taken_in.report} if taken_in is not None and taken_in.report else {}),
    }


def receipt(row: Receipt, *, op_id: str) -> dict[str, Any]:
    return {
        "receipt_id": row.public_id,
        "op_id": op_id,
        "scope": row.scope,
        "subject": row.subject,
        "requested_at": row.requested_at,
        "finished_at": row.finished_at,
        "erased": row.erased,
        "kept": row.kept,
        "scan": row.scan,
        "disk": row.disk,
        "chosen": row.chosen,
        "data_folder": disk_erasure.describe_line(disk_erasure.second_line(row)),
        "previous_hash": row.previous_hash,
        "hash": row.hash,
    }
