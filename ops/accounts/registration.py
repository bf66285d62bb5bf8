"""How people get an account of their own: registration, which owners open, and invitations."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone

from memcenter.lib.errors import Invalid, NotFound
from ops.accounts import access_ledger, keys, roles, users
from ops.audit import audit_log
from ops.models import Instance, Invitation, Role, User

INVITATION_DAYS = 7
# An owner is made among those who have an account: a link that leaks must not give everything.
INVITED_ROLES = (Role.MEMBER, Role.AUDITOR)


@dataclass(frozen=True)
class Made:
    """A new invitation. Its token is stored as a hash and can't be read again."""

    invitation: Invitation
    token: str


def is_open() -> bool:
    """Tell whether anybody may register, as an owner decided or else as the setting says."""
    decided = Instance.objects.filter(pk=1).values_list("registration_open", flat=True).first()
    return settings.REGISTRATION_OPEN if decided is None else decided


def switch(*, is_open: bool) -> None:
    Instance.objects.update_or_create(pk=1, defaults={"registration_open": is_open})
    access_ledger.record("registration", "instance", is_open=is_open)
    audit_log.record("registration.switched", subject=None, details={"is_open": is_open})


def invite(*, user: User, role: Role, name: str = "") -> Made:
    """Create an invitation by this owner. Raises `Invalid`."""
    if role not in INVITED_ROLES:
        raise Invalid.field("role", "Invite a member or an auditor.")
    token = secrets.token_urlsafe(32)
    invitation = Invitation.objects.create(
        user=user,
        digest=keys.digest(token),
        name=name.strip()[:100],
        role=role,
        expires_at=timezone.now() + timedelta(days=INVITATION_DAYS),
    )
    audit_log.record(
        "invitation.made",
        subject=user.subject,
        target=f"invitation {invitation.pk}",
        details={"role": role.value},
    )
    return Made(invitation, token)


def invitations() -> QuerySet[Invitation]:
    """Return the invitations that can still be used, newest first."""
    living = Invitation.objects.filter(expires_at__gt=timezone.now(), user__hidden_at=None)
    return living.select_related("user").order_by("-pk")


def revoke(invitation: Invitation) -> None:
    _end(invitation, "invitation.revoked")


def find(token: str) -> Invitation:
    """Return the invitation of this token. Raises `NotFound` if it can't be used (any more).

    An invitation by somebody who isn't an owner any more counts for nothing.
    """
    own = invitations().filter(digest=keys.digest(token)).first()
    if own is None or roles.role_of(own.user) is not Role.OWNER:
        raise NotFound("There is no such invitation any more.")
    return own


def accept(token: str, *, username: str, password: str, language: str, zone: str) -> User:
    """Use an invitation: create the person with the invited role. Raises `NotFound`, `Invalid`.

    Of two calls at once one creates a person; the other's transaction fails at the end.
    """
    invitation = find(token)
    user = users.register(username=username, password=password, language=language, zone=zone)
    if invitation.role != Role.MEMBER:
        roles.give(user, Role(invitation.role))
    _end(invitation, "invitation.used")
    return user


def _end(invitation: Invitation, action: str) -> None:
    target = f"invitation {invitation.pk}"
    if not invitation.delete()[0]:
        raise NotFound("There is no such invitation any more.")
    access_ledger.record("invitation", invitation.digest)
    audit_log.record(action, subject=invitation.user.subject, target=target)
