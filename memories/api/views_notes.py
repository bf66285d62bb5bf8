"""Daily notes: one line at a time."""

from __future__ import annotations

from rest_framework.response import Response

from memcenter.rest.base import MemcenterView
from memcenter.rest.endpoint import CREATE, Call, endpoint
from memories.api import rendering, response_shapes, serializers
from memories.files import daily_notes


class AppendView(MemcenterView):
    @endpoint(
        summary="Write one line into today's note, today being where the person is",
        takes=serializers.NoteLine,
        answers={201: response_shapes.AppendedLine},
        unknown_user=CREATE,
    )
    def post(self, call: Call) -> Response:
        source = call.data.get("source") or self.surface
        appended = daily_notes.append(call.data["text"], user=call.user, source=source)
        return Response(rendering.line(appended, user=call.user), status=201)
