"""The registration policy, invitations to create an account, and sign-in links."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme

from foundation.errors import Invalid, NotAllowed, NotFound
from ops import audit_log, ledger
from ops.accounts import keys, users
from ops.models import Instance, Invitation, Role, SignInLink, User

INVITATION_DAYS = 7
# Not the owner role: a leaked link must not grant full rights. Owners are chosen later, from among
# the existing accounts.
INVITED_ROLES = (Role.MEMBER, Role.AUDITOR)


@dataclass(frozen=True)
class NewInvitation:
    """A new invitation with its token, which is stored as a hash and can't be read again."""

    invitation: Invitation
    token: str


def is_registration_open() -> bool:
    """Return whether anybody may register. An owner's decision overrides the setting."""
    decided = Instance.objects.filter(pk=1).values_list("registration_open", flat=True).first()
    return settings.REGISTRATION_OPEN if decided is None else decided


def switch_registration(*, is_open: bool) -> None:
    Instance.objects.update_or_create(pk=1, defaults={"registration_open": is_open})
    ledger.record_decision("registration", "instance", is_open=is_open)
    audit_log.record("registration.switched", subject=None, details={"is_open": is_open})


def invite(*, user: User, role: Role, name: str = "") -> NewInvitation:
    """Create an invitation sent by `user`. Raise `Invalid` if `role` isn't member or auditor."""
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
    return NewInvitation(invitation, token)


def invitations() -> QuerySet[Invitation]:
    """Return the invitations that can still be used, newest first."""
    valid = Invitation.objects.filter(expires_at__gt=timezone.now(), user__hidden_at=None)
    return valid.select_related("user").order_by("-pk")


def revoke_invitation(invitation: Invitation) -> None:
    _end_invitation(invitation, "invitation.revoked")


def find_invitation(token: str) -> Invitation:
    """Return the invitation with this token. Raise `NotFound` if it can no longer be used.

    An invitation becomes invalid when the person who sent it is no longer an owner.
    """
    own = invitations().filter(digest=keys.digest(token)).first()
    if own is None or users.role_of(own.user) is not Role.OWNER:
        raise NotFound("This invitation no longer exists.")
    return own


def accept_invitation(
    token: str, *, username: str, password: str, language: str, zone: str
) -> User:
    """Create a person with the invited role, and delete the invitation.

    Raise `NotFound` if the invitation can't be used, and `Invalid` if the name or the password is
    invalid. Of two concurrent calls, only one creates a person; the other transaction fails.
    """
    invitation = find_invitation(token)
    user = users.register(username=username, password=password, language=language, zone=zone)
    if invitation.role != Role.MEMBER:
        users.give_role(user, Role(invitation.role))
    _end_invitation(invitation, "invitation.used")
    return user


def _end_invitation(invitation: Invitation, action: str) -> None:
    target = f"invitation {invitation.pk}"
    if not invitation.delete()[0]:
        raise NotFound("This invitation no longer exists.")
    ledger.record_decision("invitation", invitation.digest)
    audit_log.record(action, subject=invitation.user.subject, target=target)


@dataclass(frozen=True)
class NewLink:
    """A new sign-in link with its token, which is stored as a hash and can't be read again."""

    link: SignInLink
    token: str


def make_link(*, user: User, next_page: str = "", language: str = "") -> NewLink:
    """Create a sign-in link that works once, within a few minutes.

    Raise `NotAllowed` if the person is staff or inactive, `Conflict` (`being_forgotten`) if they
    are being forgotten, and `Invalid` if `next_page` or `language` is invalid.
    """
    if user.is_staff or user.is_superuser or not user.is_active:
        raise NotAllowed("Staff accounts can’t be opened with a sign-in link.")
    users.check_not_being_forgotten(user)
    own = next_page.startswith("/") and url_has_allowed_host_and_scheme(next_page, None)
    if next_page and not own:
        raise Invalid.field("next", "Give a page of Memory Center: a path that begins with /.")
    if language and language not in dict(settings.LANGUAGES):
        raise Invalid.field("language", "Must be one of: en, zh-hans.")
    token = secrets.token_urlsafe(32)
    link = SignInLink.objects.create(
        user=user,
        digest=keys.digest(token),
        next=next_page,
        language=language,
        expires_at=timezone.now() + timedelta(minutes=settings.SIGNIN_LINK_MINUTES),
    )
    audit_log.record("signin_link.made", subject=user.subject, target=f"link {link.pk}")
    return NewLink(link, token)


def take_link(token: str) -> SignInLink:
    """Mark the sign-in link as used, and return it.

    Of two concurrent calls, only one succeeds. Raise `NotFound` if the link is used, expired or
    unknown, or if its person may no longer sign in with a link.
    """
    now = timezone.now()
    valid = SignInLink.objects.filter(
        digest=keys.digest(token), used_at__isnull=True, expires_at__gt=now
    )
    if not valid.update(used_at=now):
        raise NotFound("This link no longer works.")
    link = SignInLink.objects.select_related("user").get(digest=keys.digest(token))
    user = link.user
    if user.hidden_at is not None or user.is_staff or user.is_superuser or not user.is_active:
        raise NotFound("This link no longer works.")
    audit_log.record("signin_link.used", subject=user.subject, target=f"link {link.pk}")
    return link
