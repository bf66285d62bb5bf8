"""The base view for mem0's client, and the lookup of the user that a call is about.

A key bound to a user may access only that user. A call that contains a memory id concerns the owner
of the memory. A call that names only an agent, app or run, or nobody at all, concerns the default
user, but is rejected if its key has `requires_user`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django.conf import settings
from rest_framework.exceptions import APIException
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from foundation.errors import Invalid, NotFound
from memcenter.compat.mem0.filters import ANY, Combination, has_entity, values_required
from memcenter.rest import people, throttling
from memcenter.rest.base import MemcenterView, read
from memcenter.rest.endpoint import CREATE, Endpoint, ParsedRequest
from memories import selectors
from ops.accounts import users
from ops.models import ApiKey, User

_MOST = 100


def name_of(user: User) -> str:
    """Return the name by which clients know a user: the external id, login name or subject id."""
    return user.external_id or user.username or str(user.subject)


def resolve_writable_user(parsed: ParsedRequest, name: str | None) -> User:
    """Return the user for whom a call stores memories, and create the user on first use.

    Raise `NotFound` if the key may not access the user, and `Conflict` while the user is being
    forgotten.
    """
    bound = parsed.bound_user
    if bound is not None:
        if name not in (None, name_of(bound)):
            raise NotFound("This user doesn’t exist.")
        return _count_call(parsed, people.require_not_forgotten(bound, writes=True))
    called = users.check_external_id(name or _unnamed(parsed))
    named_so = replace(parsed, data={"user_id": called})
    user = people.resolve_person(named_so, Endpoint(scope="", unknown_user=lambda _: CREATE))
    if user is None:
        raise AssertionError("only endpoints with `all_users_for` have no person")
    return _count_call(parsed, user)


def resolve_readable_users(parsed: ParsedRequest, tree: Combination) -> Sequence[User]:
    """Return the existing users whose memories a filter may match.

    For a key bound to a user, return that user; raise `NotFound` if the filter names another user.
    For an unbound key, return the users that the filter names or, if it names only agents, apps or
    runs, the default user. Raise `Invalid` if the filter names no user, agent, app or run, if it
    names too many users, or if it asks for all users with an unbound key.
    """
    if not has_entity(tree):
        raise Invalid.field("filters", "Name a user_id, agent_id, app_id or run_id.")
    names, bound = values_required(tree, "user_id"), parsed.bound_user
    if bound is not None:
        if set(names) - {ANY, name_of(bound)}:
            raise NotFound("This user doesn’t exist.")
        return () if bound.hidden_at else (_count_call(parsed, bound),)
    if ANY in names:
        raise Invalid.field("user_id", "“*” needs a key that is bound to one user: name them.")
    if len(names) > _MOST:
        raise Invalid.field("user_id", f"At most {_MOST} users at once.")
    found = {name: find(name) for name in names or [_unnamed(parsed)]}
    for name, user in found.items():
        _count_call(parsed, user or User(external_id=name))
    return [user for user in found.values() if user is not None and user.hidden_at is None]


def find(name: str) -> User | None:
    try:
        return people.require_reachable(users.find(name))
    except NotFound:
        return None


def owner_of_memory(parsed: ParsedRequest, memory_id: str) -> User:
    """Return the owner of a memory. Raise `NotFound` if the key may not access this user."""
    bound = parsed.bound_user
    if bound is None:
        check_named(parsed)
    user = bound or people.require_reachable(selectors.owner_of_memory(memory_id))
    return _count_call(parsed, people.require_not_forgotten(user, writes=parsed.writes))


def resolve_entity(parsed: ParsedRequest, name: str) -> User:
    """Return the user with this name, even while the user is being forgotten.

    Raise `NotFound` if there is no such user, or if the key is bound to another user.
    """
    bound = parsed.bound_user
    user = find(name) if bound is None else bound if name == name_of(bound) else None
    if user is None:
        raise NotFound("This user doesn’t exist.")
    return _count_call(parsed, user)


def check_named(parsed: ParsedRequest) -> None:
    """Raise `Invalid` if the API key isn't bound to a user and requires calls to name a user.

    Call this function only for a call that names no user.
    """
    if parsed.key is not None and parsed.key.requires_user and parsed.key.user is None:
        raise Invalid.field("user_id", "This key refuses calls that name no user.")


def _unnamed(parsed: ParsedRequest) -> str:
    check_named(parsed)
    return settings.DEFAULT_OWNER or "default"


def _count_call(parsed: ParsedRequest, user: User) -> User:
    throttling.count_person(parsed.key, user, scope=parsed.scope)
    return user


def check_access(parsed: ParsedRequest, user: User) -> None:
    """Raise `NotFound` if the key may not access this user."""
    bound = parsed.bound_user
    if bound is None:
        check_named(parsed)
        people.require_reachable(user)
    elif bound.pk != user.pk:
        raise NotFound("There is no object with this id.")
    _count_call(parsed, people.require_not_forgotten(user, writes=parsed.writes))


def default_name(parsed: ParsedRequest) -> str:
    bound = parsed.bound_user
    return name_of(bound) if bound is not None else _unnamed(parsed)


class NotOffered(APIException):
    status_code = 501
    default_detail = "Memory Center doesn't offer this part of mem0's platform."


class AnyKey(BasePermission):
    """Allows every valid key, whatever its scopes."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        return isinstance(request.auth, ApiKey)


class Mem0View(MemcenterView):
    """A view whose handlers are called as `post(parsed)`, outside any transaction.

    Some handlers act for several users, and open a transaction for each. Unknown fields are
    ignored, since the client sends many fields that only mem0's own platform uses.
    """

    schema = None  # documented by mem0
    surface = "mem0"

    def _answer(self, handler: Any, endpoint: Endpoint) -> Response:
        parsed = read(self.request, endpoint, ids=self.kwargs)
        response: Response = handler(parsed)
        return response
