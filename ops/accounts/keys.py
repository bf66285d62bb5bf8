"""API keys. A key is shown once; only its hash is stored."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from foundation.database import statements
from foundation.errors import Conflict, Invalid, NotFound
from ops import audit_log, ledger
from ops.models import ApiKey, Operation, Scope, User, UserSettings
from ops.models.user import KEY_ID

PREFIX = "mc_"
OF_FIRST_START = "first run"  # the name of the key created by `firstrun`
_LAST_USE_GRAIN = timedelta(minutes=1)


def create(
    *,
    name: str,
    scopes: Sequence[str],
    user: User | None = None,
    expires_at: datetime | None = None,
    requires_user: bool = False,
) -> tuple[ApiKey, str]:
    """Create a key; return it with its text, which can't be read again.

    Raise `Invalid` if the name, the scopes or the expiry are invalid.
    """
    _check(name=name, scopes=scopes, expires_at=expires_at)
    text = PREFIX + secrets.token_urlsafe(32)
    key = ApiKey.objects.create(
        user=user,
        name=name,
        prefix=text[:10],
        digest=digest(text),
        scopes=sorted(set(scopes)),
        expires_at=expires_at,
        requires_user=requires_user,
    )
    _record("key.made", key, {"scopes": key.scopes})
    return key, text


def _check(*, name: str, scopes: Sequence[str], expires_at: datetime | None) -> None:
    if set(scopes) - set(Scope.values) or not scopes:
        raise Invalid.field("scopes", f"Choose among {', '.join(Scope.values)}.")
    if not 1 <= len(name) <= 100:
        raise Invalid.field("name", "Give the key a name of at most 100 characters.")
    if expires_at is not None and expires_at <= timezone.now():
        raise Invalid.field("expires_at", "That date is in the past. Revoke the key instead.")


def keys_of(user: User | None) -> QuerySet[ApiKey]:
    """Return the keys bound to the person, or all unbound keys if `user` is None.

    Revoked keys are included.
    """
    return ApiKey.objects.filter(user=user).select_related("user")


def find(key_id: str, *, user: User | None) -> ApiKey:
    """Return the key with this public id.

    Raise `NotFound` if there is no such key among `keys_of(user)`.
    """
    number = key_id.removeprefix(KEY_ID)
    is_key_id = (
        key_id.startswith(KEY_ID) and number.isascii() and number.isdigit() and len(number) < 19
    )
    found = keys_of(user).filter(pk=int(number)).first() if is_key_id else None
    if found is None:
        raise NotFound("This key doesn’t exist.")
    return found


def change(key: ApiKey, *, changes: Mapping[str, Any]) -> ApiKey:
    """Change `name`, `scopes`, `expires_at` or `requires_user` of a key.

    Raise `Invalid` if a value is invalid, and `Conflict` if the key is revoked.
    """
    if key.revoked_at is not None:
        raise Conflict("This key is revoked; make a new one.")
    _check(
        name=changes.get("name", key.name),
        scopes=changes.get("scopes", key.scopes),
        expires_at=changes.get("expires_at"),
    )
    for name, value in changes.items():
        setattr(key, name, sorted(set(value)) if name == "scopes" else value)
    key.save(update_fields=list(changes))
    _record_in_ledger(key)
    _record("key.changed", key, {"fields": sorted(changes)})
    return key


def digest(text: str) -> str:
    """Return the SHA-256 of a key, a token or a recovery code.

    A slow hash isn't needed, since these texts contain 80 or more random bits.
    """
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class Person:
    """The person for whom a call is made, loaded together with the call's API key.

    `own` contains their settings; None means the default settings. `extra` is the value of the SQL
    expression passed to `authenticate_call`.
    """

    user: User
    own: UserSettings | None
    extra: Any = None


def authenticate(text: str) -> ApiKey | None:
    """Return the valid key with this text, or None.

    The key is looked up by its hash, so the time of the lookup reveals nothing about other keys.
    """
    found = authenticate_call(text)
    return found[0] if found else None


def authenticate_call(
    text: str, *, named: str | None = None, extra: str = ""
) -> tuple[ApiKey, Person | None] | None:
    """Return the valid key and the person for whom the call is made; None if no key is valid.

    A bound key determines the person. For an unbound key, the person is the active person with the
    external id `named`, or None. The key and the person are loaded in one statement, and the use of
    the key is recorded. `extra` is an SQL expression whose value is stored in `Person.extra`; the
    expression may use the person's row as `u`.
    """
    now = timezone.now()
    kinds = ((ApiKey, "k"), (User, "u"), (UserSettings, "s"))
    columns = ", ".join(statements.columns(model, alias) for model, alias in kinds)
    found = statements.first_rows(
        f"SELECT {columns}, {extra or 'NULL'} FROM ops_apikey k"
        " LEFT JOIN ops_user u ON u.id = coalesce(k.user_id,"
        " (SELECT n.id FROM ops_user n WHERE n.external_id = %s::text AND n.is_active))"
        " LEFT JOIN ops_usersettings s ON s.user_id = u.id"
        " WHERE k.digest = %s AND k.revoked_at IS NULL"
        " AND (k.expires_at IS NULL OR k.expires_at > %s)",
        [named, digest(text), now],
    )
    if not found:
        return None
    key, person = _key_and_person(found[0])
    if key.last_used_at is None or now - key.last_used_at > _LAST_USE_GRAIN:
        ApiKey.objects.filter(pk=key.pk).update(last_used_at=now)
        before = key.last_used_at
        if before is None or before.astimezone(UTC).date() != now.astimezone(UTC).date():
            with audit_log.use_actor(f"key {key.pk}", audit_log.current_actor().surface):
                _record("key.used", key)
    return key, person


def _record(action: str, key: ApiKey, details: Mapping[str, Any] | None = None) -> None:
    subject = key.user.subject if key.user is not None else None
    audit_log.record(action, subject=subject, target=f"key {key.pk}", details=details)


def _key_and_person(row: Sequence[Any]) -> tuple[ApiKey, Person | None]:
    own, theirs = statements.width(ApiKey), statements.width(ApiKey) + statements.width(User)
    *values, extra_value = row
    key = statements.instance(ApiKey, values[:own])
    person = None
    if values[own] is not None:
        user = statements.instance(User, values[own:theirs])
        own_values = values[theirs:]
        kept = statements.instance(UserSettings, own_values) if own_values[0] is not None else None
        if kept is not None:
            kept.user = user
        person = Person(user, kept, extra_value)
    key.user = person.user if person is not None and key.user_id is not None else None
    return key, person


def is_valid_receipt_token(operation: Operation, *, token: str) -> bool:
    """Return whether `token` is the unexpired token of the operation's receipt."""
    known, until = operation.token_digest, operation.token_expires_at
    if known is None or until is None or until <= timezone.now():
        return False
    return secrets.compare_digest(known, digest(token))


def revoke(key: ApiKey) -> None:
    valid = ApiKey.objects.filter(pk=key.pk, revoked_at__isnull=True)
    if valid.update(revoked_at=timezone.now()):
        _record_in_ledger(key, revoked=True)
        _record("key.revoked", key)


def _record_in_ledger(key: ApiKey, *, revoked: bool = False) -> None:
    expires = key.expires_at.isoformat() if key.expires_at else None
    ledger.record_decision(
        "key",
        key.digest,
        revoked=revoked,
        scopes=key.scopes,
        expires_at=expires,
        requires_user=key.requires_user,
    )
