"""Whose data a request is about."""

from __future__ import annotations

from dataclasses import replace

from django.conf import settings

from memcenter.lib.errors import Invalid, NotFound
from memcenter.rest.endpoint import CREATE, PRETEND, REFUSE, Asked, Endpoint
from ops.models import User
from ops.services import users

_UNNAMED = "Give {name}: this key is not bound to one user."


def whose(asked: Asked, endpoint: Endpoint) -> User | None:
    """The person, made on first write where the endpoint says so.

    A key that is bound to nobody must name the person, also beside an id of ours: a backend whose
    variable is empty reaches nobody. Raises `NotFound` for a person whom the key can't reach,
    `Invalid` when nothing says who it is, and `Conflict` (`being_forgotten`) for writes while
    everything of the person is being forgotten.
    """
    if endpoint.whose is not None:
        return endpoint.whose(asked)
    user = _of_bound_key(asked) or _named(asked, endpoint)
    if user is None:
        if _asks_about_all(asked, endpoint):
            return None
        raise Invalid.field("user_id", _UNNAMED.format(name="user_id"))
    return user if endpoint.while_forgetting else present(user, writes=asked.writes)


def whose_owner(asked: Asked) -> User:
    """As `whose`, where the agents' `owner_id` stands for `user_id`.

    Where a default owner is set, a call that names no owner means that one. A person who is
    written about for the first time appears. Raises as `whose`.
    """
    named, said = asked.data.get("owner_id"), asked.user_id
    if None not in (named, said) and named != said:
        raise Invalid.field("owner_id", "owner_id and user_id name two people.")
    named = named or said or _default_owner(asked)
    if named is not None:
        asked = replace(asked, data={**asked.data, "user_id": named})
    user = whose(asked, Endpoint(scope=asked.scope, unknown_user=_appears_when_written))
    if user is None:
        raise NotFound("There is no such user.")
    return user


def _default_owner(asked: Asked) -> str | None:
    """None for a bound key. Raises `Invalid` where no default is set, or null was sent."""
    if asked.key is not None and asked.key.user is not None:
        return None
    if not settings.DEFAULT_OWNER or {"owner_id", "user_id"} & asked.data.keys():
        raise Invalid.field("owner_id", _UNNAMED.format(name="owner_id"))
    return settings.DEFAULT_OWNER


def _asks_about_all(asked: Asked, endpoint: Endpoint) -> bool:
    """Whether the call leaves the person out; a `user_id` of null is no such thing."""
    scopes = asked.key.scopes if asked.key else ()
    return endpoint.all_users_for in scopes and "user_id" not in asked.data


def _appears_when_written(asked: Asked) -> str:
    return CREATE if asked.writes else REFUSE


def present(user: User, *, writes: bool) -> User:
    """The person again, unless everything of theirs is being forgotten."""
    if user.hidden_at is not None:
        if writes:
            users.check_not_being_forgotten(user)
        raise NotFound("There is no such user.")
    return user


def reachable(user: User | None) -> User:
    """The person whom an unbound key may reach: one that has an external id."""
    if user is None or user.external_id is None or user.is_staff or not user.is_active:
        raise NotFound("There is nothing of this id.")
    return user


def _of_bound_key(asked: Asked) -> User | None:
    user = asked.key.user if asked.key else None
    if user is not None and asked.user_id not in (None, user.external_id):
        raise NotFound("There is no such user.")
    return user


def _named(asked: Asked, endpoint: Endpoint) -> User | None:
    if asked.user_id is None:
        return None
    try:
        return reachable(users.find(asked.user_id))
    except NotFound:
        choice = endpoint.unknown_user(asked)
        if choice == REFUSE:
            raise
    if choice == PRETEND:
        return User(external_id=asked.user_id)
    return reachable(users.find_or_create(asked.user_id, created_by=asked.key))
