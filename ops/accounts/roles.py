"""Roles of the staff in the admin.

An auditor reads the audit log and the state of requests. An operator also manages operations, keys
and accounts and may reveal content, which is audited. An owner may do everything.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from django.contrib.auth.models import Group

from memcenter.lib.errors import Conflict, Invalid
from ops.accounts import access_ledger
from ops.audit import audit_log
from ops.models import User


class Role(StrEnum):
    AUDITOR = "auditor"
    OPERATOR = "operator"
    OWNER = "owner"


AUDITED = {
    "auditevent",
    "receipt",
    "operation",
    "attempt",
    "modelcall",
    "apikey",
    "signin",
    "secondfactor",
    "identity",
    "webhook",
    "delivery",
    "user",
}


def role_of(user: Any) -> Role | None:
    """Return the role of a member of the staff, or None."""
    if not (isinstance(user, User) and user.is_active and user.is_staff):
        return None
    if user.is_superuser:
        return Role.OWNER
    if "_role" not in vars(user):  # asked for every model on a page
        names = set(user.groups.values_list("name", flat=True))
        found = (one for one in (Role.OPERATOR, Role.AUDITOR) if one.value in names)
        vars(user)["_role"] = next(found, None)
    role: Role | None = vars(user)["_role"]
    return role


def may_see(user: Any, model_name: str) -> bool:
    role = role_of(user)
    return role in (Role.OWNER, Role.OPERATOR) or (role == Role.AUDITOR and model_name in AUDITED)


def may_act(user: Any) -> bool:
    return role_of(user) in (Role.OWNER, Role.OPERATOR)


def check_may_go(user: User) -> None:
    """Raise `Conflict` for an owner, who must hand the role over first."""
    if user.is_superuser:
        raise Conflict("This is an owner. Make somebody else the owner and give up the role first.")


def give(user: User, role: Role | None) -> None:
    """Give a person this role, or remove the person from the staff.

    Raises `Invalid` for a person with an external id, whom any backend key reaches, and `Conflict`
    if no other owner would be left.
    """
    if role is not Role.OWNER:
        check_not_last_owner(user)
    if user.external_id is not None and role is not None:
        raise Invalid("Who has an external id can't be staff; register a login of its own.")
    assign(user, role)
    access_ledger.record("role", user.subject, role=role.value if role else "")
    audit_log.record(
        "staff.role", subject=user.subject, details={"role": role.value if role else ""}
    )


def check_not_last_owner(user: User) -> None:
    """Raise `Conflict` if nobody else could look after the instance."""
    owners = User.objects.filter(is_superuser=True, is_active=True, hidden_at=None)
    if list(owners) == [user]:
        raise Conflict("This is the last owner. Make somebody else an owner first.")


def assign(user: User, role: Role | None) -> None:
    """Set the columns and groups of a role, and nothing else."""
    user.is_staff = role is not None
    user.is_superuser = role == Role.OWNER
    user.save(update_fields=["is_staff", "is_superuser", "updated_at"])
    user.groups.remove(*Group.objects.filter(name__in=[one.value for one in Role]))
    if role in (Role.AUDITOR, Role.OPERATOR):
        user.groups.add(Group.objects.get_or_create(name=role.value)[0])
