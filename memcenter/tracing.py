"""Spans for OpenTelemetry, where a collector is set: of requests, operations and model calls.

They tell routes, kinds, times and outcomes: no content, no addresses with ids in them, and of an
exception its type alone. All that goes back to one request is one trace, named by the request.
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
    """Around something that takes time; gives the span, or None where nothing is traced."""
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
    """Around a request; gives what tells how it was answered."""
    with span(str(request.method), {"http.request.method": str(request.method)}) as current:

        def answered(response: HttpResponse) -> HttpResponse:
            if current is not None:
                _tell(current, request, response)
            return response

        yield answered


def _tell(current: Any, request: HttpRequest, response: HttpResponse) -> None:
    """The route as it is declared, never the path: that names ids."""
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
    """One for each process, made by its first span.

    It isn't made the global one: libraries that trace by themselves put into their spans what they
    please.
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
    """0, which is no trace id, where the request has another kind of name."""
    return int(name, 16) if len(name) == _TRACE_ID_DIGITS else 0
