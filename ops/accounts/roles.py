"""The three roles: an owner may do everything, an auditor looks at the admin, a member doesn't.

An auditor sees every list of the admin with its content masked, and changes and reveals nothing. An
instance that has an owner keeps one: whatever ends an ownership asks `check_not_last_owner` first.
"""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import Group

from memcenter.lib.errors import Conflict, Invalid
from ops.access import among_everybody, lock_person
from ops.accounts import access_ledger
from ops.audit import audit_log
from ops.models import Role, User


def role_of(user: Any) -> Role:
    """Return what somebody may do now: a member's role for whoever is switched off."""
    return held_role(user) if isinstance(user, User) and user.is_active else Role.MEMBER


def held_role(user: User) -> Role:
    """Return the role that was given, also to somebody who is switched off."""
    if not user.is_staff:
        return Role.MEMBER
    if user.is_superuser:
        return Role.OWNER
    if "_role" not in vars(user):  # asked for every model on a page
        is_auditor = any(group.name == Role.AUDITOR for group in user.groups.all())
        vars(user)["_role"] = Role.AUDITOR if is_auditor else Role.MEMBER
    role: Role = vars(user)["_role"]
    return role


def may_see_admin(user: Any) -> bool:
    return role_of(user) is not Role.MEMBER


def may_act(user: Any) -> bool:
    return role_of(user) is Role.OWNER


def check_not_last_owner(user: User) -> None:
    """Raise `Conflict` if nobody else is an owner who can sign in.

    Call it before the person is forgotten, demoted or switched off, in that transaction. It holds
    the rows of all owners: of two who go at the same time, one stays.
    """
    lock_person(user)
    _refuse_last_owner(user)


def is_last_owner(user: User) -> bool:
    lock_person(user)
    return _is_last(user)


def _refuse_last_owner(user: User) -> None:
    if _is_last(user):
        raise Conflict("This is the last owner. Make somebody else an owner first.")


def _is_last(user: User) -> bool:
    if not User.objects.filter(pk=user.pk, is_superuser=True).exists():
        return False
    with among_everybody():
        owners = User.objects.filter(is_superuser=True, is_active=True, hidden_at=None)
        return list(owners.order_by("pk").select_for_update(no_key=True)) == [user]


def give(user: User, role: Role) -> None:
    """Give somebody this role.

    Raises `Invalid` for a person with an external id, whom any backend key reaches, and `Conflict`
    if no other owner would be left.
    """
    lock_person(user)
    _change(user, role)


def _change(user: User, role: Role) -> None:
    """Give the role to a person who is locked already."""
    if role is not Role.OWNER:
        _refuse_last_owner(user)
    if user.external_id is not None and role is not Role.MEMBER:
        raise Invalid("Who has an external id can't be staff; register a login of its own.")
    assign(user, role)
    access_ledger.record("role", user.subject, role=role.value)
    audit_log.record("staff.role", subject=user.subject, details={"role": role.value})


def hand_over(*, user: User, to: User) -> None:
    """Make somebody else an owner, and this one a member. Raises as `give`."""
    for one in sorted((user, to), key=lambda one: one.pk):
        lock_person(one)
    _change(to, Role.OWNER)
    _change(user, Role.MEMBER)


def assign(user: User, role: Role) -> None:
    """Set the columns and groups of a role, and nothing else."""
    user.is_staff = role is not Role.MEMBER
    user.is_superuser = role is Role.OWNER
    user.save(update_fields=["is_staff", "is_superuser", "updated_at"])
    group, _ = Group.objects.get_or_create(name=Role.AUDITOR.value)
    if role is Role.AUDITOR:
        user.groups.add(group)
    else:
        user.groups.remove(group)
    vars(user).pop("_role", None)
