"""How log lines are written, and what ties those of one request together.

Lines carry ids, never content: of an exception its type and where it was raised, since its message
may quote what was sent.
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
# Names that proxies make, and nothing in which somebody could say something: it is kept.
_SENDABLE = re.compile(r"[0-9A-Fa-f-]{8,64}")
REQUEST_ID = "X-Request-ID"


@contextmanager
def of_request(given: str) -> Iterator[str]:
    """Everything logged inside belongs to one request; an id that a proxy gave is kept.

    What is enqueued inside carries it along, and so do calls of models and webhooks.
    """
    chosen = given if _SENDABLE.fullmatch(given) else uuid.uuid4().hex
    token = _request_id.set(chosen)
    try:
        yield chosen
    finally:
        _request_id.reset(token)


def request_id() -> str:
    """The name of the request that what happens now goes back to; empty where there is none."""
    return _request_id.get()


def passed_on() -> dict[str, str]:
    """What tells whoever is called which request it is for."""
    return {REQUEST_ID: _request_id.get()} if _request_id.get() else {}


class WithRequest(logging.Filter):
    """Gives each line the id of its request, or `-`."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.request_id = _request_id.get() or "-"
        return True


class JsonLines(logging.Formatter):
    """One JSON object a line, for whatever collects logs."""

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
    """From now on every connection logs statements that take longer than the setting says.

    Without their values. Watching costs hot statements their short way, so it is off by default.
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
