"""REST views for operations, their progress as server-sent events, and receipts.

An operation can be read with the API key that requested it, with a key that may access its user, or
with the receipt token of the operation. A web session of its user may also read its events.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

from django.contrib.auth import get_user
from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from foundation.errors import Conflict, Invalid, NotFound
from memcenter.rest.authentication import HasScope
from memcenter.rest.base import MemcenterView
from memcenter.rest.endpoint import EMPTY, Call, ParsedRequest, endpoint
from memcenter.rest.fields import Personal
from memcenter.rest.pagination import Order
from memcenter.rest.people import require_reachable
from memcenter.rest.responses import render_json
from memcenter.rest.throttling import long_answers
from ops import selectors
from ops.access import as_system
from ops.accounts import keys
from ops.api import serializers
from ops.models import ApiKey, Operation, Scope, Status, User
from ops.queue import outbox

_NEWEST = Order("id")
_share = long_answers()
_EVENTS: dict[Any, Any] = {
    (200, "text/event-stream"): OpenApiTypes.STR,
    204: OpenApiResponse(
        description="The operation has ended, and the caller has seen its last event."
    ),
}


TOKEN = "receipt_token"
EVENTS_SECONDS = 15.0  # of a connection; the browser then reconnects with the last event's id
_POLL_SECONDS = 0.5
_ENDED = (Status.SUCCEEDED, Status.FAILED, Status.CANCELLED)


class MayWatch(HasScope):
    """A permission that also admits people with a web session, since the endpoint only reads."""

    def has_permission(self, request: Request, view: APIView | MemcenterView) -> bool:
        signed_in = request.auth is None and _signed_in(request) is not None
        return signed_in or super().has_permission(request, view)


def _signed_in(request: Request) -> User | None:
    user = get_user(request._request)  # DRF has set its own anonymous user on `request`
    return user if isinstance(user, User) else None


def check_access(parsed: ParsedRequest, *, by_id: bool = False) -> None:
    """Raise `NotFound` if the caller may not access the operation.

    Views pass this function as `whose`. It returns no user, since an operation may outlive its
    user. A key that isn't bound to a user may read the operations that it requested itself. For
    changes and for other operations, the request must name the user, else `Invalid` is raised. With
    `by_id` (for protocols that send only the operation's id), no user needs to be named.
    """
    with as_system():
        operation = selectors.operation_by(parsed.ids["op_id"])
        user = selectors.user_of(operation)
    token = parsed.data.get(TOKEN)
    if token is not None and keys.is_valid_receipt_token(operation, token=token):
        return
    if parsed.key is None:
        signed_in = _signed_in(parsed.request)
        if signed_in is not None and user == signed_in:
            return
    if parsed.key is None or not _reaches(parsed.key, operation, user, parsed=parsed, by_id=by_id):
        raise NotFound("This operation doesn’t exist.")


def _reaches(
    key: ApiKey, operation: Operation, user: User | None, *, parsed: ParsedRequest, by_id: bool
) -> bool:
    if user is not None and parsed.user_id not in (None, user.external_id):
        return False
    asked_for_it = operation.requested_by_key == key.pk
    if key.user_id is not None:
        return asked_for_it or (user is not None and key.user_id == user.pk)
    if asked_for_it and (user is None or not parsed.writes):
        return True
    if operation.subject is None:
        return Scope.ADMIN in key.scopes
    if require_reachable(user) is not None and parsed.user_id is None and not by_id:
        raise Invalid.field("user_id", "Give user_id: this key did not ask for this operation.")
    return True


def is_over(operation: Operation) -> bool:
    return operation.status in _ENDED


def event_id(operation: Operation) -> str:
    """Return the id of a server-sent event, which changes whenever the operation changes."""
    return f"{operation.updated_at.timestamp():.6f}"


class Events:
    """A stream with one server-sent event for each change of an operation.

    The stream ends when the operation ends, or after 15 seconds. No transaction is open between two
    events. `seen` is the id of the last event that the client received, or "". `place` is the slot
    for a streamed response; `close` frees it.
    """

    def __init__(
        self,
        op_id: str,
        *,
        seen: str,
        place: ExitStack,
        wait: Callable[[float], object] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._op_id = op_id
        self._seen = seen
        self._place = place
        self._wait = wait
        self._clock = clock

    def __iter__(self) -> Iterator[bytes]:
        try:
            yield from self._events()
        finally:
            self.close()

    def close(self) -> None:
        self._place.close()

    def _events(self) -> Iterator[bytes]:
        until = self._clock() + EVENTS_SECONDS
        yield b"retry: 1000\n\n"
        while True:
            with as_system():
                operation = selectors.operation_by(self._op_id)
                text = render_json(serializers.Operation.show(operation))
            if event_id(operation) != self._seen:
                self._seen = event_id(operation)
                yield b"id: %s\nevent: operation\ndata: %s\n\n" % (self._seen.encode(), text)
            if is_over(operation) or self._clock() >= until:
                return
            self._wait(_POLL_SECONDS)


class OperationsView(MemcenterView):
    @endpoint(
        summary="List the operations of a user, newest first",
        takes=serializers.OperationQuery,
        pages=serializers.Operation,
        while_forgetting=True,
        unknown_user=EMPTY,
    )
    def get(self, call: Call) -> Response:
        status, kind = call.data.get("status", ""), call.data.get("kind", "")
        rows = selectors.operations_of(call.user, status=status, kind=kind)
        return Response(call.page.of(rows, order=_NEWEST, show=serializers.Operation.show))


class OperationView(MemcenterView):
    @endpoint(
        summary="Get the progress of an operation; a receipt token works instead of a key",
        takes=serializers.OneOperationQuery,
        answers={200: serializers.Operation},
        whose=check_access,
        without_key=TOKEN,
    )
    def get(self, call: Call, op_id: str) -> Response:
        return Response(serializers.Operation.show(selectors.operation_by(op_id)))


class OperationReceiptView(MemcenterView):
    @endpoint(
        summary="Get the receipt of a finished forget; a receipt token works instead of a key",
        takes=serializers.OneOperationQuery,
        answers={200: serializers.Receipt},
        whose=check_access,
        without_key=TOKEN,
    )
    def get(self, call: Call, op_id: str) -> Response:
        receipt = selectors.receipt_of(selectors.operation_by(op_id))
        return Response(serializers.Receipt.of(receipt))


class OperationEventsView(MemcenterView):
    permission_classes = (MayWatch,)

    @endpoint(
        summary="Stream the progress of an operation; a session cookie works instead of a key",
        takes=serializers.OneOperationQuery,
        answers=_EVENTS,
        whose=check_access,
        without_key=TOKEN,
    )
    def get(self, call: Call, op_id: str) -> HttpResponseBase:
        operation = selectors.operation_by(op_id)
        seen = call.parsed.request.headers.get("Last-Event-ID", "")
        if is_over(operation) and event_id(operation) == seen:
            return HttpResponse(status=204)  # tells the browser not to reconnect
        stream = Events(op_id, seen=seen, place=_share.acquire())
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingHttpResponse(stream, content_type="text/event-stream", headers=headers)


class OperationRetryView(MemcenterView):
    @endpoint(
        summary="Retry a failed operation",
        takes=Personal,
        answers={200: serializers.Operation},
        whose=check_access,
    )
    def post(self, call: Call, op_id: str) -> Response:
        outbox.retry(selectors.operation_by(op_id))
        return Response(serializers.Operation.show(selectors.operation_by(op_id)))


class OperationCancelView(MemcenterView):
    @endpoint(
        summary="Cancel a pending operation",
        takes=Personal,
        answers={200: serializers.Operation},
        whose=check_access,
    )
    def post(self, call: Call, op_id: str) -> Response:
        operation = selectors.operation_by(op_id)
        if not selectors.can_be_cancelled(operation):
            raise Conflict("Only a waiting operation can be cancelled, and never a forget.")
        outbox.cancel(operation)
        return Response(serializers.Operation.show(selectors.operation_by(op_id)))
