"""The inputs and answers of exports and imports."""

from __future__ import annotations

from typing import Any

from drf_spectacular.types import OpenApiTypes
from rest_framework import serializers

from conversations.importing.formats.file_rows import Format
from memcenter.rest.requests.fields import OneOf, Personal, Text
from ops.transfer.export_requests import FORMATS

__all__ = ["FILE", "ExportInput", "ImportInput", "Personal", "Started"]
FILE: dict[Any, Any] = {
    (200, "application/json"): OpenApiTypes.OBJECT,
    (200, "application/zip"): OpenApiTypes.BINARY,
}


class ExportInput(Personal):
    conversation_id = Text(required=False, max_length=200)
    format = OneOf(choices=FORMATS, default="json")


class ImportInput(Personal):
    file = serializers.FileField(allow_empty_file=True)
    format = OneOf(choices=[one.value for one in Format], required=False)


class Started(serializers.Serializer[Any]):
    """The operation tells how far it is; the one of an import carries a `report` in the end."""

    status = serializers.ChoiceField(choices=("accepted",))
    op_id = serializers.CharField()
