"""Serializers for the input and the responses of the REST API."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from memcenter.rest.fields import Flag, Moment, OneOf, Personal, Prose, Shape, SomeOf, Text
from ops import models
from ops.disk import disk_erasure
from ops.models import Kind, Scope, Status, Theme
from ops.queue.webhook_events import Event

_REQUIRES_USER = "True if an unbound key refuses mem0 calls without a user."


_LANGUAGES = ("", *dict(settings.LANGUAGES))


@extend_schema_field({"type": "string", "maxLength": 64, "format": "time-zone"})
class TimeZone(Text):
    """The name of a time zone. The service checks that it exists."""


@extend_schema_field(
    {"type": "string", "maxLength": 500, "pattern": r"^[hH][tT][tT][pP][sS]?://[!-\[\]-~]+$"}
)
class Address(Text):
    """The URL of a webhook. The service checks it, and resolves its host."""


@extend_schema_field(
    {
        "type": "string",
        "maxLength": 500,
        "pattern": r"^/([^/\\\u0000-\u0020][^\u0000-\u001f]*)?$",
    }
)
class OwnPage(Text):
    """The path of one of our own pages. The service checks it."""


class SettingsInput(Personal):
    summary_enabled = Flag(required=False)
    episodic_enabled = Flag(required=False)
    longterm_enabled = Flag(required=False)
    confirm_before_remembering = Flag(required=False)
    language = OneOf(choices=_LANGUAGES, required=False)
    timezone = TimeZone(
        required=False, max_length=64, help_text="The name of a time zone, such as Asia/Shanghai."
    )
    theme = OneOf(choices=Theme.choices, required=False)


class SignInLinkInput(Personal):
    next = OwnPage(
        required=False,
        allow_blank=True,
        max_length=500,
        help_text="The page to open after sign-in: a path that begins with /.",
    )
    language = OneOf(choices=_LANGUAGES, required=False)


class WebhookInput(Personal):
    url = Address(max_length=500)
    events = SomeOf(choices=Event.choices)
    secret = Text(
        required=False,
        allow_blank=True,
        max_length=200,
        help_text="The secret that signs the messages. Default: a generated secret.",
    )


class WebhookChange(Personal):
    url = Address(required=False, max_length=500)
    events = SomeOf(choices=Event.choices, required=False)
    secret = Text(required=False, min_length=1, max_length=200)
    is_active = Flag(required=False)


class WebhookRemoval(Personal):
    id = Text(min_length=1, max_length=200, error_messages={"required": "Say which webhook."})


class KeyInput(Personal):
    name = Prose(max_length=100, help_text="What the key is used for.")
    scopes = SomeOf(choices=Scope.choices)
    expires_at = Moment(
        required=False, allow_null=True, help_text="When the key expires. Default: never."
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
        help_text="Null if the webhook receives events of all users of unbound keys.",
    )
    url = serializers.CharField()
    events = serializers.ListField(child=serializers.CharField())
    is_active = serializers.BooleanField()
    created_at = serializers.DateTimeField()


class NewWebhook(Webhook):
    secret = serializers.CharField(help_text="Shown only once.")


class RemovedWebhook(Shape):
    status = serializers.ChoiceField(choices=("removed",))
    id = serializers.CharField()


class Key(Shape):
    id = serializers.CharField(source="public_id")
    user_id = serializers.CharField(
        source="user.external_id",
        allow_null=True,
        help_text="Null if the key isn't bound to a user.",
    )
    name = serializers.CharField()
    prefix = serializers.CharField(help_text="The first characters of the key, to tell keys apart.")
    scopes = serializers.ListField(child=serializers.CharField())
    requires_user = serializers.BooleanField(help_text=_REQUIRES_USER)
    created_at = serializers.DateTimeField()
    last_used_at = serializers.DateTimeField(allow_null=True)
    expires_at = serializers.DateTimeField(allow_null=True)
    revoked_at = serializers.DateTimeField(allow_null=True)


class NewKey(Key):
    key = serializers.CharField(help_text="Shown only once; only its hash is stored.")


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
    where = serializers.CharField(help_text="A line number or another position in the file.")
    why = serializers.CharField()


class ImportReport(Shape):
    format = serializers.CharField()
    conversations = serializers.IntegerField()
    messages = serializers.IntegerField()
    memories = serializers.IntegerField()
    already_there = serializers.IntegerField(help_text="Rows that had been imported before.")
    turns_to_learn_from = serializers.IntegerField()
    people = serializers.IntegerField(
        help_text="The number of people in the file. If there are several, nothing is learned."
    )
    skipped = LeftOut(many=True, help_text="At most 500 entries; skipped_count counts all.")
    skipped_count = serializers.IntegerField()


class ForgetOutcome(Shape):
    """The result of a request to forget, such as "forget that …" in a turn, as ids only."""

    status = serializers.ChoiceField(choices=("forgotten", "needs_choice", "nothing_found"))
    memory_ids = serializers.ListField(
        child=serializers.CharField(),
        help_text="The forgotten memories, or with needs_choice those that may be meant.",
    )
    message_ids = serializers.ListField(
        child=serializers.CharField(),
        help_text="Messages that contain the statement. They are kept until they are chosen.",
    )
    likely_ids = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        help_text="The ids of memory_ids and message_ids that the request probably means.",
    )
    also_ids = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        help_text="Other memories of the same messages. They are kept: ask whether to forget them.",
    )
    op_id = serializers.CharField(
        required=False, help_text="The operation that forgets the memories, if there is one."
    )


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
        help_text="The result if the turn contains a request to forget.",
    )
    report = ImportReport(
        source="import.result", required=False, help_text="The report of a finished import."
    )


class RawScan(Shape):
    files = serializers.IntegerField(allow_null=True)
    bytes = serializers.IntegerField()
    found = serializers.IntegerField(allow_null=True)


class DataFolder(Shape):
    status = serializers.ChoiceField(
        ["waiting", "gone", "too_large", "elsewhere", "unknown"],
        help_text=(
            "`elsewhere`: the database's files aren't in the data folder, so they can't be scanned;"
            " `too_large`: the folder is larger than this instance scans."
        ),
    )
    until = serializers.DateTimeField(
        allow_null=True, help_text="The latest time of the erasure, while it is pending."
    )
    gone_at = serializers.DateTimeField(allow_null=True)
    scan = RawScan(
        allow_null=True,
        help_text="The number and total size of the files that were read, and the findings.",
    )
    event_hash = serializers.CharField(
        help_text="The hash of the audit event that records the erasure, once it is sealed."
    )


class Receipt(Shape):
    receipt_id = serializers.CharField(source="public_id")
    op_id = serializers.CharField(source="operation.public_id")
    scope = serializers.CharField()
    subject = serializers.UUIDField(allow_null=True)
    requested_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField()
    erased = serializers.DictField(
        child=serializers.DictField(child=serializers.IntegerField()),
        help_text="The number of erased entries, by store and table.",
    )
    kept = serializers.ListField(child=serializers.CharField())
    scan = serializers.DictField(help_text="The number of scanned places, and the residue found.")
    disk = serializers.DictField(
        help_text="The vacuumed tables, and when the log and backups no longer hold the data."
    )
    chosen = serializers.CharField(
        allow_blank=True,
        help_text=(
            "Who chose what to forget, or decided to keep the memories: person, program, or"
            " only_match if nobody was asked. Empty if the request contained exact ids, or if this"
            " is unknown."
        ),
    )
    data_folder = DataFolder()
    previous_hash = serializers.CharField()
    hash = serializers.CharField()

    @classmethod
    def of(cls, receipt: models.Receipt) -> dict[str, Any]:
        """Render a receipt with the result of the erasure from the disk.

        Except for the operation's primary key, this includes every column that the receipt's hash
        covers.
        """
        return cls.show(receipt, data_folder=disk_erasure.result_of(receipt))
