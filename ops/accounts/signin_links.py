"""One-time sign-in links, for people who come from a chat product."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme

from memcenter.lib.errors import Invalid, NotAllowed, NotFound
from ops.accounts import keys, users
from ops.audit import audit_log
from ops.models import SignInLink, User


@dataclass(frozen=True)
class Made:
    """A new link. Its token is stored as a hash and can't be read again."""

    link: SignInLink
    token: str


def make(*, user: User, next_page: str = "", language: str = "") -> Made:
    """Create a link that works once, within a few minutes.

    Raises `NotAllowed` for staff, `Conflict` (`being_forgotten`), and `Invalid` naming `next` or
    `language`.
    """
    if user.is_staff or user.is_superuser or not user.is_active:
        raise NotAllowed("Nobody signs in to a member of the staff by a link.")
    users.check_not_being_forgotten(user)
    _check(next_page, language)
    token = secrets.token_urlsafe(32)
    link = SignInLink.objects.create(
        user=user,
        digest=keys.digest(token),
        next=next_page,
        language=language,
        expires_at=timezone.now() + timedelta(minutes=settings.SIGNIN_LINK_MINUTES),
    )
    audit_log.record("signin_link.made", subject=user.subject, target=f"link {link.pk}")
    return Made(link, token)


def take(token: str) -> SignInLink:
    """Use a link in the caller's transaction; of two concurrent calls only one succeeds.

    Raises `NotFound` for a used, expired or unknown link, or one of a deleted person.
    """
    now = timezone.now()
    living = SignInLink.objects.filter(
        digest=keys.digest(token), used_at__isnull=True, expires_at__gt=now
    )
    if not living.update(used_at=now):
        raise NotFound("There is no such link any more.")
    link = SignInLink.objects.select_related("user").get(digest=keys.digest(token))
    user = link.user
    if user.hidden_at is not None or user.is_staff or user.is_superuser or not user.is_active:
        raise NotFound("There is no such link any more.")
    audit_log.record("signin_link.used", subject=user.subject, target=f"link {link.pk}")
    return link


def _check(next_page: str, language: str) -> None:
    own = next_page.startswith("/") and url_has_allowed_host_and_scheme(next_page, None)
    if next_page and not own:
        raise Invalid.field("next", "Give a page of Memory Center: a path that begins with /.")
    if language and language not in dict(settings.LANGUAGES):
        raise Invalid.field("language", "Must be one of: en, zh-hans.")
