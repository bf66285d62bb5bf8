"""Log formats, and the request id that connects the lines of one request.

Lines contain ids, never content. Of an exception only the type and place are logged, since its
message may quote user input.
"""

from __future__ import annotations

import json
import logging
import re
import time
import traceback
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from django.conf import settings
from django.db.backends.signals import connection_created

logger = logging.getLogger("memcenter.slow")
_request_id: ContextVar[str] = ContextVar("request_id", default="")
# Accept ids as proxies make them, but no free text, since the id is stored.
_SENDABLE = re.compile(r"[0-9A-Fa-f-]{8,64}")
REQUEST_ID = "X-Request-ID"


@contextmanager
def of_request(given: str) -> Iterator[str]:
    """Set the request id for everything logged inside; an id given by a proxy is kept.

    Operations enqueued inside, and calls of models and webhooks, carry the id too.
    """
    chosen = given if _SENDABLE.fullmatch(given) else uuid.uuid4().hex
    token = _request_id.set(chosen)
    try:
        yield chosen
    finally:
        _request_id.reset(token)


def request_id() -> str:
    """Return the id of the original request, or an empty string."""
    return _request_id.get()


def passed_on() -> dict[str, str]:
    """Return the headers that pass the request id on."""
    return {REQUEST_ID: _request_id.get()} if _request_id.get() else {}


class WithRequest(logging.Filter):
    """Adds the id of the request, or `-`, to each line."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.request_id = _request_id.get() or "-"
        return True


class JsonLines(logging.Formatter):
    """Formats each line as a JSON object for log collectors."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "at": self.formatTime(record, "%Y-%m-%dT%H:%M:%S%z"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            "request_id": getattr(record, "request_id", "-"),
        }
        if record.exc_info and record.exc_info[0] is not None:
            line["exception"] = record.exc_info[0].__name__
            line["raised_at"] = [
                f"{one.filename}:{one.lineno} {one.name}"
                for one in traceback.extract_tb(record.exc_info[2])
            ]
        return json.dumps(line, ensure_ascii=False)


def watch_slow_queries() -> None:
    """Log statements slower than the setting, without their values, on every connection.

    Off by default, since it disables the fast path of hot statements.
    """
    if settings.SLOW_QUERY_MS:
        connection_created.connect(_watch, dispatch_uid="slow queries")


def _watch(connection: Any, **kwargs: Any) -> None:
    if _timed not in connection.execute_wrappers:
        connection.execute_wrappers.append(_timed)


def _timed(
    execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]
) -> Any:
    begun = time.monotonic()
    try:
        return execute(sql, params, many, context)
    finally:
        took = (time.monotonic() - begun) * 1_000
        if took >= settings.SLOW_QUERY_MS:
            logger.warning("%d ms: %s", took, " ".join(sql.split())[:2_000])
