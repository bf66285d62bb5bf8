"""How people sign in: sessions, failed attempts, second factor, identities at a provider.

Failed attempts are counted in Redis for 15 minutes: one counter for each pair of login name and IP
address, and one for each IP address. The counters only slow down guessing; if Redis is down, nobody
is locked out. The second factor is a code from an authenticator app (TOTP, RFC 6238) or a recovery
code. Identities are accounts at an OpenID Connect provider.
"""

from __future__ import annotations

import hashlib
import logging
import re
import secrets
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta

import pyotp
from django.conf import settings
from django.contrib.sessions.models import Session
from django.core.cache import cache
from django.db import IntegrityError, transaction
from django.db.models import Func, Value
from django.utils import timezone
from django.utils.crypto import constant_time_compare, salted_hmac
from redis.exceptions import RedisError

from foundation.errors import Conflict, Invalid, NotAllowed, NotFound
from foundation.providers.openid import Claims
from ops import audit_log, ledger
from ops.accounts import keys
from ops.models import Identity, SecondFactor, SignIn, User, UserSettings

SESSIONS_SHOWN = 50
# The first match wins: Edge and Opera also claim to be Chrome, and most claim to be Safari.
_BROWSERS = (
    ("Edge", "Edg"),
    ("Opera", "OPR/"),
    ("Firefox", "Firefox/|FxiOS/"),
    ("Chrome", "Chrome/|CriOS/"),
    ("Safari", "Safari/"),
)
_SYSTEMS = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("macOS", "Macintosh"),
    ("ChromeOS", "CrOS"),
    ("Linux", "Linux"),
)
logger = logging.getLogger(__name__)
ALLOWED = 10
# The limit for one IP address and all login names; several people may share an IP address.
ALLOWED_OF_ADDRESS = 100
LOCKED_SECONDS = 15 * 60
WAITING = "second_step"  # session key of a person who has entered the password but not the code
RECOVERY_CODES = 10
_STEP_SECONDS = 30
_TITLE = "Memory Center"


def device_of(user_agent: str) -> str:
    """Return the browser and system in a User-Agent header; "" if neither is recognised."""
    found = (_first_match(_BROWSERS, user_agent), _first_match(_SYSTEMS, user_agent))
    return " · ".join(word for word in found if word)


def _first_match(known: Sequence[tuple[str, str]], text: str) -> str:
    return next((word for word, mark in known if re.search(mark, text)), "")


def note_session(*, user: User, session_key: str, device: str) -> None:
    """Record a session after sign-in, or update its existing record."""
    now = timezone.now()
    SignIn.objects.update_or_create(
        session_key=session_key,
        defaults={"user": user, "device": device, "seen_at": now},
        create_defaults={"user": user, "device": device, "seen_at": now, "began_at": now},
    )


def note_use(session_key: str) -> None:
    SignIn.objects.filter(session_key=session_key).update(seen_at=timezone.now())


def sessions_of(user: User) -> list[SignIn]:
    """Return the person's sessions that may still be valid, the most recently used first."""
    since = timezone.now() - timedelta(seconds=settings.SESSION_COOKIE_AGE)
    rows = SignIn.objects.filter(user=user, began_at__gt=since)
    return list(rows.order_by("-seen_at", "-pk")[:SESSIONS_SHOWN])


def end_session(*, user: User, sign_in: int) -> None:
    """End one session of the person. Raise `NotFound` if it isn't theirs or doesn't exist."""
    row = SignIn.objects.filter(user=user, pk=sign_in).first()
    if row is None:
        raise NotFound("This sign-in doesn’t exist.")
    end_sessions([row.session_key])
    ledger.record_decision("session", session_digest(row.session_key))
    audit_log.record("signin.ended", subject=user.subject, details={"elsewhere": 1})


def end_all_sessions(user: User) -> None:
    """End all sessions of the person, even unrecorded ones, by changing the session epoch.

    To keep the current session, call `update_session_auth_hash` and `note_session` afterwards.
    """
    user.session_epoch = uuid.uuid4()
    user.save(update_fields=["session_epoch", "updated_at"])
    keys = list(SignIn.objects.filter(user=user).values_list("session_key", flat=True))
    end_sessions(keys)
    ledger.record_decision("sessions", user.subject, epoch=str(user.session_epoch))
    audit_log.record("signin.ended", subject=user.subject, details={"elsewhere": len(keys)})


