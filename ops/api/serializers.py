"""Serializers of input, and the shapes of responses."""

from __future__ import annotations

from rest_framework import serializers

from memcenter.rest.fields import Flag, Moment, OneOf, Personal, Prose, Shape, SomeOf, Text
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


class Settings(Shape):
    user_id = serializers.CharField(source="user.external_id", allow_null=True)
    summary_enabled = serializers.BooleanField()
    episodic_enabled = serializers.BooleanField()
    longterm_enabled = serializers.BooleanField()
    confirm_before_remembering = serializers.BooleanField()
    language = serializers.CharField()
    timezone = serializers.CharField()
    theme = serializers.CharField()
    updated_at = serializers.DateTimeField(allow_null=True)


class SignInLink(Shape):
    url = serializers.URLField()
    expires_at = serializers.DateTimeField()


class Webhook(Shape):
    id = serializers.CharField(source="public_id")
    user_id = serializers.CharField(
        source="user.external_id",
        allow_null=True,
        help_text="Null: it is told of everybody whom an unbound key reaches.",
    )
    url = serializers.CharField()
    events = serializers.ListField(child=serializers.CharField())
    is_active = serializers.BooleanField()
    created_at = serializers.DateTimeField()


class NewWebhook(Webhook):
    secret = serializers.CharField(help_text="Shown this once.")


class RemovedWebhook(Shape):
    status = serializers.ChoiceField(choices=("removed",))
    id = serializers.CharField()


class Key(Shape):
    id = serializers.CharField(source="public_id")
    user_id = serializers.CharField(
        source="user.external_id", allow_null=True, help_text="Null: it is the product's own."
    )
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


class RevokedKey(Shape):
    status = serializers.ChoiceField(choices=("revoked",))
    id = serializers.CharField()


class Delivery(Shape):
    id = serializers.CharField(source="public_id")
    event = serializers.CharField()
    status_code = serializers.IntegerField(allow_null=True)
    error = serializers.CharField()
    attempts = serializers.IntegerField()
    created_at = serializers.DateTimeField()
    delivered_at = serializers.DateTimeField(allow_null=True)


class Progress(Shape):
    done = serializers.IntegerField(source="progress_done")
    total = serializers.IntegerField(source="progress_total")
    step = serializers.CharField(source="progress_step")


class LeftOut(Shape):
    where = serializers.CharField(help_text="A line, or a place in the file made of numbers.")
    why = serializers.CharField()


class ImportReport(Shape):
    format = serializers.CharField()
    conversations = serializers.IntegerField()
    messages = serializers.IntegerField()
    memories = serializers.IntegerField()
    already_there = serializers.IntegerField(help_text="Rows that were there before.")
    turns_to_learn_from = serializers.IntegerField()
    people = serializers.IntegerField(help_text="From a file about several, nothing is learned.")
    skipped = LeftOut(many=True, help_text="At most 500 places; skipped_count tells of all.")
    skipped_count = serializers.IntegerField()


class ForgetOutcome(Shape):
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


class Operation(Shape):
    op_id = serializers.CharField(source="public_id")
    kind = serializers.CharField()
    status = serializers.CharField()
    progress = Progress(source="*")
    attempts = serializers.IntegerField(source="attempt")
    last_error = serializers.CharField()
    run_after = serializers.DateTimeField()
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)
    receipt_id = serializers.CharField(source="receipt.public_id", required=False)
    forget = ForgetOutcome(
        source="forget_outcome",
        required=False,
        help_text="Of a turn that asked to forget something.",
    )
    report = ImportReport(
        source="import.result", required=False, help_text="Of an import that is done."
    )


class RawScan(Shape):
    files = serializers.IntegerField(allow_null=True)
    bytes = serializers.IntegerField()
    found = serializers.IntegerField(allow_null=True)


class DataFolder(Shape):
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


class Receipt(Shape):
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
