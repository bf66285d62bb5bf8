"""Serializer fields of requests, and the base class of responses.

Fields for JSON bodies are strict about types. Fields for queries, such as `QueryFlag`, parse
strings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any, ClassVar, TypeVar

import orjson
from django.core.validators import RegexValidator
from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from foundation import errors
from ops.accounts import users

Serialized = TypeVar("Serialized", bound=serializers.Serializer[Any])


# The drf-spectacular extension that carries JSON Schema keywords that a serializer's fields can't
# express; `openapi.complete` moves these keywords into the schema.
CONSTRAINTS = "x-constraints"
_YEAR_2, _END_OF_9998 = -62_104_060_800, 253_370_764_799  # Unix seconds


def constrained(**keywords: Any) -> Callable[[type[Serialized]], type[Serialized]]:
    """Add keywords of JSON Schema, such as `anyOf`, to the schema of a request's body.

    The keywords describe the checks of `validate`, such as which fields belong together.
    """
    decorate: Any = extend_schema_serializer(extensions={CONSTRAINTS: keywords})
    return decorate  # type: ignore[no-any-return]


# A character that is whitespace neither in JSON Schema nor in Python. JSON Schema's \S alone would
# also match U+0085, for example, which is whitespace in Python.
NO_BLANK = r"[^\s\u001c-\u001f\u0085]"


class Text(serializers.CharField):
    """A string. Other types aren't converted, and surrounding whitespace is kept.

    `defaults` are a subclass's default options.
    """

    defaults: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"trim_whitespace": False, **self.defaults, **options})

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return super().to_internal_value(data)


class Prose(Text):
    """A text that must not consist only of whitespace."""

    _blank = RegexValidator(NO_BLANK, Text.default_error_messages["blank"], code="blank")
    defaults: ClassVar = {"validators": [_blank]}


@extend_schema_field(
    {
        "type": "string",
        "minLength": 1,
        "maxLength": 200,
        "pattern": r"^[^\u0000-\u001f\u007f]*$",
    }
)
class ConversationId(Text):
    """Our id of a conversation, or the client's own id. A write may create the conversation."""

    defaults: ClassVar = {"min_length": 1, "max_length": 200}


@extend_schema_field({"type": "string", "maxLength": 100, "pattern": r"^[^\u0000-\u001f]*$"})
class ProjectKey(Text):
    """The key of a project. A write may create the project."""

    defaults: ClassVar = {"max_length": 100}


@extend_schema_field(
    {
        "type": "string",
        "minLength": 1,
        "maxLength": 64,
        "pattern": r"^[^\u0000-\u001f\u007f-\u009f]*$",
    }
)
class UserId(Text):
    """The id that the chat product uses for the person."""

    defaults: ClassVar = {"required": False, "allow_null": True, "max_length": 64}

    def to_internal_value(self, data: Any) -> str:
        try:
            return users.check_external_id(data)
        except errors.Invalid as error:
            raise serializers.ValidationError(error.message) from error


class Flag(serializers.BooleanField):
    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            self.fail("invalid", input=data)
        return data


class QueryFlag(serializers.BooleanField):
    _WORDS = {"true": True, "1": True, "false": False, "0": False}

    def to_internal_value(self, data: Any) -> bool:
        word = str(data).lower()
        if word not in self._WORDS:
            self.fail("invalid", input=data)
        return self._WORDS[word]


class StrictInteger(serializers.IntegerField):
    """An integer. As in JSON Schema, 2.0 is also an integer."""

    def to_internal_value(self, data: Any) -> int:
        if isinstance(data, float) and data.is_integer():
            return int(data)
        if not isinstance(data, int) or isinstance(data, bool):
            self.fail("invalid")
        return data


