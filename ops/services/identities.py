"""Which person somebody is whom an OpenID Connect provider has named."""

from __future__ import annotations

import hashlib

from django.conf import settings
from django.db import IntegrityError, transaction

from memcenter.lib.errors import Conflict, NotAllowed
from memcenter.providers.openid import Told
from ops.models import Identity, User, UserSettings
from ops.services import audit, decisions


def arrive(told: Told, *, language: str = "") -> User:
    """The person of this identity; at the first time one is connected by e-mail, or made.

    A login of the same name is somebody else's, unless the settings say that names here are
    addresses which the provider vouches for; staff are never connected by a name. Raises
    `Conflict` where the name is taken and `NotAllowed` where no accounts are made.
    """
    known = Identity.objects.select_related("user").filter(sub=told.sub, issuer=told.issuer)
    if (found := known.first()) is not None:
        return found.user
    same = User.objects.filter(username__iexact=told.email).first() if told.email else None
    if same is not None:
        return _by_email(same, told)
    if not settings.OIDC_CREATES_ACCOUNTS:
        raise NotAllowed("There is no account for you here yet. Ask whoever runs this place.")
    return _made(told, language=language)


def connect(*, user: User, told: Told) -> Identity:
    """Let the provider sign this person in from now on. Raises `Conflict`."""
    try:
        with transaction.atomic():
            made = Identity.objects.create(user=user, issuer=told.issuer, sub=told.sub)
    except IntegrityError as error:
        raise Conflict("This is connected to another account, or yours to another.") from error
    decisions.record("identity", user.subject, connected=digest(made))
    audit.record("identity.connected", subject=user.subject)
    return made


def digest(identity: Identity) -> str:
    """What the ledger calls an account elsewhere."""
    return hashlib.sha256(f"{identity.issuer} {identity.sub}".encode()).hexdigest()


def disconnect(user: User) -> None:
    """Raises `Conflict` for who could then no longer sign in."""
    if not user.has_usable_password():
        raise Conflict("Choose a password first, or you could not come back.")
    gone, _ = Identity.objects.filter(user=user).delete()
    if gone:
        decisions.record("identity", user.subject, connected=None)
        audit.record("identity.disconnected", subject=user.subject)


def _by_email(same: User, told: Told) -> User:
    if not settings.OIDC_LINKS_BY_EMAIL or same.is_staff or same.is_superuser:
        raise Conflict(
            "There is an account of your name. Sign in with its password, then connect it in the"
            " settings."
        )
    connect(user=same, told=told)
    return same


def _made(told: Told, *, language: str) -> User:
    name = told.name[:150] if told.name.isprintable() else ""
    user = User.objects.create_user(told.email[:150] or None, display_name=name)
    known = language if language in dict(settings.LANGUAGES) else ""
    UserSettings.objects.create(
        user=user, longterm_enabled=settings.LONGTERM_DEFAULT, language=known
    )
    audit.record("account.made", subject=user.subject)
    connect(user=user, told=told)
    return user
