"""The arguments and results of the MCP tools, as serializers of the REST API and as JSON Schema.

The descriptions here tell agents what the arguments of a tool mean. A result has the fields of the
corresponding REST response, except those that an agent doesn't need.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson
from django.conf import settings
from django.core.validators import RegexValidator
from rest_framework import serializers

from conversations.api import serializers as forgetting
from memcenter.rest.fields import OneOf, Prose, SomeOf, Text, UserId
from memories.api import response_shapes
from memories.api import serializers as rest
from memories.models import Kind
from memories.recall.searchable_texts import TYPES

Shape = type[serializers.Serializer[Any]]


class Id(Text):
    def __init__(self, prefix: str, **options: Any) -> None:
        self.pattern = f"^{prefix}"
        check = RegexValidator(self.pattern, f"An id begins with {prefix}.")
        super().__init__(**({"max_length": 200, "validators": [check]} | options))


def _without(shape: Shape, *names: str, **more: Any) -> Shape:
    return type(shape.__name__, (shape,), dict.fromkeys(names) | more)


def _owned(shape: Shape, **more: Any) -> Shape:
    about = "Whose memory. Leave it out if the key is bound to a person."
    return _without(shape, "user_id", owner_id=UserId(allow_null=False, help_text=about), **more)


def _limit(default: int = 20) -> serializers.IntegerField:
    return serializers.IntegerField(default=default, min_value=1, max_value=100)


def _ids(prefix: str, **options: Any) -> serializers.ListField:
    return serializers.ListField(child=Id(prefix), max_length=100, **options)


def _help(shape: Shape, name: str) -> str:
    return str(shape().fields[name].help_text)


def _cursor() -> Text:
    return Text(required=False, help_text="The next_cursor of the previous page.")


def _kind(**options: Any) -> OneOf:
    text = "requirement, plan, development, testing, insight; or a kind of personal memory."
    return OneOf(choices=Kind.values, help_text=f"One of {text}", **options)


INGEST = _owned(
    rest.IngestedText,
    content_type=_kind(),
    content=Prose(
        max_length=settings.MAX_INGEST_CHARS,
        help_text="The whole page or statement. A newer edition replaces the older one.",
    ),
)
FIND = _owned(
    rest.AgentSearch,
    content_type=_kind(required=False),
    scope=OneOf(
        choices=[*Kind.values, "all"], required=False, help_text="The same as content_type, or all."
    ),
    limit=_limit(),
)
GET = _owned(
    rest.Owned, ids=_ids("mem_", min_length=1, help_text="The ids that mem.search returned.")
)
TIMELINE = _without(
    _owned(rest.Timeline, content_type=_kind(required=False), limit=_limit(), cursor=_cursor()),
    "scope",
)
PROJECTS = _owned(rest.Owned, limit=_limit(100), cursor=_cursor())
SEARCH = _owned(
    rest.PlainSearch,
    types=SomeOf(
        choices=TYPES,
        required=False,
        help_text="The types to search. Default: all.",
    ),
    limit=_limit(),
)
APPEND = _owned(
    rest.NoteLine,
    text=Prose(max_length=settings.MAX_MEMORY_CHARS, help_text="One line for today's note."),
    source=Text(required=False, max_length=200, help_text="The author of the line."),
)
FORGET = _without(
    _owned(
        forgetting.ForgetInput,
        scope=serializers.HiddenField(default="memory"),
        memory_id=Id("mem_", required=False, help_text=_help(forgetting.ForgetInput, "memory_id")),
        memory_ids=_ids(
            "mem_", required=False, help_text=_help(forgetting.ForgetInput, "memory_ids")
        ),
        conversation_id=Text(
            required=False,
            min_length=1,
            max_length=200,
            help_text="Which conversation message_ids belong to, if several use the same id.",
        ),
    ),
    *("message_id", "project_key", "cascade", "forget_memories"),
)


def _paged(item: Shape) -> Shape:
    cursor = serializers.CharField(allow_null=True)
    fields = {"results": item(many=True), "next_cursor": cursor}
    return type(f"{item.__name__}Page", (serializers.Serializer,), fields)


_MEMORY = _without(
    response_shapes.Memory,
    *("user_id", "data", "standing", "feedback", "access_count", "last_accessed_at"),
    *("deleted_at", "purge_at", "sources", "conflicts_with"),
    content_type=serializers.CharField(),
)
MEMORIES = _without(response_shapes.AgentMemories, results=_MEMORY(many=True))
ENTRIES = _paged(_without(response_shapes.TimelineEntry, "version", "occurred_at"))
LISTED_PROJECTS = _paged(_without(response_shapes.ListedProject, "path"))
_HIT = _without(response_shapes.SearchHit, "components", "turn", "occurred_at")
SEARCH_ANSWER = _without(response_shapes.SearchAnswer, results=_HIT(many=True))
LINE = _without(response_shapes.AppendedLine, "text", "created_at")


FORGOTTEN = _without(
    forgetting.ForgetAnswer,
    "receipt_token",
    status=serializers.ChoiceField(choices=("accepted", "needs_choice", "nothing_found")),
)


def parse(arguments: Mapping[str, Any], shape: Shape) -> dict[str, Any]:
    """Return the validated arguments.

    A null argument counts as missing, as does an empty list for an optional argument without a
    minimum length. A list may also be given as a JSON string, since some clients send lists in this
    form. Raise DRF's `ValidationError` for invalid arguments.
    """
    serializer = shape()
    given = {name: value for name, value in arguments.items() if value is not None}
    for name, field in serializer.fields.items():
        if isinstance(field, serializers.ListField) and name in given:
            given[name] = _parsed_list(given[name])
            if given[name] == [] and not field.required and not field.min_length:
                del given[name]
    checked: dict[str, Any] = serializer.run_validation(given)
    return checked


def _parsed_list(value: Any) -> Any:
    try:
        return orjson.loads(value) if isinstance(value, str) else value
    except orjson.JSONDecodeError:
        return value


def select(answer: Mapping[str, Any], shape: serializers.Serializer[Any]) -> dict[str, Any]:
    """Return the fields of the answer that `shape` declares.

    A missing value becomes false for a boolean, an empty list for a list, and null for other
    fields.
    """
    return {name: _selected(answer.get(name), field) for name, field in shape.fields.items()}


def _selected(value: Any, field: Any) -> Any:
    if isinstance(field, serializers.BooleanField):
        return bool(value)
    if isinstance(field, serializers.ListField):
        return value or []
    if isinstance(field, serializers.ListSerializer):
        return [select(item, field.child) for item in value or ()]  # type: ignore[arg-type] # a serializer
    return value


def json_schema(shape: serializers.Serializer[Any], *, is_result: bool = False) -> dict[str, Any]:
    """Return the JSON Schema of a tool's arguments, or of its result.

    All fields of a result are required.
    """
    fields = [
        (name, field)
        for name, field in shape.fields.items()
        if not isinstance(field, serializers.HiddenField)
    ]
    return {
        "type": "object",
        "properties": {name: _described(field) for name, field in fields},
        "required": [name for name, field in fields if is_result or field.required],
    }


_TYPES: tuple[tuple[type[serializers.Field[Any, Any, Any, Any]], dict[str, str]], ...] = (
    (serializers.BooleanField, {"type": "boolean"}),
    (serializers.IntegerField, {"type": "integer"}),
    (serializers.FloatField, {"type": "number"}),
    (serializers.DateTimeField, {"type": "string", "format": "date-time"}),
    (serializers.DictField, {"type": "object"}),
    (serializers.ListField, {"type": "array"}),
    (serializers.ListSerializer, {"type": "array"}),
    (serializers.Field, {"type": "string"}),
)
_KEYWORDS = {"min_value": "minimum", "max_value": "maximum", "pattern": "pattern"}


def _described(field: Any) -> dict[str, Any]:
    shape: dict[str, Any] = dict(next(told for kind, told in _TYPES if isinstance(field, kind)))
    unit = "Items" if shape["type"] == "array" else "Length"
    names = _KEYWORDS | {"min_length": f"min{unit}", "max_length": f"max{unit}"}
    for name, keyword in names.items():
        if getattr(field, name, None) is not None:
            shape[keyword] = getattr(field, name)
    if isinstance(field, serializers.ChoiceField):
        shape["enum"] = list(field.choices)
    if isinstance(field, serializers.ListSerializer):
        shape["items"] = json_schema(field.child, is_result=True)  # type: ignore[arg-type]
    elif isinstance(field, serializers.ListField):
        shape["items"] = _described(field.child)
    if field.default not in (serializers.empty, None):
        shape["default"] = field.default
    if field.allow_null or not field.required:
        shape = {"anyOf": [shape, {"type": "null"}]}
    return shape | ({"description": str(field.help_text)} if field.help_text else {})
