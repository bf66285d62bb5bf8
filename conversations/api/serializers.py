"""Serializers for request bodies, and shapes that render and document the responses."""

from __future__ import annotations

from typing import Any, ClassVar

from django.conf import settings
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from conversations.block.assembly import SECTIONS
from conversations.importing.formats.file_rows import Format
from conversations.models import ConversationKind, Rating, Role
from conversations.recording.conversation_names import MAX_EXTERNAL_ID, check_external_id
from foundation.errors import Invalid
from foundation.ids import PREFIXES
from memcenter.rest.fields import (
    MOMENT,
    NO_BLANK,
    ConversationId,
    Flag,
    Moment,
    OneOf,
    Personal,
    ProjectKey,
    Prose,
    QueryFlag,
    Shape,
    StrictInteger,
    Text,
    Texts,
    constrained,
)
from memcenter.rest.openapi import Accepted
from memories.writing.memory_writes import KIND_NAMES
from ops.api.serializers import ForgetOutcome
from ops.transfer.exports import FORMATS

_UTTERED = {"type": "string", "maxLength": settings.MAX_MESSAGE_CHARS, "pattern": NO_BLANK}
_MESSAGE = {"max_length": settings.MAX_MESSAGE_CHARS}
_CLIENT_ID = {"min_length": 1, "max_length": 200}
_NAMED_BY = {
    "memory": "memory_id",
    "message": "message_id",
    "conversation": "conversation_id",
    "project": "project_key",
}
_CHOSEN_BY = ("about", "memory_ids", "message_ids")


@extend_schema_field(
    {
        "type": "string",
        "minLength": 1,
        "maxLength": MAX_EXTERNAL_ID,
        "pattern": f"^(?!({'|'.join(PREFIXES)}))[^\\u0000-\\u001f\\u007f]*$",
    }
)
class ClientId(Text):
    """An id that the client assigned to an object."""

    defaults: ClassVar = {"required": False, "allow_null": True, "max_length": 200}

    def to_internal_value(self, data: Any) -> str:
        try:
            return check_external_id(super().to_internal_value(data), field=self.field_name or "")
        except Invalid as error:
            raise serializers.ValidationError(error.message) from error


class UtteranceInput(serializers.Serializer[Any]):
    content = Prose(**_MESSAGE)
    created_at = Moment(required=False)
    speaker = Text(required=False, allow_blank=True, max_length=100)


@extend_schema_field(
    {
        "oneOf": [
            _UTTERED,
            {
                "type": "object",
                "properties": {
                    "content": _UTTERED,
                    "created_at": MOMENT,
                    "speaker": {"type": "string", "maxLength": 100},
                },
                "required": ["content"],
            },
        ]
    }
)
class Utterance(serializers.Field[Any, Any, Any, Any]):
    """A message in a request, given as a string or as an object with text, time and speaker."""

    _inside = UtteranceInput()

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        if isinstance(data, str):
            data = {"content": data}
        if not isinstance(data, dict):
            raise serializers.ValidationError("Must be a text or an object with content.")
        checked: dict[str, Any] = self._inside.run_validation(data)
        return checked


class ToolInput(serializers.Serializer[Any]):
    name = Text(max_length=200)
    input = serializers.JSONField(required=False)
    output = serializers.JSONField(required=False)
    ok = Flag(required=False)


class TurnInput(Personal):
    conversation_id = ConversationId()
    user_message = Utterance()
    assistant_message = Utterance()
    user_message_id = ClientId()
    assistant_message_id = ClientId()
    conversation_kind = OneOf(choices=ConversationKind.choices, required=False, allow_null=True)
    project_key = ProjectKey(required=False, allow_blank=True, allow_null=True)
    temporary = Flag(required=False)
    occurred_at = Moment(required=False, allow_null=True)
    tools = serializers.ListField(child=ToolInput(), required=False, max_length=100)


class ConversationInput(Personal):
    conversation_id = ClientId()
    title = Text(required=False, allow_blank=True, max_length=200)
    kind = OneOf(choices=ConversationKind.choices, required=False)
    temporary = Flag(required=False)