def forget_session(session_key: str | None) -> None:
    """Delete the record of a session that the person has signed out of, and write to the ledger."""
    SignIn.objects.filter(session_key=session_key or "").delete()
    if session_key:
        ledger.record_decision("session", session_digest(session_key))


def session_digest(session_key: str) -> str:
    """Return the hash that the ledger stores; the session key itself would allow signing in."""
    return hashlib.sha256(session_key.encode()).hexdigest()


def end_sessions(keys: Sequence[str]) -> None:
    Session.objects.filter(session_key__in=keys).delete()
    SignIn.objects.filter(session_key__in=keys).delete()


def are_attempts_used_up(name: str, *, address: str) -> bool:
    with _if_redis_is_up():
        return any(
            int(cache.get(key, 0)) >= most for key, most in _counter_limits(name, address).items()
        )
    return False


def note_failure(name: str, *, address: str) -> None:
    with _if_redis_is_up(), suppress(ValueError):  # a counter expired between the two calls
        for key in _counter_limits(name, address):
            cache.add(key, 0, LOCKED_SECONDS)
            cache.incr(key)


def forgive_failures(name: str, *, address: str) -> None:
    with _if_redis_is_up():
        cache.delete(_counter_key(name, address))


@contextmanager
def _if_redis_is_up() -> Iterator[None]:
    try:
        yield
    except (RedisError, OSError):
        logger.warning("Failed sign-ins can't be counted: Redis is gone.")


def _counter_limits(name: str, address: str) -> dict[str, int]:
    of_address = {_counter_key("", address): ALLOWED_OF_ADDRESS} if address else {}
    return {_counter_key(name, address): ALLOWED} | of_address


def _counter_key(name: str, address: str) -> str:
    """Return a counter's key in Redis, hashed so that Redis stores no login name or address."""
    value = f"{name.strip().casefold()}\n{address}"
    return "signin:" + salted_hmac("ops.attempts", value, algorithm="sha256").hexdigest()


def second_factor_of(user: User) -> SecondFactor | None:
    return SecondFactor.objects.filter(user=user).first()


def new_secret() -> str:
    return pyotp.random_base32()


def app_address(secret: str, *, user: User) -> str:
    """Return the `otpauth://…` address that an authenticator app reads from the QR code."""
    return pyotp.TOTP(secret).provisioning_uri(name=user.shown_name, issuer_name=_TITLE)


def turn_on_second_factor(*, user: User, secret: str, code: str) -> Sequence[str]:
    """Require a code at each sign-in; return the recovery codes, which can't be read again.

    Raise `Invalid` if the code is wrong or the person already has a second factor.
    """
    if second_factor_of(user) is not None:
        raise Invalid("Two-step verification is already on.")
    step = _step_of(secret, code, after=0)
    if step is None:
        raise Invalid.field(
            "code", "This code isn’t valid right now. Is the clock on your device correct?"
        )
    codes = _new_codes()
    SecondFactor.objects.create(
        user=user,
        secret=secret,
        last_step=step,
        recovery=[recovery_digest(recovery_code) for recovery_code in codes],
    )
    _record_second_factor(user)
    audit_log.record("second_factor.on", subject=user.subject)
    return codes


def use_second_factor_code(*, user: User, code: str) -> bool:
    """Return whether `code` is a valid app code or recovery code, and mark it as used.

    Each code works only once, so of two concurrent calls only one succeeds.
    """
    own = second_factor_of(user)
    if own is None:
        return False
    step = _step_of(own.secret, code, after=own.last_step)
    if step is not None:
        newest = SecondFactor.objects.filter(pk=own.pk, last_step__lt=step)
        return bool(newest.update(last_step=step))
    known = recovery_digest(code)
    left = Func("recovery", Value(known), function="array_remove")
    rows = SecondFactor.objects.filter(pk=own.pk, recovery__contains=[known])
    if not rows.update(recovery=left):
        return False
    _record_second_factor(own.user)
    audit_log.record("second_factor.recovered", subject=own.user.subject)
    return True


def renew_recovery_codes(user: User) -> Sequence[str]:
    codes = _new_codes()
    SecondFactor.objects.filter(user=user).update(
        recovery=[recovery_digest(code) for code in codes]
    )
    _record_second_factor(user)
    audit_log.record("second_factor.renewed", subject=user.subject)
    return codes


