"""Find the person whose data a request concerns."""

from __future__ import annotations

from dataclasses import replace

from django.conf import settings

from foundation.errors import Invalid, NotFound
from memcenter.rest.endpoint import CREATE, EMPTY, PRETEND, REFUSE, Endpoint, ParsedRequest
from ops.accounts import users
from ops.models import User

NOBODY = 0  # no person has this id, so nothing is found
_UNNAMED = "Give {name}: this key is not bound to one user."


def resolve_person(parsed: ParsedRequest, endpoint: Endpoint) -> User | None:
    """Return the person whose data the request concerns, or None if it concerns all people.

    Whether a write creates an unknown person depends on the endpoint. With an unbound key, a call
    must name the person, even if it also contains another id, such as that of a memory. A client
    that sends an empty `user_id` by mistake therefore gets nobody's data. Raise `NotFound` if the
    key may not access the person, `Invalid` if no person is named, and `Conflict`
    (`being_forgotten`) for a write while the person is being forgotten.
    """
    if endpoint.whose is not None:
        return endpoint.whose(parsed)
    user = parsed.bound_user
    if user is None:
        user = _named(parsed, endpoint)
    elif parsed.user_id not in (None, user.external_id):
        raise NotFound("This user doesn’t exist.")
    if user is None:
        # Such a call contains no `user_id`, not even null, and its key has the necessary scope.
        scopes = parsed.key.scopes if parsed.key else ()
        if endpoint.all_users_for in scopes and "user_id" not in parsed.data:
            return None
        raise Invalid.field("user_id", _UNNAMED.format(name="user_id"))
    return user if endpoint.while_forgetting else require_not_forgotten(user, writes=parsed.writes)


def resolve_owner(parsed: ParsedRequest) -> User:
    """Return the person as `resolve_person` does, but also accept `owner_id`, which agents use.

    A call that names nobody refers to the default owner, if one is configured. A write creates an
    unknown person. Raise the same errors as `resolve_person`.
    """
    named, user_id = parsed.data.get("owner_id"), parsed.user_id
    if None not in (named, user_id) and named != user_id:
        raise Invalid.field("owner_id", "owner_id and user_id name two people.")
    named = named or user_id or _default_owner(parsed)
    if named is not None:
        parsed = replace(parsed, data={**parsed.data, "user_id": named})
    unknown = CREATE if parsed.writes else EMPTY
    user = resolve_person(parsed, Endpoint(scope=parsed.scope, unknown_user=lambda _: unknown))
    if user is None:
        raise NotFound("This user doesn’t exist.")
    return user


def _default_owner(parsed: ParsedRequest) -> str | None:
    """Return the id of the default owner, or None if the key is bound to a user.

    Call this function only if the call names nobody. Raise `Invalid` if the call has an empty or
    null `owner_id` or `user_id`, or if no default owner is configured.
    """
    if parsed.bound_user is not None:
        return None
    if not settings.DEFAULT_OWNER or {"owner_id", "user_id"} & parsed.data.keys():
        raise Invalid.field("owner_id", _UNNAMED.format(name="owner_id"))
    return settings.DEFAULT_OWNER


def require_not_forgotten(user: User, *, writes: bool) -> User:
    """Return the person unless they are being forgotten.

    If they are being forgotten, raise `Conflict` for a write and `NotFound` for a read.
    """
    if user.hidden_at is not None:
        if writes:
            users.check_not_being_forgotten(user)
        raise NotFound("This user doesn’t exist.")
    return user


def require_reachable(user: User | None) -> User:
    """Return the person if an unbound key may access them, else raise `NotFound`.

    An unbound key may access active people who have an external id and aren't staff.
    """
    if user is None or user.external_id is None or user.is_staff or not user.is_active:
        raise NotFound("There is no object with this id.")
    return user


def _named(parsed: ParsedRequest, endpoint: Endpoint) -> User | None:
    if parsed.user_id is None:
        return None
    person = parsed.person
    if person is not None and person.user.external_id == parsed.user_id:
        return require_reachable(person.user)
    try:
        return require_reachable(users.find(parsed.user_id))
    except NotFound:
        choice = endpoint.unknown_user(parsed)
        if choice == REFUSE:
            raise
    if choice == EMPTY:
        return User(pk=NOBODY, external_id=parsed.user_id)
    if choice == PRETEND:
        return User(external_id=parsed.user_id)
    return require_reachable(users.find_or_create(parsed.user_id, created_by=parsed.key))
