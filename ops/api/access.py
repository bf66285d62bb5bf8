"""Who may read an operation: the key that requested it, a key that names its user, or a token."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib.auth import get_user
from rest_framework.request import Request

from memcenter.lib.errors import Invalid, NotFound
from memcenter.rest.endpoint import Asked
from memcenter.rest.requests.people import reachable
from memcenter.rest.requests.permissions import HasScope
from ops import selectors
from ops.access import as_system
from ops.accounts import keys
from ops.models import ApiKey, Operation, Scope, User

if TYPE_CHECKING:  # the framework's views import permissions
    from rest_framework.views import APIView

    from memcenter.rest.base import MemcenterView

TOKEN = "receipt_token"


class MayWatch(HasScope):
    """Like all endpoints, and for signed-in users of the pages, since it only reads."""

    def has_permission(self, request: Request, view: APIView | MemcenterView) -> bool:
        signed_in = request.auth is None and _signed_in(request) is not None
        return signed_in or super().has_permission(request, view)


def _signed_in(request: Request) -> User | None:
    user = get_user(request._request)  # the framework has set its own anonymous user there
    return user if isinstance(user, User) else None


def check(asked: Asked, *, by_id: bool = False) -> None:
    """Check access to an operation. Raises `NotFound` for strangers.

    It returns no user, since operations outlive the user they are about. An unbound key reads the
    operations that it requested. For others, and to change one, it must name the user (`Invalid`),
    as in every call, unless the protocol goes `by_id`.
    """
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
    if asked.key is None or not _reaches(asked.key, operation, user, asked=asked, by_id=by_id):
        raise NotFound("There is no such operation.")


def _reaches(
    key: ApiKey, operation: Operation, user: User | None, *, asked: Asked, by_id: bool
) -> bool:
    if user is not None and asked.user_id not in (None, user.external_id):
        return False
    asked_for_it = operation.requested_by_key == key.pk
    if key.user_id is not None:
        return asked_for_it or (user is not None and key.user_id == user.pk)
    if asked_for_it and (user is None or not asked.writes):
        return True
    if operation.subject is None:
        return Scope.ADMIN in key.scopes
    if reachable(user) is not None and asked.user_id is None and not by_id:
        raise Invalid.field("user_id", "Give user_id: this key did not ask for this operation.")
    return True
