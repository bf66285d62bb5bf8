"""Serializers of input, response schemas, and functions that render rows."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from memcenter.rest.fields import Flag, Moment, OneOf, Personal, Prose, SomeOf, Text
from ops import models
from ops.accounts import keys, users
from ops.models import Kind, Scope, Status, Theme
from ops.webhook_events import Event

_REQUIRES_USER = "A key of the product refuses mem0's calls that name no user."


class SettingsInput(Personal):
    summary_enabled = Flag(required=False)
    episodic_enabled = Flag(required=False)
    longterm_enabled = Flag(required=False)
    confirm_before_remembering = Flag(required=False)
    language = Text(required=False, allow_blank=True, max_length=16)
    timezone = Text(required=False, max_length=64)
    theme = OneOf(choices=Theme.choices, required=False)


class SignInLinkInput(Personal):
    next = Text(
        required=False,
        allow_blank=True,
        max_length=500,
        help_text="The page to go on to: a path that begins with /.",
    )
    language = Text(required=False, allow_blank=True, max_length=16)


class WebhookInput(Personal):
    url = Text(max_length=500)
    events = SomeOf(choices=Event.choices)
    secret = Text(
        required=False,
        allow_blank=True,
        max_length=200,
        help_text="What messages are signed with; without it one is made.",
    )


class WebhookChange(Personal):
    url = Text(required=False, max_length=500)
    events = SomeOf(choices=Event.choices, required=False)
    secret = Text(required=False, min_length=1, max_length=200)
    is_active = Flag(required=False)


class WebhookRemoval(Personal):
    id = Text(required=False, min_length=1, max_length=200)


class KeyInput(Personal):
    name = Prose(max_length=100, help_text="What it is for.")
    scopes = SomeOf(choices=Scope.choices)
    expires_at = Moment(
        required=False, allow_null=True, help_text="When it ends; without it, when it is revoked."
    )
    requires_user = Flag(required=False, help_text=_REQUIRES_USER)


class KeyChange(Personal):
    name = Prose(required=False, max_length=100)
    scopes = SomeOf(choices=Scope.choices, required=False)
    expires_at = Moment(required=False, allow_null=True)
    requires_user = Flag(required=False, help_text=_REQUIRES_USER)


class OperationQuery(Personal):
    status = OneOf(choices=Status.choices, required=False)
    kind = OneOf(choices=Kind.choices, required=False)


class OneOperationQuery(Personal):
    receipt_token = Text(required=False, max_length=200)


# --- answers ----------------------------------------------------------------------------------


class Settings(serializers.Serializer[Any]):
    user_id = serializers.CharField(allow_null=True)
    summary_enabled = serializers.BooleanField()
    episodic_enabled = serializers.BooleanField()
    longterm_enabled = serializers.BooleanField()
    confirm_before_remembering = serializers.BooleanField()
    language = serializers.CharField()
    timezone = serializers.CharField()
    theme = serializers.CharField()
    updated_at = serializers.DateTimeField(allow_null=True)


class SignInLink(serializers.Serializer[Any]):
    url = serializers.URLField()
    expires_at = serializers.DateTimeField()


class Webhook(serializers.Serializer[Any]):
    id = serializers.CharField()
    user_id = serializers.CharField(
        allow_null=True, help_text="Null: it is told of everybody whom an unbound key reaches."
    )
    url = serializers.CharField()
    events = serializers.ListField(child=serializers.CharField())
    is_active = serializers.BooleanField()
    created_at = serializers.DateTimeField()


class NewWebhook(Webhook):
    secret = serializers.CharField(help_text="Shown this once.")


class RemovedWebhook(serializers.Serializer[Any]):
    status = serializers.ChoiceField(choices=("removed",))
    id = serializers.CharField()


class Key(serializers.Serializer[Any]):
    id = serializers.CharField()
    user_id = serializers.CharField(allow_null=True, help_text="Null: it is the product's own.")
    name = serializers.CharField()
    prefix = serializers.CharField(help_text="How its text begins: to tell keys apart by.")
    scopes = serializers.ListField(child=serializers.CharField())
    requires_user = serializers.BooleanField(help_text=_REQUIRES_USER)
    created_at = serializers.DateTimeField()
    last_used_at = serializers.DateTimeField(allow_null=True)
    expires_at = serializers.DateTimeField(allow_null=True)
    revoked_at = serializers.DateTimeField(allow_null=True)


class NewKey(Key):
    key = serializers.CharField(help_text="Shown this once; we keep a hash of it.")


class RevokedKey(serializers.Serializer[Any]):
    status = serializers.ChoiceField(choices=("revoked",))
    id = serializers.CharField()


class Delivery(serializers.Serializer[Any]):
    id = serializers.CharField()
    event = serializers.CharField()
    status_code = serializers.IntegerField(allow_null=True)
    error = serializers.CharField()
    attempts = serializers.IntegerField()
    created_at = serializers.DateTimeField()
    delivered_at = serializers.DateTimeField(allow_null=True)


class Progress(serializers.Serializer[Any]):
    done = serializers.IntegerField()
    total = serializers.IntegerField()
    step = serializers.CharField()


class LeftOut(serializers.Serializer[Any]):
    where = serializers.CharField(help_text="A line, or a place in the file made of numbers.")
    why = serializers.CharField()


class ImportReport(serializers.Serializer[Any]):
    format = serializers.CharField()
    conversations = serializers.IntegerField()
    messages = serializers.IntegerField()
    memories = serializers.IntegerField()
    already_there = serializers.IntegerField(help_text="Rows that were there before.")
    turns_to_learn_from = serializers.IntegerField()
    people = serializers.IntegerField(help_text="From a file about several, nothing is learned.")
    skipped = LeftOut(many=True, help_text="At most 500 places; skipped_count tells of all.")
    skipped_count = serializers.IntegerField()


class ForgetOutcome(serializers.Serializer[Any]):
    """The result of "forget that …" in a turn, as ids only."""

    status = serializers.ChoiceField(choices=("forgotten", "needs_choice", "nothing_found"))
    memory_ids = serializers.ListField(child=serializers.CharField())
    message_ids = serializers.ListField(
        child=serializers.CharField(), help_text="Messages that say it; they stay until chosen."
    )
    likely_ids = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        help_text="The memories and messages of both lists that are probably meant.",
    )
    op_id = serializers.CharField(required=False, help_text="The forget, where it was done.")


class Operation(serializers.Serializer[Any]):
    op_id = serializers.CharField()
    kind = serializers.CharField()
    status = serializers.CharField()
    progress = Progress()
    attempts = serializers.IntegerField()
    last_error = serializers.CharField()
    run_after = serializers.DateTimeField()
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)
    receipt_id = serializers.CharField(required=False)
    forget = ForgetOutcome(required=False, help_text="Of a turn that asked to forget something.")
    report = ImportReport(required=False, help_text="Of an import that is done.")


class RawScan(serializers.Serializer[Any]):
    files = serializers.IntegerField(allow_null=True)
    bytes = serializers.IntegerField()
    found = serializers.IntegerField(allow_null=True)


class DataFolder(serializers.Serializer[Any]):
    status = serializers.ChoiceField(
        ["waiting", "gone", "too_large", "elsewhere", "unknown"],
        help_text=(
            "`elsewhere`: the database's files are not in the data folder, and what they still hold"
            " can't be known; `too_large`: the folder is larger than this instance looks through."
        ),
    )
    until = serializers.DateTimeField(allow_null=True, help_text="By when, while it waits.")
    gone_at = serializers.DateTimeField(allow_null=True)
    scan = RawScan(allow_null=True, help_text="The raw files that were read, and what was found.")
    event_hash = serializers.CharField(help_text="Of the audit event that says so, once sealed.")


class Receipt(serializers.Serializer[Any]):
    receipt_id = serializers.CharField()
    op_id = serializers.CharField()
    scope = serializers.CharField()
    subject = serializers.UUIDField(allow_null=True)
    requested_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField()
    erased = serializers.DictField(
        child=serializers.DictField(child=serializers.IntegerField()),
        help_text="How many entries went, by store and table.",
    )
    kept = serializers.ListField(child=serializers.CharField())
    scan = serializers.DictField(help_text="How many places were looked through, and the residue.")
    disk = serializers.DictField(
        help_text="The tables vacuumed, and until when the write-ahead log and backups may hold it."
    )
    chosen = serializers.CharField(
        allow_blank=True, help_text="Who chose it: person, only_match, or empty where it was named."
    )
    data_folder = DataFolder()
    previous_hash = serializers.CharField()
    hash = serializers.CharField()


def render_settings(row: models.UserSettings, *, user: models.User) -> dict[str, Any]:
    names = (*users.SWITCHES, "language", "timezone", "theme", "updated_at")
    return {"user_id": user.external_id, **_values(row, *names)}


def render_key(row: models.ApiKey) -> dict[str, Any]:
    names = ("name", "prefix", "scopes", "requires_user", "created_at")
    return {
        "id": keys.public_id(row),
        "user_id": row.user.external_id if row.user else None,
        **_values(row, *names, "last_used_at", "expires_at", "revoked_at"),
    }


def render_webhook(row: models.Webhook) -> dict[str, Any]:
    return {
        "id": row.public_id,
        "user_id": row.user.external_id if row.user else None,
        **_values(row, "url", "events", "is_active", "created_at"),
    }


def render_delivery(row: models.Delivery) -> dict[str, Any]:
    names = ("event", "status_code", "error", "attempts", "created_at", "delivered_at")
    return {"id": row.public_id, **_values(row, *names)}


def render_operation(row: models.Operation) -> dict[str, Any]:
    receipt = getattr(row, "receipt", None)  # the reverse relation raises if there is none
    imported = getattr(row, "import", None) if row.kind == Kind.IMPORT else None
    return {
        "op_id": row.public_id,
        "kind": row.kind,
        "status": row.status,
        "progress": {name: getattr(row, f"progress_{name}") for name in ("done", "total", "step")},
        "attempts": row.attempt,
        **_values(row, "last_error", "run_after", "created_at", "updated_at", "finished_at"),
        **({"receipt_id": receipt.public_id} if receipt is not None else {}),
        **({"forget": row.forget_outcome} if row.forget_outcome else {}),
        **({"report": imported.result} if imported is not None and imported.result else {}),
    }


def _values(row: Any, *names: str) -> dict[str, Any]:
    return {name: getattr(row, name) for name in names}
