"""Log formats, the request id that all log lines of a request share, and OpenTelemetry spans.

Log lines contain ids, never content. Spans contain routes, operation ids and kinds, times and
outcomes, but neither content nor URLs. Only the type and the place of an exception are recorded,
since its message may quote user input. If the request id has 32 hexadecimal digits (hyphens don't
count), it is the trace id, so that a request and the operations that it enqueued share one trace.
"""

from __future__ import annotations

import json
import logging
import re
import time
import traceback
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from multiprocessing.util import Finalize
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db.backends.signals import connection_created
from django.http import HttpRequest, HttpResponse

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider


logger = logging.getLogger("memcenter.slow")
_request_id: ContextVar[str] = ContextVar("request_id", default="")
# Accept ids in the form that proxies use, but no free text, since the id is stored.
_SENDABLE = re.compile(r"[0-9A-Fa-f-]{8,64}")
REQUEST_ID = "X-Request-ID"


@contextmanager
def use_request_id(given: str) -> Iterator[str]:
    """Set the request id for everything that is logged in the block, and yield it.

    The id is `given` if that consists of 8 to 64 hexadecimal digits or hyphens; otherwise a new id
    is created. Operations enqueued in the block, model calls and webhook deliveries carry the same
    id.
    """
    chosen = given if _SENDABLE.fullmatch(given) else uuid.uuid4().hex
    token = _request_id.set(chosen)
    try:
        yield chosen
    finally:
        _request_id.reset(token)


def request_id() -> str:
    """Return the id of the current request, or of the request that enqueued the running operation.

    Return an empty string if there is no such request.
    """
    return _request_id.get()


def outgoing_headers() -> dict[str, str]:
    """Return the headers that pass the request id on to other services, if there is one."""
    return {REQUEST_ID: _request_id.get()} if _request_id.get() else {}


class WithRequest(logging.Filter):
    """Adds the request id to each log line, or `-` if there is no request id."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.request_id = _request_id.get() or "-"
        return True


class JsonLines(logging.Formatter):
    """Formats each log line as a JSON object, for log collectors."""

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
                f"{frame.filename}:{frame.lineno} {frame.name}"
                for frame in traceback.extract_tb(record.exc_info[2])
            ]
        return json.dumps(line, ensure_ascii=False)


def watch_slow_queries() -> None:
    """Log every SQL statement that takes at least `SLOW_QUERY_MS`, without its values.

    The log is off by default, since it disables the faster execution of statements in
    `foundation.database.statements`.
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


_TRACE_ID_DIGITS = 32
_SENDING_SECONDS = 2  # a missing collector must not delay shutdown
Attributes = Mapping[str, str | int]


@contextmanager
def span(name: str, attributes: Attributes) -> Iterator[Any]:
    """Trace the block as a span. Yield the span, or None if tracing is off."""
    if not settings.OTEL_ENDPOINT:
        yield None
        return
    from opentelemetry.trace import StatusCode

    tracer = tracer_provider(settings.OTEL_ENDPOINT).get_tracer("memcenter")
    with tracer.start_as_current_span(
        name,
        attributes=dict(attributes),
        record_exception=False,  # the message may quote what was sent
        set_status_on_exception=False,
    ) as current:
        try:
            yield current
        except BaseException as error:
            current.set_status(StatusCode.ERROR, type(error).__name__)
            raise


@contextmanager
def request_span(request: HttpRequest) -> Iterator[Callable[[HttpResponse], HttpResponse]]:
    """Trace a request. Yield a function that must be called with the response."""
    with span(str(request.method), {"http.request.method": str(request.method)}) as current:

        def answered(response: HttpResponse) -> HttpResponse:
            if current is not None:
                # The path isn't recorded, since it contains ids.
                match = request.resolver_match
                route = f"/{match.route}" if match else ""
                current.update_name(f"{request.method} {route}".strip())
                current.set_attribute("http.route", route)
                current.set_attribute("http.response.status_code", response.status_code)
                if response.status_code >= 500:
                    from opentelemetry.trace import StatusCode

                    current.set_status(StatusCode.ERROR)
            return response

        yield answered


@cache
def tracer_provider(endpoint: str) -> TracerProvider:
    """Return the tracer provider of this process, which is created with the first span.

    The provider isn't installed globally, since libraries would then add spans with arbitrary
    content.
    """
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
    from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
    from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased

    class OfTheRequest(RandomIdGenerator):
        def generate_trace_id(self) -> int:
            name = request_id().replace("-", "")
            number = int(name, 16) if len(name) == _TRACE_ID_DIGITS else 0
            return number or super().generate_trace_id()

    made = TracerProvider(
        resource=Resource.create({"service.name": "memory-center"}),
        id_generator=OfTheRequest(),
        sampler=ParentBased(TraceIdRatioBased(settings.OTEL_SHARE)),
        shutdown_on_exit=False,
    )
    sent_to = OTLPSpanExporter(
        endpoint=endpoint, headers=settings.OTEL_HEADERS, timeout=_SENDING_SECONDS
    )
    made.add_span_processor(BatchSpanProcessor(sent_to))
    Finalize(None, made.shutdown, exitpriority=1)  # runs even without `atexit`, see wsgi.py
    return made
