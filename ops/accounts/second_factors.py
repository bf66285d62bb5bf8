"""The second factor: codes of an authenticator app (TOTP, RFC 6238) and recovery codes."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Sequence

import pyotp
from django.db.models import Func, Value
from django.utils.crypto import constant_time_compare

from memcenter.lib.errors import Invalid
from ops.accounts import access_ledger, keys
from ops.audit import audit_log
from ops.models import SecondFactor, User

WAITING = "second_step"  # session key of a person who has given the password and not yet the code
HOW_MANY = 10
_STEP_SECONDS = 30
_TITLE = "Memory Center"


def of(user: User) -> SecondFactor | None:
    return SecondFactor.objects.filter(user=user).first()


def new_secret() -> str:
    return pyotp.random_base32()


def address_of(secret: str, *, user: User) -> str:
    """Return the `otpauth://…` address in the QR code."""
    return pyotp.TOTP(secret).provisioning_uri(name=user.shown_name, issuer_name=_TITLE)


def turn_on(*, user: User, secret: str, code: str) -> Sequence[str]:
    """Require a code at each sign-in. Returns the recovery codes, which can't be read again.

    Raises `Invalid` naming `code` if it is wrong or if a second factor is on already.
    """
    if of(user) is not None:
        raise Invalid("Two-step verification is already on.")
    step = _step_of(secret, code, after=0)
    if step is None:
        raise Invalid.field(
            "code", "This code isn’t valid right now. Is the clock on your device correct?"
        )
    given = _new_codes()
    SecondFactor.objects.create(
        user=user, secret=secret, last_step=step, recovery=[digest(one) for one in given]
    )
    _decided(user)
    audit_log.record("second_factor.on", subject=user.subject)
    return given


def opens(*, user: User, code: str) -> bool:
    """Tell whether this is the app's current code or a recovery code, and use it up."""
    own = of(user)
    if own is None:
        return False
    step = _step_of(own.secret, code, after=own.last_step)
    if step is not None:
        newest = SecondFactor.objects.filter(pk=own.pk, last_step__lt=step)
        return bool(newest.update(last_step=step))
    return _takes_recovery(own, code)


def renew(user: User) -> Sequence[str]:
    """Replace the recovery codes."""
    given = _new_codes()
    SecondFactor.objects.filter(user=user).update(recovery=[digest(one) for one in given])
    _decided(user)
    audit_log.record("second_factor.renewed", subject=user.subject)
    return given


def turn_off(user: User) -> bool:
    """Turn the second factor off. Returns False if there was none."""
    gone, _ = SecondFactor.objects.filter(user=user).delete()
    if gone:
        _decided(user)
        audit_log.record("second_factor.off", subject=user.subject)
    return bool(gone)


def _takes_recovery(own: SecondFactor, code: str) -> bool:
    """Use a recovery code up; of two concurrent calls only one succeeds."""
    known = digest(code)
    left = Func("recovery", Value(known), function="array_remove")
    rows = SecondFactor.objects.filter(pk=own.pk, recovery__contains=[known])
    taken = bool(rows.update(recovery=left))
    if taken:
        _decided(own.user)
        audit_log.record("second_factor.recovered", subject=own.user.subject)
    return taken


def _decided(user: User) -> None:
    own = of(user)
    made_at = own.created_at.isoformat() if own else None
    recovery = own.recovery if own else []
    access_ledger.record("second factor", user.subject, made_at=made_at, recovery=recovery)


def _step_of(secret: str, code: str, *, after: int) -> int | None:
    """Return the 30-second step of the code: the current, the previous or the next one."""
    typed, now, app = re.sub(r"\s", "", code), int(time.time()) // _STEP_SECONDS, pyotp.TOTP(secret)
    found = [
        step
        for step in (now - 1, now, now + 1)
        if constant_time_compare(app.generate_otp(step), typed)
    ]
    return next((step for step in found if step > after), None)


def _new_codes() -> Sequence[str]:
    """Make recovery codes of 80 bits each, in four groups."""
    letters = "abcdefghijkmnpqrstuvwxyz23456789"
    texts = ("".join(secrets.choice(letters) for _ in range(16)) for _ in range(HOW_MANY))
    return ["-".join(text[n : n + 4] for n in range(0, 16, 4)) for text in texts]


def digest(code: str) -> str:
    return keys.digest(re.sub(r"[^a-z0-9]", "", code.casefold()))
