"""Scopes of API keys."""

from typing import TYPE_CHECKING

from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from memcenter.lib.errors import NotAllowed
from ops.models import ApiKey

if TYPE_CHECKING:  # the framework's views import this module
    from rest_framework.views import APIView

    from memcenter.rest.base import MemcenterView


class HasScope(BasePermission):
    """Requires the scope of the endpoint. Anonymous callers get 401."""

    def has_permission(self, request: Request, view: "APIView | MemcenterView") -> bool:
        endpoint = getattr(view, "endpoint", None)
        if endpoint is None:
            return request.auth is not None  # a method that doesn't exist: 405 with a known key
        if endpoint.without_key is not None and endpoint.without_key in request.query_params:
            return True
        key = request.auth
        if not isinstance(key, ApiKey):
            return False
        if endpoint.scope not in key.scopes:
            raise NotAllowed(f"This key lacks the scope “{endpoint.scope}”.")
        return True