class ConversationChange(Personal):
    title = Text(required=False, allow_blank=True, max_length=200)


class ConversationQuery(Personal):
    query = Text(required=False, max_length=1_000)


class MessageInputShape(Personal):
    role = OneOf(choices=Role.choices)
    content = Prose(**_MESSAGE)
    message_id = ClientId()
    created_at = Moment(required=False, allow_null=True)
    speaker = Text(required=False, allow_blank=True, max_length=100)
    completed = Flag(required=False)


@constrained(
    oneOf=[{"required": ["message_id"]}, {"required": ["memory_id"]}],
    **{"not": {"required": ["memory_id", "conversation_id"]}},
)
class FeedbackInput(Personal):
    message_id = Text(required=False, **_CLIENT_ID)
    conversation_id = Text(required=False, **_CLIENT_ID)
    memory_id = Text(required=False, **_CLIENT_ID)
    rating = OneOf(choices=Rating.choices, allow_null=True)
    comment = Text(required=False, allow_blank=True, max_length=2_000)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if ("message_id" in attrs) == ("memory_id" in attrs):
            raise serializers.ValidationError(
                {"message_id": "Give either message_id or memory_id."}
            )
        if "conversation_id" in attrs and "message_id" not in attrs:
            raise serializers.ValidationError({"conversation_id": "Only allowed with message_id."})
        return attrs


class ContextInput(Personal):
    message = Prose(**_MESSAGE)
    conversation_id = Text(required=False, allow_null=True, **_CLIENT_ID)
    conversation_kind = OneOf(choices=ConversationKind.choices, required=False, allow_null=True)
    project_key = Text(required=False, allow_null=True, max_length=100)
    project_name = Text(required=False, allow_null=True, max_length=200)
    kinds = serializers.ListField(child=OneOf(choices=KIND_NAMES), required=False, max_length=20)
    token_budget = StrictInteger(required=False, allow_null=True, min_value=100, max_value=32_000)
    top_k = StrictInteger(required=False, allow_null=True, min_value=1, max_value=50)
    include_window = Flag(required=False)
    language = Text(required=False, allow_null=True, max_length=16)


class OfConversation(Personal):
    conversation_id = Text(**_CLIENT_ID)


class EpisodeQuery(OfConversation):
    query = Text(required=False, max_length=4_000)


