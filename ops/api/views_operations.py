"""Operations and receipts."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse
from rest_framework.response import Response

from memcenter.lib.errors import Conflict
from memcenter.rest.base import MemcenterView
from memcenter.rest.description.schema import page_of
from memcenter.rest.endpoint import EMPTY, Call, endpoint
from memcenter.rest.pagination import Order
from memcenter.rest.requests.fields import Personal
from memcenter.rest.thread_limits import long_answers
from ops import selectors
from ops.api import access, events, rendering, serializers
from ops.queue import outbox

_NEWEST = Order("id")
_share = long_answers()
_EVENTS: dict[Any, Any] = {
    (200, "text/event-stream"): OpenApiTypes.STR,
    204: OpenApiResponse(description="The caller has seen how it ended."),
}


class OperationsView(MemcenterView):
    @endpoint(
        summary="List the operations of a user, newest first",
        takes=serializers.OperationQuery,
        answers={200: page_of(serializers.Operation)},
        paged=True,
        while_forgetting=True,
        unknown_user=EMPTY,
    )
    def get(self, call: Call) -> Response:
        status, kind = call.data.get("status", ""), call.data.get("kind", "")
        rows = selectors.operations_of(call.user, status=status, kind=kind)
        return Response(call.page.of(rows, order=_NEWEST, show=rendering.operation))


class OperationView(MemcenterView):
    @endpoint(
        summary="How far an operation is; also by a receipt token, without a key",
        takes=serializers.OneOperationQuery,
        answers={200: serializers.Operation},
        whose=access.check,
        without_key=access.TOKEN,
    )
    def get(self, call: Call, op_id: str) -> Response:
        return Response(rendering.operation(selectors.operation_by(op_id)))


class OperationReceiptView(MemcenterView):
    @endpoint(
        summary="What a finished forget erased; also by a receipt token, without a key",
        takes=serializers.OneOperationQuery,
        answers={200: serializers.Receipt},
        whose=access.check,
        without_key=access.TOKEN,
    )
    def get(self, call: Call, op_id: str) -> Response:
        operation = selectors.operation_by(op_id)
        return Response(rendering.receipt(selectors.receipt_of(operation), op_id=op_id))


class OperationEventsView(MemcenterView):
    permission_classes = (access.MayWatch,)

    @endpoint(
        summary="How an operation goes on, as server-sent events; also with a session's cookie",
        takes=serializers.OneOperationQuery,
        answers=_EVENTS,
        whose=access.check,
        without_key=access.TOKEN,
    )
    def get(self, call: Call, op_id: str) -> HttpResponseBase:
        operation = selectors.operation_by(op_id)
        seen = call.asked.request.headers.get("Last-Event-ID", "")
        if events.is_over(operation) and events.id_of(operation) == seen:
            return HttpResponse(status=204)  # a browser then asks no more
        stream = events.Events(op_id, seen=seen, place=_share.take())
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingHttpResponse(stream, content_type="text/event-stream", headers=headers)


class OperationRetryView(MemcenterView):
    @endpoint(
        summary="Try a failed operation again",
        takes=Personal,
        answers={200: serializers.Operation},
        whose=access.check,
    )
    def post(self, call: Call, op_id: str) -> Response:
        outbox.retry(selectors.operation_by(op_id))
        return Response(rendering.operation(selectors.operation_by(op_id)))


class OperationCancelView(MemcenterView):
    @endpoint(
        summary="Withdraw an operation that still waits",
        takes=Personal,
        answers={200: serializers.Operation},
        whose=access.check,
    )
    def post(self, call: Call, op_id: str) -> Response:
        operation = selectors.operation_by(op_id)
        if not selectors.can_be_cancelled(operation):
            raise Conflict("Only a waiting operation can be cancelled, and never a forget.")
        outbox.cancel(operation)
        return Response(rendering.operation(selectors.operation_by(op_id)))