def turn_off_second_factor(user: User) -> bool:
    """Remove the person's second factor; return False if they had none."""
    gone, _ = SecondFactor.objects.filter(user=user).delete()
    if gone:
        _record_second_factor(user)
        audit_log.record("second_factor.off", subject=user.subject)
    return bool(gone)


def _record_second_factor(user: User) -> None:
    own = second_factor_of(user)
    made_at = own.created_at.isoformat() if own else None
    recovery = own.recovery if own else []
    ledger.record_decision("second factor", user.subject, made_at=made_at, recovery=recovery)


def _step_of(secret: str, code: str, *, after: int) -> int | None:
    """Return the number of the 30-second step for which the code is valid, or None.

    The current, the previous and the next step are accepted, but only if they are later than
    `after`.
    """
    typed, now, app = re.sub(r"\s", "", code), int(time.time()) // _STEP_SECONDS, pyotp.TOTP(secret)
    found = [
        step
        for step in (now - 1, now, now + 1)
        if constant_time_compare(app.generate_otp(step), typed)
    ]
    return next((step for step in found if step > after), None)


def _new_codes() -> Sequence[str]:
    letters = "abcdefghijkmnpqrstuvwxyz23456789"
    texts = ("".join(secrets.choice(letters) for _ in range(16)) for _ in range(RECOVERY_CODES))
    return ["-".join(text[n : n + 4] for n in range(0, 16, 4)) for text in texts]


def recovery_digest(code: str) -> str:
    return keys.digest(re.sub(r"[^a-z0-9]", "", code.casefold()))


def find_or_create_by_claims(claims: Claims, *, language: str = "") -> User:
    """Return the person with this identity at the provider.

    At the first sign-in, connect the identity to the account whose login name is the email address,
    or create an account. Raise `Conflict` if there is such an account, but it belongs to staff or
    `OIDC_LINKS_BY_EMAIL` is off. Raise `NotAllowed` if there is no such account and
    `OIDC_CREATES_ACCOUNTS` is off.
    """
    known = Identity.objects.select_related("user").filter(sub=claims.sub, issuer=claims.issuer)
    if (found := known.first()) is not None:
        return found.user
    same = User.objects.filter(username__iexact=claims.email).first() if claims.email else None
    if same is not None:
        if not settings.OIDC_LINKS_BY_EMAIL or same.is_staff or same.is_superuser:
            raise Conflict(
                "An account with your name already exists. Sign in with its password, then connect"
                " it in Settings."
            )
        connect_identity(user=same, claims=claims)
        return same
    if not settings.OIDC_CREATES_ACCOUNTS:
        raise NotAllowed("You don’t have an account here yet. Ask the owner of this Memory Center.")
    name = claims.name[:150] if claims.name.isprintable() else ""
    user = User.objects.create_user(claims.email[:150] or None, display_name=name)
    UserSettings.objects.create(
        user=user,
        longterm_enabled=settings.LONGTERM_DEFAULT,
        language=language if language in dict(settings.LANGUAGES) else "",
    )
    audit_log.record("account.made", subject=user.subject)
    connect_identity(user=user, claims=claims)
    return user


def connect_identity(*, user: User, claims: Claims) -> Identity:
    """Connect the identity to this person.

    Raise `Conflict` if the identity is already connected, or if the person already has another
    identity at this provider.
    """
    try:
        with transaction.atomic():
            made = Identity.objects.create(user=user, issuer=claims.issuer, sub=claims.sub)
    except IntegrityError as error:
        raise Conflict(
            "This sign-in is connected to another account, or your account already has another one."
        ) from error
    ledger.record_decision("identity", user.subject, connected=identity_digest(made))
    audit_log.record("identity.connected", subject=user.subject)
    return made


def identity_digest(identity: Identity) -> str:
    """Return the hash that the ledger stores for an account at a provider."""
    return hashlib.sha256(f"{identity.issuer} {identity.sub}".encode()).hexdigest()


def disconnect_identity(user: User) -> None:
    """Disconnect the person's identity at the provider.

    Raise `Conflict` if the person has no password, since they could no longer sign in.
    """
    if not user.has_usable_password():
        raise Conflict("Choose a password first, or you won’t be able to sign in again.")
    gone, _ = Identity.objects.filter(user=user).delete()
    if gone:
        ledger.record_decision("identity", user.subject, connected=None)
        audit_log.record("identity.disconnected", subject=user.subject)
