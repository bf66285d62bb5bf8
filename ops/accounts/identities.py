"""Map accounts of an OpenID Connect provider to people."""

from __future__ import annotations

import hashlib

from django.conf import settings
from django.db import IntegrityError, transaction

from memcenter.lib.errors import Conflict, NotAllowed
from memcenter.providers.openid import Claims
from ops.accounts import access_ledger
from ops.audit import audit_log
from ops.models import Identity, User, UserSettings


def arrive(told: Claims, *, language: str = "") -> User:
    """Return the person of this identity; the first time, connect one by e-mail or create one.

    An existing login of the same name counts as another person, unless the settings say that login
    names are addresses verified by the provider. Staff are never connected by name. Raises
    `Conflict` if the name is taken and `NotAllowed` if accounts can't be created.
    """
    known = Identity.objects.select_related("user").filter(sub=told.sub, issuer=told.issuer)
    if (found := known.first()) is not None:
        return found.user
    same = User.objects.filter(username__iexact=told.email).first() if told.email else None
    if same is not None:
        return _by_email(same, told)
    if not settings.OIDC_CREATES_ACCOUNTS:
        raise NotAllowed("You don’t have an account here yet. Ask the owner of this Memory Center.")
    return _made(told, language=language)


def connect(*, user: User, told: Claims) -> Identity:
    """Connect the identity to this person. Raises `Conflict`."""
    try:
        with transaction.atomic():
            made = Identity.objects.create(user=user, issuer=told.issuer, sub=told.sub)
    except IntegrityError as error:
        raise Conflict("This is connected to another account, or yours to another.") from error
    access_ledger.record("identity", user.subject, connected=digest(made))
    audit_log.record("identity.connected", subject=user.subject)
    return made


def digest(identity: Identity) -> str:
    """Return the digest that names the account in the ledger."""
    return hashlib.sha256(f"{identity.issuer} {identity.sub}".encode()).hexdigest()


def disconnect(user: User) -> None:
    """Remove the identity. Raises `Conflict` if the person could no longer sign in."""
    if not user.has_usable_password():
        raise Conflict("Choose a password first, or you could not come back.")
    gone, _ = Identity.objects.filter(user=user).delete()
    if gone:
        access_ledger.record("identity", user.subject, connected=None)
        audit_log.record("identity.disconnected", subject=user.subject)


def _by_email(same: User, told: Claims) -> User:
    if not settings.OIDC_LINKS_BY_EMAIL or same.is_staff or same.is_superuser:
        raise Conflict(
            "There is an account of your name. Sign in with its password, then connect it in the"
            " settings."
        )
    connect(user=same, told=told)
    return same


def _made(told: Claims, *, language: str) -> User:
    name = told.name[:150] if told.name.isprintable() else ""
    user = User.objects.create_user(told.email[:150] or None, display_name=name)
    known = language if language in dict(settings.LANGUAGES) else ""
    UserSettings.objects.create(
        user=user, longterm_enabled=settings.LONGTERM_DEFAULT, language=known
    )
    audit_log.record("account.made", subject=user.subject)
    connect(user=user, told=told)
    return user
