"""API keys: made once, shown once, kept as a hash."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db.models import Q
from django.utils import timezone

from memcenter.lib.errors import Invalid
from ops.models import ApiKey, Operation, Scope, User

PREFIX = "mc_"
_LAST_USE_GRAIN = timedelta(minutes=1)


def create(
    *,
    name: str,
    scopes: Sequence[str],
    user: User | None = None,
    expires_at: datetime | None = None,
) -> tuple[ApiKey, str]:
    """Make a key; the text is given back this once and can't be had again. Raises `Invalid`."""
    unknown = sorted(set(scopes) - set(Scope.values))
    if unknown or not scopes:
        raise Invalid.field("scopes", f"Choose among {', '.join(Scope.values)}.")
    if not 1 <= len(name) <= 100:
        raise Invalid.field("name", "Give the key a name of at most 100 characters.")
    text = PREFIX + secrets.token_urlsafe(32)
    key = ApiKey.objects.create(
        user=user,
        name=name,
        prefix=text[:10],
        digest=digest(text),
        scopes=sorted(set(scopes)),
        expires_at=expires_at,
    )
    return key, text


def digest(text: str) -> str:
    """SHA-256 is enough: the text holds 256 random bits, so there is nothing to guess."""
    return hashlib.sha256(text.encode()).hexdigest()


def authenticate(text: str) -> ApiKey | None:
    """The living key of this text, or None. Looked up by hash, so timing tells nothing."""
    now = timezone.now()
    key = (
        ApiKey.objects.select_related("user")
        .filter(Q(expires_at__isnull=True) | Q(expires_at__gt=now), revoked_at__isnull=True)
        .filter(digest=digest(text))
        .first()
    )
    if key and (key.last_used_at is None or now - key.last_used_at > _LAST_USE_GRAIN):
        ApiKey.objects.filter(pk=key.pk).update(last_used_at=now)
    return key


def opens_receipt(operation: Operation, *, token: str) -> bool:
    """Whether this is the operation's own receipt token, and still in its time."""
    known, until = operation.token_digest, operation.token_expires_at
    if known is None or until is None or until <= timezone.now():
        return False
    return secrets.compare_digest(known, digest(token))


def revoke(key: ApiKey) -> None:
    ApiKey.objects.filter(pk=key.pk, revoked_at__isnull=True).update(revoked_at=timezone.now())
