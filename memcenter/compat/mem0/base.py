"""The base of the views for mem0's client: raw input, plain answers, no own transaction."""

from __future__ import annotations

from typing import Any

from rest_framework.exceptions import APIException
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from memcenter.rest.base import MemcenterView, read
from memcenter.rest.endpoint import Asked, Endpoint
from ops.models import ApiKey


class NotOffered(APIException):
    status_code = 501
    default_detail = "Memory Center doesn't offer this part of mem0's platform."


class AnyKey(BasePermission):
    """Allow every valid key, whatever its permissions."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        return isinstance(request.auth, ApiKey)


class Mem0View(MemcenterView):
    """Call handlers as `post(asked)`, outside any transaction, since some act for several users.

    Handlers ignore unknown fields: the client sends many that only its own platform uses.
    """

    schema = None  # described by mem0, not by us
    surface = "mem0"

    def _answer(self, handler: Any, endpoint: Endpoint) -> Response:
        asked = read(self.request, endpoint, ids=self.kwargs)
        response: Response = handler(asked)
        return response


def key_id(asked: Asked) -> int | None:
    return asked.key.pk if asked.key else None
