"""Decide on candidates, and act on several memories at once."""

from __future__ import annotations

from rest_framework.response import Response

from memcenter.lib.errors import NotAllowed
from memcenter.rest.base import MemcenterView
from memcenter.rest.endpoint import Call, endpoint
from memories.api import response_shapes, serializers
from memories.forgetting import memory_forgets
from memories.models import Memory
from memories.writing import curation, review
from memories.writing.review import ReviewInput
from ops.models import Scope


class ConfirmView(MemcenterView):
    @endpoint(
        summary="Decide on memories that wait for review",
        takes=serializers.ConfirmInput,
        answers={200: response_shapes.Decisions},
    )
    def post(self, call: Call) -> Response:
        decisions = [
            ReviewInput(one["id"], one["decision"], one.get("valid_from"))
            for one in call.data["decisions"]
        ]
        results = []
        for one in review.confirm(user=call.user, decisions=decisions):
            results.append({"id": one.id, "result": one.result})
            if one.memory_id is not None:
                results[-1]["memory_id"] = one.memory_id
        return Response({"results": results})


class BulkView(MemcenterView):
    @endpoint(
        summary="The same act on many memories",
        takes=serializers.BulkInput,
        answers={200: response_shapes.BulkResults},
    )
    def post(self, call: Call) -> Response:
        data = call.data
        if data["action"] == "forget":
            return _forget(call)
        done = curation.bulk(
            user=call.user, ids=data["ids"], action=data["action"], tag_name=data.get("tag", "")
        )
        return Response({"results": [{"id": one, "result": result} for one, result in done]})


def _forget(call: Call) -> Response:
    if call.asked.key is None or Scope.FORGET not in call.asked.key.scopes:
        raise NotAllowed("This key lacks the scope “forget”.")
    ids = list(dict.fromkeys(call.data["ids"]))
    found = list(Memory.visible.filter(user=call.user, public_id__in=ids).order_by("pk"))
    here = {one.public_id for one in found}
    answer: dict[str, object] = {
        "results": [{"id": one, "result": "done" if one in here else "not_found"} for one in ids]
    }
    if found:
        operation = memory_forgets.forget_memories(
            user=call.user, memories=found, requested_by_key=call.key_id
        )
        answer["op_id"] = operation.public_id
    return Response(answer)
