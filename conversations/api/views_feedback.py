"""Ratings of answers and memories."""

from __future__ import annotations

from rest_framework.response import Response

from conversations.api import serializers
from conversations.api.conversation_names import message_of
from conversations.recording import ratings
from memcenter.rest.base import MemcenterView
from memcenter.rest.endpoint import Call, endpoint
from memories import selectors as memory_selectors
from memories.writing.ratings import asks_to_forget, rate_memory


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
            message = message_of(call, public_id)
            ratings.rate_message(user=call.user, message=message, rating=rating, comment=comment)
            what = {"scope": "message", "message_id": message.public_id, "cascade": True}
        else:
            public_id = data["memory_id"]
            memory = memory_selectors.memory_of(call.user, public_id)
            rate_memory(user=call.user, memory=memory, rating=rating, comment=comment)
            what = {"scope": "memory", "memory_id": memory.public_id}
        if call.user.external_id is not None:
            what["user_id"] = call.user.external_id
        shown = comment if rating is not None else ""
        forget = what if asks_to_forget(rating) else None
        return Response({"id": public_id, "rating": rating, "comment": shown, "forget": forget})