def _forget_variant_schema(scope: str, *needed: str, also: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the schema of a request to forget with this scope.

    The fields in `needed` are required, the fields in `also` are optional.
    """
    rest = ("user_id", "cascade", "forget_memories", *needed, *also)
    listed = {name: {"minItems": 1} for name in needed if name.endswith("_ids")}
    return {
        "properties": {"scope": {"enum": [scope]}, **{name: {} for name in rest}, **listed},
        "required": ["scope", *needed],
        "additionalProperties": False,
    }


@constrained(
    anyOf=[
        _forget_variant_schema("user"),
        _forget_variant_schema("project", "project_key"),
        _forget_variant_schema("conversation", "conversation_id"),
        _forget_variant_schema("message", "message_id", also=("conversation_id",)),
        _forget_variant_schema("memory", "memory_id"),
        _forget_variant_schema("memory", "about"),
        _forget_variant_schema("memory", "memory_ids", also=("message_ids",)),
        _forget_variant_schema("memory", "message_ids", also=("memory_ids", "conversation_id")),
    ],
    additionalProperties=False,
)
class ForgetInput(Personal):
    """The items to forget.

    With the scope `memory`, give `memory_id`, `about` (a description in words), or lists of ids
    (`memory_ids`, `message_ids`).
    """

    scope = OneOf(choices=(*_NAMED_BY, "user"))
    memory_id = Text(
        required=False,
        help_text="The memory to forget. Alternatives: about, or the lists of ids.",
        **_CLIENT_ID,
    )
    about = Prose(
        required=False,
        max_length=4_000,
        help_text="A description of what to forget, such as the person's own words.",
    )
    memory_ids = Texts(required=False, help_text="The memories that the person chose from a list.")
    message_ids = Texts(
        required=False,
        help_text="The messages that the person chose from a list, by our ids or the chat's own.",
    )
    message_id = Text(required=False, **_CLIENT_ID)
    conversation_id = Text(
        required=False,
        help_text="The conversation to forget, or the conversation of the given messages, if"
        " several use the same id.",
        **_CLIENT_ID,
    )
    project_key = Text(required=False, min_length=1, max_length=100)
    cascade = Flag(required=False)
    forget_memories = Flag(required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        wanted = _NAMED_BY.get(attrs["scope"])
        choosing = [name for name in _CHOSEN_BY if name in attrs]
        if attrs["scope"] == "memory":
            return self._check_choice(attrs)
        if wanted is not None and wanted not in attrs:
            raise serializers.ValidationError({wanted: "Say which one."})
        allowed = {wanted, "conversation_id"} if attrs["scope"] == "message" else {wanted}
        named = [name for name in _NAMED_BY.values() if name in attrs and name not in allowed]
        if others := [*named, *choosing]:
            text = f"Doesn't go with the scope {attrs['scope']}."
            raise serializers.ValidationError(dict.fromkeys(others, text))
        return attrs

    def _check_choice(self, attrs: dict[str, Any]) -> dict[str, Any]:
        ways = (("memory_id",), ("about",), ("memory_ids", "message_ids"))
        given = [way for way in ways if any(name in attrs for name in way)]
        if len(given) != 1:
            text = "Give memory_id, about, or the lists of ids."
            raise serializers.ValidationError({(given or ways[:1])[-1][0]: text})
        allowed = {"memory_id"} | ({"conversation_id"} if "message_ids" in attrs else set())
        others = [name for name in _NAMED_BY.values() if name in attrs and name not in allowed]
        if others == ["conversation_id"]:
            raise serializers.ValidationError({"conversation_id": "Only allowed with message_ids."})
        if others:
            text = "Doesn't go with the scope memory."
            raise serializers.ValidationError(dict.fromkeys(others, text))
        if not any(attrs.get(name) for name in ("memory_id", *_CHOSEN_BY)):
            raise serializers.ValidationError({"memory_ids": "Name at least one."})
        return attrs


@constrained(additionalProperties=False)
class ClearInput(Personal):
    conversation_id = Text(**_CLIENT_ID)
    forget_memories = Flag(required=False)


class ConversationRemoval(Personal):
    forget_memories = QueryFlag(required=False)


class OneMessage(Personal):
    """A request about one message.

    If the URL contains a client's own message id that occurs in several conversations,
    `conversation_id` is required.
    """

    conversation_id = Text(required=False, **_CLIENT_ID)


class MessageRemoval(OneMessage):
    cascade = QueryFlag(required=False)


# --- answers ----------------------------------------------------------------------------------


class ForgetAnswer(Accepted, ForgetOutcome):
    """An accepted request to forget.

    The lists are present only if the request has `about`: `memory_ids` are the forgotten memories,
    and `message_ids` are messages that still contain the forgotten statement. `also_ids` are
    memories of the same messages that the person may mean too. The messages, and the memories in
    `also_ids`, are kept unless another request names them.
    """

    op_id = serializers.CharField(
        allow_null=True, help_text="Only if something is being forgotten (accepted)."
    )
    likely_ids = None  # type: ignore[assignment] # leaves the field out

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Return the fields; unlike in a `ForgetOutcome`, all lists are optional."""
        fields = super().get_fields()
        for name in ("memory_ids", "message_ids"):
            fields[name].required = False
        return fields


class ForgetQuestion(ForgetOutcome):
    """The response if nothing has been forgotten yet.

    If `status` is `needs_choice`, ask the user which of the listed items to forget, and call again
    with their ids. If `status` is `nothing_found`, nothing matches the request, and `memory_ids`
    and `message_ids` are empty.
    """

    status = serializers.ChoiceField(choices=("needs_choice", "nothing_found"))
    likely_ids = also_ids = op_id = None  # type: ignore[assignment] # leaves the fields out


class Recorded(Shape):
    conversation_id = serializers.CharField(source="conversation.public_id")
    user_message_id = serializers.CharField(source="user_message.public_id")
    assistant_message_id = serializers.CharField(source="assistant_message.public_id")
    op_ids = serializers.ListField(child=serializers.CharField())


class Conversation(Shape):
    id = serializers.CharField(source="public_id")
    external_id = serializers.CharField(allow_null=True)
    user_id = serializers.CharField(allow_null=True)
    title = serializers.CharField()
    kind = serializers.CharField()
    temporary = serializers.BooleanField()
    message_count = serializers.IntegerField()
    last_message_at = serializers.DateTimeField(allow_null=True)
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()


class MessageFeedback(Shape):
    rating = serializers.CharField()
    comment = serializers.CharField()


class Message(Shape):
    id = serializers.CharField(source="public_id")
    external_id = serializers.CharField(allow_null=True)
    conversation_id = serializers.CharField()
    role = serializers.CharField()
    speaker = serializers.CharField()
    content = serializers.CharField()
    completed = serializers.BooleanField()
    created_at = serializers.DateTimeField()
    token_count = serializers.IntegerField()
    in_window = serializers.BooleanField()
    feedback = MessageFeedback(allow_null=True)


class ForgetOffer(Shape):
    user_id = serializers.CharField(required=False)
    scope = serializers.ChoiceField(choices=("memory", "message"))
    memory_id = serializers.CharField(required=False)
    message_id = serializers.CharField(required=False)
    cascade = serializers.BooleanField(required=False)


class RatedThing(Shape):
    id = serializers.CharField()
    rating = serializers.CharField(allow_null=True)
    comment = serializers.CharField()
    forget = ForgetOffer(
        allow_null=True,
        help_text=(
            "After very_negative: ask the person whether to forget it, and if they agree, send "
            "this to POST /memory/forget. Otherwise null."
        ),
    )


class Section(Shape):
    name = serializers.CharField(help_text=f"One of {', '.join(SECTIONS)}.")
    text = serializers.CharField()
    tokens = serializers.IntegerField()


class WindowMessage(Shape):
    role = serializers.CharField()
    content = serializers.CharField()
    message_id = serializers.CharField()


class ContextItem(Shape):
    type = serializers.CharField()
    id = serializers.CharField()
    text = serializers.CharField()
    score = serializers.FloatField()
    rank = serializers.IntegerField()
    components = serializers.DictField(child=serializers.FloatField())


class Context(Shape):
    request_id = serializers.CharField(allow_null=True)
    block = serializers.CharField()
    tokens = serializers.IntegerField()
    sections = Section(many=True)
    window = WindowMessage(many=True)
    items = ContextItem(many=True)
    took_ms = serializers.FloatField()


class Summary(Shape):
    text = serializers.CharField()
    version = serializers.IntegerField()
    covered_message_count = serializers.IntegerField()
    covered_from_message_id = serializers.CharField(allow_null=True)
    covered_through_message_id = serializers.CharField(allow_null=True)
    updated_at = serializers.DateTimeField(source="created_at")


class Episode(Shape):
    id = serializers.CharField(source="public_id")
    user_message_id = serializers.CharField(source="turn.user_message.public_id")
    assistant_message_id = serializers.CharField(source="turn.assistant_message.public_id")
    similarity = serializers.FloatField(allow_null=True)
    created_at = serializers.DateTimeField()
    user_message = serializers.CharField()
    assistant_message = serializers.CharField()


FILE: dict[Any, Any] = {
    (200, "application/json"): OpenApiTypes.OBJECT,
    (200, "application/zip"): OpenApiTypes.BINARY,
}


class ExportInput(Personal):
    conversation_id = Text(required=False, max_length=200)
    format = OneOf(choices=FORMATS, default=FORMATS[0])


class ImportInput(Personal):
    file = serializers.FileField(allow_empty_file=True)
    format = OneOf(choices=[one.value for one in Format], required=False)


class Started(Shape):
    """An export or import that was accepted; `op_id` identifies its operation."""

    status = serializers.ChoiceField(choices=("accepted",))
    op_id = serializers.CharField()
