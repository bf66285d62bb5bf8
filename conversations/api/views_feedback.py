"""What people think of answers and memories."""

from __future__ import annotations

from rest_framework.response import Response

from conversations import selectors
from conversations.api import serializers
from conversations.services import feedback
from memcenter.rest.base import MemcenterView
from memcenter.rest.endpoint import Call, endpoint
from memories import selectors as known
from memories.services.feedback import rate_memory


class FeedbackView(MemcenterView):
    @endpoint(
        summary="Say what you think of a message or memory; a rating of null takes it back",
        takes=serializers.FeedbackInput,
        answers={200: serializers.RatedThing},
    )
    def post(self, call: Call) -> Response:
        data = call.data
        rating, comment = data["rating"], data.get("comment", "")
        if "message_id" in data:
            public_id = data["message_id"]
            message = selectors.message_of(call.user, public_id)
            feedback.rate_message(user=call.user, message=message, rating=rating, comment=comment)
        else:
            public_id = data["memory_id"]
            memory = known.memory_of(call.user, public_id)
            rate_memory(user=call.user, memory=memory, rating=rating, comment=comment)
        shown = comment if rating is not None else ""
        return Response({"id": public_id, "rating": rating, "comment": shown})
