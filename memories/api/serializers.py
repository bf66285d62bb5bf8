"""Serializers for request bodies and queries; `response_shapes.py` contains the responses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from conversations.models import ConversationKind
from memcenter.rest.fields import (
    ConversationId,
    Flag,
    Fraction,
    Moment,
    Object,
    OneOf,
    Personal,
    ProjectKey,
    Prose,
    QueryFlag,
    QueryMoment,
    QueryWords,
    StrictInteger,
    Text,
    Texts,
    UserId,
    constrained,
)
from memories.files.grammar import ROOT
from memories.models import MemoryStatus, Origin
from memories.recall.searchable_texts import TYPES
from memories.review import DECISIONS
from memories.writing.memory_writes import KIND_NAMES

SORTS = ("created_at", "updated_at", "importance", "confidence", "access_count")
NULLABLE_SORTS = ("last_accessed_at", "occurred_at")
ACTIONS = (
    "enable",
    "disable",
    "pin",
    "unpin",
    "tag",
    "untag",
    "recycle",
    "restore",
    "forget",
)
MOST_AT_ONCE = 100  # memories per batch request
_ID = {"min_length": 1, "max_length": 200}
_all_sorts = (*SORTS, *NULLABLE_SORTS)


class Between(Personal):
    """A query with the parameters `from` and `to`.

    They are added in `get_fields` because `from` is a Python keyword and can't be an attribute.
    """

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        return {
            **super().get_fields(),
            "from": QueryMoment(required=False),
            "to": QueryMoment(required=False),
        }


class PlainSearch(Personal):
    query = Prose(max_length=8_000, help_text="The question, in plain words.")
    types = QueryWords(among=TYPES, required=False, help_text=", ".join(TYPES))
    conversation_id = Text(required=False, help_text="Search only this conversation.", **_ID)
    conversation_kind = OneOf(
        choices=ConversationKind.choices,
        required=False,
        help_text="Use group if other people read along: then no personal memories are returned.",
    )
    limit = serializers.IntegerField(required=False, min_value=1, max_value=100)


class SearchQuery(PlainSearch, Between):
    project_key = Text(required=False, max_length=100)
    kind = OneOf(choices=KIND_NAMES, required=False)
    tag = Text(required=False, max_length=50)
    status = OneOf(choices=MemoryStatus.choices, required=False)


class MemoryQuery(Between):
    query = Text(required=False, max_length=1_000)
    kind = QueryWords(
        among=KIND_NAMES, required=False, help_text="One or several, separated by commas."
    )
    tag = Text(required=False, max_length=50)
    status = OneOf(choices=[*MemoryStatus.values, "deleted"], required=False)
    project_key = Text(required=False, max_length=100)
    origin = OneOf(choices=Origin.choices, required=False)
    pinned = QueryFlag(required=False)
    sort = OneOf(choices=[*_all_sorts, *(f"-{name}" for name in _all_sorts)], required=False)


class WeekQuery(Personal):
    last = serializers.DateField(
        required=False,
        help_text="The last of the seven days, in the user's time zone. Default: today.",
    )


class _MemoryFields(serializers.Serializer[Any]):
    tags = Texts(required=False, max_text=50, max_length=20)
    importance = Fraction(required=False)
    confidence = Fraction(required=False)
    data = Object(required=False)  # type: ignore[assignment] # the API contract requires this name
    summary = Text(required=False, allow_blank=True, max_length=settings.MAX_MEMORY_CHARS)
    metadata = Object(required=False)
    occurred_at = Moment(required=False, allow_null=True)
    valid_from = Moment(required=False, allow_null=True)
    valid_until = Moment(required=False, allow_null=True)


class MemoryItem(_MemoryFields):
    content = Prose(max_length=settings.MAX_MEMORY_CHARS)
    kind = OneOf(choices=KIND_NAMES, required=False, allow_null=True)
    project_key = ProjectKey(required=False, allow_null=True)
    agent_id = Text(required=False, allow_blank=True, max_length=200)
    app_id = Text(required=False, allow_blank=True, max_length=200)
    run_id = Text(required=False, allow_blank=True, max_length=200)
    importance = Fraction(required=False, allow_null=True)
    confidence = Fraction(required=False, allow_null=True)


class MemoryInputShape(MemoryItem, Personal):
    pass


class _EachMemory(serializers.ListField):
    """A list of memories that are validated one by one.

    The validated list contains a `ValidationError` in place of each invalid item.
    """

    def run_child_validation(self, data: Sequence[Any]) -> list[Any]:
        return [self._validated(item) for item in data]

    def _validated(self, item: Any) -> Any:
        try:
            return self.child.run_validation(item)
        except serializers.ValidationError as error:
            return error


class MemoryBatch(Personal):
    memories = _EachMemory(child=MemoryItem(), min_length=1, max_length=MOST_AT_ONCE)


class MemoryChange(_MemoryFields, Personal):
    content = Prose(required=False, max_length=settings.MAX_MEMORY_CHARS)
    kind = OneOf(choices=KIND_NAMES, required=False)
    status = OneOf(choices=(MemoryStatus.ACTIVE, MemoryStatus.DISABLED), required=False)
    pinned = Flag(required=False)


class MemoryRemoval(Personal):
    recycle = QueryFlag(required=False)


class RestoreInput(Personal):
    version = StrictInteger(required=False, allow_null=True, min_value=1, max_value=2**31 - 1)


class DecisionInput(serializers.Serializer[Any]):
    id = Text(**_ID)
    decision = OneOf(choices=DECISIONS)
    valid_from = Moment(required=False, allow_null=True)


class ConfirmInput(Personal):
    decisions = serializers.ListField(child=DecisionInput(), min_length=1, max_length=1_000)


@constrained(
    anyOf=[
        {"properties": {"action": {"enum": [one for one in ACTIONS if "tag" not in one]}}},
        {"required": ["tag"]},
    ]
)
class BulkInput(Personal):
    ids = Texts(min_length=1, max_length=1_000)
    action = OneOf(choices=ACTIONS)
    tag = Prose(required=False, max_length=50)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs["action"] in ("tag", "untag") and "tag" not in attrs:
            raise serializers.ValidationError({"tag": "Say which tag."})
        return attrs


class NoteLine(Personal):
    text = Prose(max_length=settings.MAX_MEMORY_CHARS)
    source = Text(  # type: ignore[assignment] # the API contract requires this name
        required=False, max_length=200, help_text="The author that the line shows. Default: “api”."
    )


class FileText(Personal):
    content = Text(allow_blank=True, help_text="The new content of the whole file.")


class FileRestore(Personal):
    version = StrictInteger(min_value=1, max_value=2**31 - 1)


@extend_schema_field({"type": "string", "maxLength": 1_000, "pattern": f"^{ROOT}(/[^\\u0000]*)?$"})
class MemoryPath(Text):
    """A path below /memories. `memory_tool` checks each name in the path."""


_TOOL_ARGUMENTS = {
    "view": ("path",),
    "create": ("path", "file_text"),
    "str_replace": ("path", "old_str", "new_str"),
    "insert": ("path", "insert_line", "insert_text"),
    "delete": ("path",),
    "rename": ("old_path", "new_path"),
}


@constrained(
    oneOf=[
        {"properties": {"command": {"enum": [command]}}, "required": list(needed)}
        for command, needed in _TOOL_ARGUMENTS.items()
    ]
)
class ToolCommand(Personal):
    command = OneOf(choices=("view", "create", "str_replace", "insert", "delete", "rename"))
    path = MemoryPath(
        required=False,
        max_length=1_000,
        help_text="A path below /memories. For all commands except rename.",
    )
    view_range = serializers.ListField(
        required=False,
        allow_null=True,
        child=StrictInteger(),
        min_length=2,
        max_length=2,
        help_text="view: the first and the last line; -1 is the end.",
    )
    file_text = Text(required=False, allow_blank=True, help_text="create: the content of the file.")
    old_str = Text(required=False, help_text="str_replace: must occur exactly once in the file.")
    new_str = Text(required=False, allow_blank=True, help_text="str_replace: the new text.")
    insert_line = StrictInteger(
        required=False, help_text="insert: after this line; 0 is the beginning."
    )
    insert_text = Text(required=False, allow_blank=True, help_text="insert: the text to insert.")
    old_path = MemoryPath(
        required=False, max_length=1_000, help_text="rename: the path of the file or folder."
    )
    new_path = MemoryPath(required=False, max_length=1_000, help_text="rename: the new path.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        needed = _TOOL_ARGUMENTS[attrs["command"]]
        missing = [name for name in needed if attrs.get(name) is None]
        if missing:
            raise serializers.ValidationError(
                dict.fromkeys(missing, f"“{attrs['command']}” needs it.")
            )
        return attrs


class FlushMessage(serializers.Serializer[Any]):
    role = OneOf(choices=("user", "assistant"))
    content = Prose(max_length=settings.MAX_MESSAGE_CHARS)
    message_id = Text(required=False, allow_null=True, max_length=200)
    created_at = Moment(
        required=False,
        allow_null=True,
        help_text="The time of the message. Without a time, nothing forgotten is learned from it.",
    )


@extend_schema_field(
    {"oneOf": [{"type": "string"}, {"type": "object", "additionalProperties": {}}]}
)
class Candidate(serializers.JSONField):
    """A field for a candidate: its id, or the candidate as an object with edited fields."""


@constrained(
    anyOf=[
        {"properties": {"stage": {"enum": ["candidates", None]}}},
        {"properties": {"candidates": {"type": "array"}}, "required": ["candidates"]},
    ]
)
class FlushInput(Personal):
    conversation_id = ConversationId()
    messages = serializers.ListField(
        child=FlushMessage(),
        required=False,
        allow_null=True,
        max_length=400,
        help_text="The messages about to be dropped. Default: all turns since the last flush.",
    )
    stage = OneOf(
        choices=("candidates", "commit"),
        required=False,
        allow_null=True,
        help_text="Default: both stages at once.",
    )
    candidates = serializers.ListField(
        child=Candidate(),
        required=False,
        allow_null=True,
        max_length=200,
        help_text="commit: ids of candidates, or candidates with edited fields.",
    )
    only_if_due = Flag(
        required=False,
        help_text="Do nothing if the new messages have fewer than MEMCENTER_FLUSH_TOKENS tokens.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs.get("stage") == "commit" and attrs.get("candidates") is None:
            raise serializers.ValidationError({"candidates": "“commit” needs them."})
        return attrs


class Owned(Personal):
    owner_id = UserId(
        allow_null=False,
        help_text="The same as user_id. Default: MEMCENTER_DEFAULT_OWNER.",
    )


class IngestedText(Owned):
    project_key = ProjectKey(
        required=False,
        allow_null=True,
        min_length=1,
        help_text="requirement, plan, development, testing and insight need this or project_name."
        " Default: MEMCENTER_DEFAULT_PROJECT.",
    )
    project_name = Text(required=False, allow_null=True, min_length=1, max_length=200)
    content_type = OneOf(choices=KIND_NAMES)
    content = Prose(max_length=settings.MAX_INGEST_CHARS)
    summary = Text(required=False, allow_blank=True, max_length=settings.MAX_MEMORY_CHARS)
    tags = Texts(required=False, max_text=50, max_length=20)
    machine_name = Text(required=False, allow_blank=True, max_length=100)
    project_path = Text(required=False, allow_blank=True, max_length=500)
    ts = Moment(
        required=False, help_text="The time at which it was true: Unix seconds or ISO 8601."
    )


class AgentSearch(Owned):
    query = Prose(max_length=8_000, help_text="The question, in plain words.")
    project_key = Text(required=False, max_length=100)
    project_name = Text(required=False, max_length=200)
    content_type = OneOf(choices=KIND_NAMES, required=False)
    scope = OneOf(choices=("all", *KIND_NAMES), required=False)
    limit = serializers.IntegerField(required=False, min_value=1, max_value=100)


class Timeline(Owned, Between):
    project_key = Text(required=False, max_length=100)
    project_name = Text(required=False, max_length=200)
    content_type = OneOf(choices=KIND_NAMES, required=False)
    scope = OneOf(choices=("all", *KIND_NAMES), required=False)


class AgentFetch(Owned):
    ids = QueryWords(max_length=8_000, help_text="Up to 100 ids, separated by commas.")

    def validate_ids(self, ids: tuple[str, ...]) -> tuple[str, ...]:
        if not 1 <= len(ids) <= 100:
            raise serializers.ValidationError("Give 1 to 100 ids.")
        return ids
