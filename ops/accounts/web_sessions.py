"""List a person's sessions and end them."""

from __future__ import annotations

import hashlib
import re
import uuid
from collections.abc import Sequence
from datetime import timedelta

from django.conf import settings
from django.contrib.sessions.models import Session
from django.utils import timezone

from memcenter.lib.errors import NotFound
from ops.accounts import access_ledger
from ops.audit import audit_log
from ops.models import SignIn, User

SHOWN = 50
# The first match wins: Edge and Opera also claim to be Chrome, and all claim to be Safari.
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


def device_of(user_agent: str) -> str:
    """Return browser and system of a user agent; empty if it names neither."""
    found = (_first(_BROWSERS, user_agent), _first(_SYSTEMS, user_agent))
    return " · ".join(word for word in found if word)


def _first(known: Sequence[tuple[str, str]], text: str) -> str:
    return next((word for word, mark in known if re.search(mark, text)), "")


def note(*, user: User, session_key: str, device: str) -> None:
    """Record a session after sign-in. Safe to repeat."""
    now = timezone.now()
    SignIn.objects.update_or_create(
        session_key=session_key,
        defaults={"user": user, "device": device, "seen_at": now},
        create_defaults={"user": user, "device": device, "seen_at": now, "began_at": now},
    )


def seen(session_key: str) -> None:
    """Record that the session is in use."""
    SignIn.objects.filter(session_key=session_key).update(seen_at=timezone.now())


def of(user: User) -> list[SignIn]:
    """Return sessions that can still be valid, last seen first."""
    since = timezone.now() - timedelta(seconds=settings.SESSION_COOKIE_AGE)
    rows = SignIn.objects.filter(user=user, began_at__gt=since)
    return list(rows.order_by("-seen_at", "-pk")[:SHOWN])


def end(*, user: User, sign_in: int) -> None:
    """End one of the person's sessions. Raises `NotFound`."""
    row = SignIn.objects.filter(user=user, pk=sign_in).first()
    if row is None:
        raise NotFound("There is no such sign-in.")
    end_sessions([row.session_key])
    access_ledger.record("session", digest(row.session_key))
    audit_log.record("signin.ended", subject=user.subject, details={"elsewhere": 1})


def end_all(user: User) -> None:
    """End every session of the person, also unrecorded ones, by changing the session epoch.

    To keep the present session, renew its hash afterwards and record it again.
    """
    user.session_epoch = uuid.uuid4()
    user.save(update_fields=["session_epoch", "updated_at"])
    keys = list(SignIn.objects.filter(user=user).values_list("session_key", flat=True))
    end_sessions(keys)
    access_ledger.record("sessions", user.subject, epoch=str(user.session_epoch))
    audit_log.record("signin.ended", subject=user.subject, details={"elsewhere": len(keys)})


def forget(session_key: str | None) -> None:
    """Delete the record of a session whose person signed out."""
    SignIn.objects.filter(session_key=session_key or "").delete()
    if session_key:
        access_ledger.record("session", digest(session_key))


def digest(session_key: str) -> str:
    """Return the digest that names the session in the ledger, since the key would open it."""
    return hashlib.sha256(session_key.encode()).hexdigest()


def end_sessions(keys: Sequence[str]) -> None:
    """Delete these sessions and their records."""
    Session.objects.filter(session_key__in=keys).delete()
    SignIn.objects.filter(session_key__in=keys).delete()