class Fraction(serializers.FloatField):
    """A number from 0 to 1."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**({"min_value": 0, "max_value": 1} | options))

    def to_internal_value(self, data: Any) -> float:
        if not isinstance(data, int | float) or isinstance(data, bool):
            self.fail("invalid")
        return float(data)


class OneOf(serializers.ChoiceField):
    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, str):
            self.fail("invalid_choice", input=type(data).__name__)
        return super().to_internal_value(data)


MOMENT = {
    "anyOf": [
        {"type": "string", "format": "date-time"},
        {"type": "number", "minimum": _YEAR_2, "maximum": _END_OF_9998},
    ]
}


@extend_schema_field(MOMENT)
class Moment(serializers.DateTimeField):
    """A time in ISO 8601 (UTC if it has no time zone), or Unix seconds as a number."""

    default_error_messages = {"range": "Must lie between the years 2 and 9998."}

    def to_internal_value(self, value: Any) -> datetime:
        if isinstance(value, int | float) and not isinstance(value, bool):
            try:
                return datetime.fromtimestamp(value, tz=UTC)
            except (OverflowError, OSError, ValueError):
                self.fail("range")
        if not isinstance(value, str):
            self.fail("invalid", format="ISO 8601")
        try:
            moment = super().to_internal_value(value).astimezone(UTC)
        except OverflowError:
            self.fail("range")
        # Times at the very ends of the calendar can't be read back from the database.
        if not 2 <= moment.year <= 9998:
            self.fail("range")
        return moment


@extend_schema_field({"type": "string", "format": "date-time"})
class QueryMoment(Moment):
    """A time in a query string, in ISO 8601."""


class SomeOf(serializers.ListField):
    """A list of one or more of the given choices."""

    def __init__(self, *, choices: Any, **options: Any) -> None:
        child = OneOf(choices=choices)
        super().__init__(child=child, min_length=1, max_length=len(child.choices), **options)


class Texts(serializers.ListField):
    def __init__(self, *, max_text: int = 200, **options: Any) -> None:
        child = Text(max_length=max_text, min_length=1)
        options.setdefault("max_length", 100)
        super().__init__(child=child, **options)


class QueryWords(serializers.CharField):
    """A comma-separated list of words in a query string."""

    def __init__(self, *, among: tuple[str, ...] = (), **options: Any) -> None:
        self.among = among
        super().__init__(**options)
        word = "|".join(among)
        listed = f"^ *({word})? *(, *({word})? *)*$" if among else r"[^,\s]"
        describe: Any = extend_schema_field({"type": "string", "pattern": listed})
        describe(self)

    def to_internal_value(self, data: Any) -> Any:
        words = tuple(word.strip() for word in str(data).split(",") if word.strip())
        unknown = [word for word in words if self.among and word not in self.among]
        if unknown:
            known = ", ".join(self.among)
            raise serializers.ValidationError(f"Must be among {known}.")
        return words


class Object(serializers.DictField):
    """Any JSON object up to a maximum size."""

    max_bytes = 16_384
    default_error_messages = {"size": "Must not be larger than {limit} bytes."}

    def to_internal_value(self, data: Any) -> dict[Any, Any]:
        if not isinstance(data, dict):
            self.fail("not_a_dict", input_type=type(data).__name__)
        if len(orjson.dumps(data)) > self.max_bytes:
            self.fail("size", limit=self.max_bytes)
        return data


# The subclasses declare the fields of a response; `show` renders a row with these fields. Plain
# values are left to the JSON renderer, since DRF's own conversion is slow.
#
# The docstring of this class is the description of each response in the OpenAPI document, so it is
# written for the clients of the API.
class Shape(serializers.Serializer[Any]):
    """A response of the API.

    An optional field without a value is left out. A field that may be null is null rather than an
    empty string.
    """

    @classmethod
    def show(cls, row: Any, **given: Any) -> dict[str, Any]:
        """Return the response for a row. `given` holds values that don't come from the row."""
        found: dict[str, Any] = {}
        for part in _parts(cls):
            value = given[part.name] if part.name in given else part.value_in(row)
            if value == "" and part.nullable:
                value = None
            if value or part.required:
                found[part.name] = value if part.shape is None else part.shown(value)
        return found


@dataclass(frozen=True, slots=True)
class _Part:
    name: str
    path: tuple[str, ...]
    required: bool
    nullable: bool
    many: bool
    shape: type[Shape] | None

    def value_in(self, row: Any) -> Any:
        try:
            for name in self.path:
                row = row[name] if isinstance(row, dict) else getattr(row, name)
        except (AttributeError, KeyError):
            if self.required and not self.nullable:
                raise
            return None
        return row

    def shown(self, value: Any) -> Any:
        if self.many:
            return [self._rendered(item) for item in value]
        return self._rendered(value)

    def _rendered(self, value: Any) -> Any:
        if self.shape is None or value is None or isinstance(value, dict):
            return value
        return self.shape.show(value)


@cache
def _parts(kind: type[Shape]) -> list[_Part]:
    """Return the fields of a shape, cached, since each new serializer copies all its fields."""
    found = []
    for name, field in kind().fields.items():
        many = isinstance(field, serializers.ListSerializer)
        inner = field.child if isinstance(field, serializers.ListSerializer) else field
        shape = type(inner) if isinstance(inner, Shape) else None
        path = () if field.source == "*" else tuple(str(field.source).split("."))
        found.append(_Part(name, path, field.required, field.allow_null, many, shape))
    return found


class Personal(serializers.Serializer[Any]):
    """The input of a call that concerns a person, in its body or query."""

    user_id = UserId(
        help_text=(
            "The id that the chat product uses for the person. Required with an unbound key, even "
            "if the call contains another id; optional with a key that is bound to a person."
        )
    )
