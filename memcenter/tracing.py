"""OpenTelemetry spans of requests, operations and model calls, if a collector is configured.

Spans contain routes, kinds, times and outcomes: no content, no URLs with ids, and only the type of
an exception. Everything caused by one request is one trace, named by the request.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from multiprocessing.util import Finalize
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from memcenter import logs

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

_TRACE_ID_DIGITS = 32
_SENDING_SECONDS = 2  # a collector that is gone holds up nobody who stops
Attributes = Mapping[str, str | int]


@contextmanager
def span(name: str, attributes: Attributes) -> Iterator[Any]:
    """Trace the block; yield the span, or None if tracing is off."""
    if not settings.OTEL_ENDPOINT:
        yield None
        return
    from opentelemetry.trace import StatusCode

    tracer = provider(settings.OTEL_ENDPOINT).get_tracer("memcenter")
    with tracer.start_as_current_span(
        name,
        attributes=dict(attributes),
        record_exception=False,  # its message may quote what was sent
        set_status_on_exception=False,
    ) as current:
        try:
            yield current
        except BaseException as error:
            current.set_status(StatusCode.ERROR, type(error).__name__)
            raise


@contextmanager
def request_span(request: HttpRequest) -> Iterator[Callable[[HttpResponse], HttpResponse]]:
    """Trace a request; yield a function that records the response."""
    with span(str(request.method), {"http.request.method": str(request.method)}) as current:

        def answered(response: HttpResponse) -> HttpResponse:
            if current is not None:
                _tell(current, request, response)
            return response

        yield answered


def _tell(current: Any, request: HttpRequest, response: HttpResponse) -> None:
    """Record the declared route, never the path, which contains ids."""
    match = request.resolver_match
    route = f"/{match.route}" if match else ""
    current.update_name(f"{request.method} {route}".strip())
    current.set_attribute("http.route", route)
    current.set_attribute("http.response.status_code", response.status_code)
    if response.status_code >= 500:
        from opentelemetry.trace import StatusCode

        current.set_status(StatusCode.ERROR)


@cache
def provider(endpoint: str) -> TracerProvider:
    """Return the tracer provider of this process, made for the first span.

    It isn't the global provider, since libraries would write arbitrary content into their spans.
    """
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
    from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
    from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased

    class OfTheRequest(RandomIdGenerator):
        def generate_trace_id(self) -> int:
            name = logs.request_id().replace("-", "")
            return _number(name) or super().generate_trace_id()

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
    Finalize(None, made.shutdown, exitpriority=1)  # also where no `atexit` is: see wsgi.py
    return made


def _number(name: str) -> int:
    """Return the request id as a trace id, or 0 (invalid) if it has another form."""
    return int(name, 16) if len(name) == _TRACE_ID_DIGITS else 0
