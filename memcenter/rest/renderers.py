"""Render responses as JSON."""

import json
from collections.abc import Mapping
from typing import Any

import orjson
from rest_framework.renderers import BaseRenderer

_OPTIONS = orjson.OPT_UTC_Z | orjson.OPT_NON_STR_KEYS


class OrjsonRenderer(BaseRenderer):
    """Renders dicts, dates, UUIDs and dataclasses; times in UTC end in Z."""

    media_type = "application/json"
    format = "json"
    charset = None
    render_style = "binary"

    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> bytes:
        return b"" if data is None else as_json(data)


def as_json(data: Any) -> bytes:
    """Render JSON, with integers too long for orjson: PostgreSQL returns 1e40 as one."""
    try:
        return orjson.dumps(data, default=str, option=_OPTIONS)
    except TypeError:
        return json.dumps(data, default=_as_text, ensure_ascii=False).encode()


def _as_text(value: Any) -> Any:
    """Convert values that orjson renders natively, for the standard library."""
    return orjson.loads(orjson.dumps(value, default=str, option=_OPTIONS))
