"""Whose data a request is about."""

from __future__ import annotations

from dataclasses import replace

from django.conf import settings

from memcenter.lib import ids
from memcenter.lib.errors import Invalid, NotFound
from memcenter.rest.endpoint import CREATE, PRETEND, REFUSE, Asked, Endpoint
from ops.models import User
from ops.services import users


def whose(asked: Asked, endpoint: Endpoint) -> User | None:
    """The person, made on first write where the endpoint says so.

    Raises `NotFound` for whoever the key can't reach, `Invalid` when nothing says who it is, and
    `Conflict` (`being_forgotten`) for writes while everything of the person is being forgotten.
    """
    if endpoint.whose is not None:
        return endpoint.whose(asked)
    user = _of_bound_key(asked) or _named(asked, endpoint) or _owner(asked, endpoint)
    if user is None and asked.key and endpoint.all_users_for in asked.key.scopes:
        return None
    if user is None:
        raise Invalid.field("user_id", "Give user_id: this key is not bound to one user.")
    return user if endpoint.while_forgetting else present(user, writes=asked.writes)


class Nobody(Invalid):
    """Nothing says whose data is meant."""


def whose_owner(asked: Asked) -> User:
    """As `whose`, where the agents' `owner_id` stands for `user_id` and a setting for both.

    Who is written about for the first time appears. Raises `NotFound`, `Conflict`, and `Nobody`
    when nothing says who it is.
    """
    bound = asked.key.user if asked.key else None
    named = asked.data.get("owner_id") or asked.user_id
    if named is None and bound is None:
        named = settings.DEFAULT_OWNER or None
    if named is None and bound is None:
        raise Nobody(
            "Whose memories?", fields={"owner_id": ["Give owner_id: this key is not bound."]}
        )
    if named is not None:
        asked = replace(asked, data={**asked.data, "user_id": named})
    user = whose(asked, Endpoint(scope="", unknown_user=_appears_when_written))
    if user is None:
        raise NotFound("There is no such user.")
    return user


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


def _owner(asked: Asked, endpoint: Endpoint) -> User | None:
    """Without a user_id, an id of ours says whose it is; a client's own id can't."""
    for name, lookup in endpoint.owners.items():
        value = asked.ids.get(name) or asked.data.get(name)
        if isinstance(value, str) and ids.is_ours(value):
            return reachable(lookup(value))
    return None
