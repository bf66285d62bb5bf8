"""The base class of all API views, and their URL patterns.

A view validates the input, finds the person whose data the request concerns, and runs the handler
in a transaction for that person.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any, ClassVar

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import URLPattern, path, register_converter
from django.urls.converters import PathConverter
from rest_framework.exceptions import MethodNotAllowed
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import HiddenField, Serializer
from rest_framework.views import APIView

from foundation import deferred_writes
from foundation.errors import Invalid, NotFound
from memcenter.rest import idempotency, people, throttling
from memcenter.rest.endpoint import Call, Endpoint, ParsedRequest
from memcenter.rest.fields import QueryWords
from memcenter.rest.pagination import CursorPage
from memcenter.rest.throttling import KeyThrottle
from ops import audit_log
from ops.access import as_system, as_user
from ops.models import ApiKey, User

_PEOPLE = ("user_id", "owner_id")


class MemcenterView(APIView):
    """A view whose methods are declared by `@endpoint` and called as `get(call, **ids)`.

    The steps are: check the key, its scope and its rate limit; validate the input; find the person
    and check their rate limit; run `prepare`; run the handler in the person's transaction.
    """

    throttle_classes = (KeyThrottle,)
    metadata_class = None
    endpoint: Endpoint | None = None
    surface: ClassVar[str] = "api"

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        throttling.begin()
        self.args, self.kwargs = args, kwargs
        self.headers = self.default_response_headers
        self.request = wrapped = self.initialize_request(request, *args, **kwargs)
        handler = getattr(self, (request.method or "").lower(), None)
        self.endpoint = getattr(handler, "endpoint", None)
        try:
            self.initial(wrapped, *args, **kwargs)
            if isinstance(wrapped.auth, ApiKey):
                audit_log.set_actor(f"key {wrapped.auth.pk}", self.surface)
            if self.endpoint is None or handler is None:
                raise MethodNotAllowed(request.method or "")
            response = self._answer(handler, self.endpoint)
        except Exception as error:
            response = self.handle_exception(error)
        self.headers |= throttling.headers()
        self.response = self.finalize_response(wrapped, response, *args, **kwargs)
        return self.response

    def perform_content_negotiation(self, request: Request, force: bool = False) -> Any:
        """Return the JSON renderer, even if the client asks for another format."""
        renderer = self.renderer_classes[0]()
        return renderer, renderer.media_type

    def _answer(self, handler: Any, endpoint: Endpoint) -> Response:
        parsed = read(self.request, endpoint, ids=self.kwargs)
        once = idempotency.read(parsed) if endpoint.idempotent else None
        if once is not None and (before := once.replay()) is not None:
            return before
        user = people.resolve_person(parsed, endpoint)
        throttling.count_person(parsed.key, user, scope=parsed.scope, heavy=endpoint.heavy)
        call = Call(user=user, parsed=parsed)  # type: ignore[arg-type] # None only where `whose` says
        within = endpoint.prepares_within()
        call = call if within else _prepared(call, endpoint)
        if endpoint.defers_writes and once is None:
            return self._answer_first(handler, endpoint, call, within=within)
        changing = self.request.method not in SAFE_METHODS and not endpoint.adds
        with _transaction(user, changing=changing):
            call = _prepared(call, endpoint) if within else call
            if once is None or (user is not None and user.pk is None):
                return handler(call, **self.kwargs)  # type: ignore[no-any-return]
            once.begin()
            if (before := once.answered_meanwhile()) is not None:
                return before
            response: Response = handler(call, **self.kwargs)
            once.keep(response, user=user)
            return response

    def _answer_first(
        self, handler: Any, endpoint: Endpoint, call: Call, *, within: bool
    ) -> Response:
        with deferred_writes.collect() as deferred, _transaction(call.user, at_once=False):
            call = _prepared(call, endpoint) if within else call
            response: Response = handler(call, **self.kwargs)
        if deferred:
            # The server calls `response.close()` after it has sent the last byte.
            response._resource_closers.append(deferred.run)  # type: ignore[attr-defined]
        return response


def _prepared(call: Call, endpoint: Endpoint) -> Call:
    if endpoint.prepare is None:
        return call
    return replace(call, ready=endpoint.prepare(call))


def _transaction(
    user: User | None, *, changing: bool = False, at_once: bool = True
) -> AbstractContextManager[None]:
    if user is None:
        return as_system()
    if user.pk is None:
        return nullcontext()
    return as_user(user, changing=changing, at_once=at_once)


def read(request: Request, endpoint: Endpoint, *, ids: Mapping[str, str]) -> ParsedRequest:
    """Read and validate the input of a request.

    Raise `Invalid` or DRF's `ValidationError`, with problems by field, if the input is invalid, and
    `NotFound` if an id in the path contains a NUL character.
    """
    if any("\x00" in value for value in ids.values()):
        raise NotFound("There is no object with this id.")
    # If a field accepts several words, the values of a repeated parameter are joined by commas. An
    # empty `user_id` or `owner_id` is kept, so that its field rejects it. Otherwise a client that
    # inserts an empty variable by mistake would seem to name no person at all.
    query = {}
    for name, values in request.query_params.lists():
        several = endpoint.takes is not None and isinstance(
            _checker(endpoint.takes, endpoint.partial).fields.get(name), QueryWords
        )
        value = ",".join(values) if several else values[-1]
        if "\x00" in name or "\x00" in value:
            raise Invalid.field(
                name.replace("\x00", ""), "The text must not contain NUL characters."
            )
        if name in _PEOPLE and len(set(values)) > 1:
            raise Invalid.field(name, "The query names two people.")
        if value or name in _PEOPLE:
            query[name] = value
    if request.method in ("GET", "HEAD"):
        raw = query
    else:
        raw = request.data if type(request.data) is dict else {}
        # Any call may have `user_id` in the query; only a DELETE may have other fields there.
        also = {"user_id"} if request.method != "DELETE" else query.keys()
        raw = _merged(raw, {name: query[name] for name in also & query.keys()})
        if endpoint.strict:
            refuse_unknown({**query, **raw}, endpoint.takes)
    key = request.auth if isinstance(request.auth, ApiKey) else None
    page = CursorPage.read(request) if endpoint.paged else None
    data: Mapping[str, Any] = raw
    if endpoint.takes is not None:
        data = _checker(endpoint.takes, endpoint.partial).run_validation(raw)
    return ParsedRequest(
        request=request, key=key, ids=ids, data=data, page=page, scope=endpoint.scope
    )


def _merged(body: dict[str, Any], query: Mapping[str, Any]) -> dict[str, Any]:
    for name in body.keys() & query.keys():
        if body[name] != query[name]:
            raise Invalid.field(name, "The query and the body say different things.")
    return {**query, **body}


def refuse_unknown(raw: Mapping[str, Any], takes: type[Serializer[Any]] | None) -> None:
    fields = _checker(takes, False).fields if takes else {}
    known = {name for name, field in fields.items() if not isinstance(field, HiddenField)}
    unknown = sorted(set(raw) - known)
    if unknown:
        text = "Unknown here; nothing is erased on a guess."
        raise Invalid(f"{unknown[0]}: {text}", fields={name: [text] for name in unknown})


@functools.cache
def _checker(kind: type[Serializer[Any]], partial: bool) -> Serializer[Any]:
    """Return a cached serializer that validates input.

    The serializer is shared, since validation keeps no state and creating a serializer is slow.
    """
    return kind(partial=partial)


SLASHED = "-slashed"


class NameWithSlashes(PathConverter):
    """Matches a name that may contain slashes, but doesn't end in one.

    A trailing slash belongs to the route, since every route also exists with a trailing slash.
    """

    regex = ".*[^/]"


register_converter(NameWithSlashes, "with_slashes")


def routes(*pairs: tuple[str, type[APIView]]) -> list[URLPattern]:
    patterns = []
    for route, view in pairs:
        handler = view.as_view()
        patterns.append(path(route, handler, name=view.__name__))
        patterns.append(path(f"{route}/", handler, name=view.__name__ + SLASHED))
    return patterns
