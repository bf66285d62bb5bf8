"""A light HTML page with the API reference, made from the OpenAPI document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from typing import Any

from django.views.generic import TemplateView

from memcenter.rest.openapi import OneSlashGenerator

_BODY = "application/json"


@dataclass(frozen=True)
class Field:
    """A parameter of a call, or a field of its body."""

    name: str
    place: str  # path, query, header or body
    type: str
    is_required: bool
    description: str


@dataclass(frozen=True)
class Call:
    """A method of an endpoint. `anchor` links to the page on which the call can be tried."""

    method: str
    path: str
    tag: str
    summary: str
    anchor: str
    fields: tuple[Field, ...]
    answers: tuple[str, ...]


class ReferencePage(TemplateView):
    """The page that lists every call, grouped by tag, with fields and status codes."""

    template_name = "api_reference.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        by_tag = groupby(calls(), key=lambda call: call.tag)
        return super().get_context_data(
            **kwargs, groups=[(tag, tuple(found)) for tag, found in by_tag]
        )


@cache
def calls() -> tuple[Call, ...]:
    """Return all calls grouped by tag. The result is cached for the life of the process."""
    generator: Any = OneSlashGenerator
    document = generator().get_schema(request=None, public=True)
    shapes = document["components"]["schemas"]
    found = [
        Call(
            method=method.upper(),
            path=path,
            tag=about["tags"][0],
            summary=about["summary"],
            anchor=f"/{about['tags'][0]}/{about['operationId']}",
            fields=tuple(_fields(about, shapes)),
            answers=tuple(about["responses"]),
        )
        for path, methods in document["paths"].items()
        for method, about in methods.items()
        if "operationId" in about
    ]
    return tuple(sorted(found, key=lambda call: call.tag))


def _fields(about: Mapping[str, Any], shapes: Mapping[str, Any]) -> Iterator[Field]:
    for one in about.get("parameters", ()):
        yield Field(
            name=one["name"],
            place=one["in"],
            type=_type(one["schema"], shapes),
            is_required=one.get("required", False),
            description=one.get("description", ""),
        )
    body = about.get("requestBody", {}).get("content", {}).get(_BODY, {}).get("schema", {})
    body = _resolved(body, shapes)
    for name, shape in body.get("properties", {}).items():
        yield Field(
            name=name,
            place="body",
            type=_type(shape, shapes),
            is_required=name in body.get("required", ()),
            description="" if _choices(shape) else shape.get("description", ""),
        )


def _resolved(shape: Mapping[str, Any], shapes: Mapping[str, Any]) -> Mapping[str, Any]:
    name = shape.get("$ref", "").rpartition("/")[2]
    return shapes[name] if name else shape


def _type(shape: Mapping[str, Any], shapes: Mapping[str, Any]) -> str:
    """Return a field's type in words: `string`, `list of integer`, or the possible values."""
    shape = _resolved(shape, shapes)
    if "allOf" in shape:
        return _type(shape["allOf"][0], shapes)
    if chosen := _choices(shape):
        return chosen
    if shape.get("type") == "array":
        return f"list of {_type(shape['items'], shapes)}"
    return str(shape.get("format") or shape.get("type") or "any")


def _choices(shape: Mapping[str, Any]) -> str:
    return " | ".join(str(one) for one in shape.get("enum", ()) if one is not None)
