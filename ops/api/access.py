"""Who may read an operation: whoever asked for it, whoever reaches its user, a token's holder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib.auth import get_user
from rest_framework.request import Request

from memcenter.lib.errors import NotFound
from memcenter.rest.endpoint import Asked
from memcenter.rest.people import reachable
from memcenter.rest.permissions import HasScope
from ops import selectors
from ops.access import as_system
from ops.models import ApiKey, Operation, Scope, User
from ops.services import keys

if TYPE_CHECKING:  # the framework's views import permissions
    from rest_framework.views import APIView

    from memcenter.rest.base import MemcenterView

TOKEN = "receipt_token"


class MayWatch(HasScope):
    """As everywhere; also whoever is signed in, for the pages: it only reads."""

    def has_permission(self, request: Request, view: APIView | MemcenterView) -> bool:
        signed_in = request.auth is None and _signed_in(request) is not None
        return signed_in or super().has_permission(request, view)


def _signed_in(request: Request) -> User | None:
    user = get_user(request._request)  # the framework has put its own "nobody" there
    return user if isinstance(user, User) else None


def check(asked: Asked) -> None:
    """Raises `NotFound` for strangers. Gives nobody: operations outlive the person they name."""
    with as_system():
        operation = selectors.operation_by(asked.ids["op_id"])
        user = selectors.user_of(operation)
    token = asked.data.get(TOKEN)
    if token is not None and keys.opens_receipt(operation, token=token):
        return
    if asked.key is None:
        watching = _signed_in(asked.request)
        if watching is not None and user == watching:
            return
    if asked.key is None or not _reaches(asked.key, operation, user, user_id=asked.user_id):
        raise NotFound("There is no such operation.")


def _reaches(key: ApiKey, operation: Operation, user: User | None, *, user_id: str | None) -> bool:
    if user is not None and user_id not in (None, user.external_id):
        return False
    if operation.requested_by_key == key.pk:
        return True
    if key.user_id is not None:
        return user is not None and key.user_id == user.pk
    if operation.subject is None:
        return Scope.ADMIN in key.scopes
    return reachable(user) is not None
