"""Where a person is signed in, and ending it elsewhere."""

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
from ops.models import SignIn, User
from ops.services import audit, decisions

SHOWN = 50
# The first that fits: Edge and Opera also call themselves Chrome, and all call themselves Safari.
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
    """The browser and the system that a user agent names; empty when it names neither."""
    found = (_first(_BROWSERS, user_agent), _first(_SYSTEMS, user_agent))
    return " · ".join(word for word in found if word)


def _first(known: Sequence[tuple[str, str]], text: str) -> str:
    return next((word for word, mark in known if re.search(mark, text)), "")


def note(*, user: User, session_key: str, device: str) -> None:
    """Somebody is signed in with this session, now. Safe to repeat."""
    now = timezone.now()
    SignIn.objects.update_or_create(
        session_key=session_key,
        defaults={"user": user, "device": device, "seen_at": now},
        create_defaults={"user": user, "device": device, "seen_at": now, "began_at": now},
    )


def seen(session_key: str) -> None:
    """The browser is in use."""
    SignIn.objects.filter(session_key=session_key).update(seen_at=timezone.now())


def of(user: User) -> list[SignIn]:
    """Those whose session can still be alive, last seen first."""
    since = timezone.now() - timedelta(seconds=settings.SESSION_COOKIE_AGE)
    rows = SignIn.objects.filter(user=user, began_at__gt=since)
    return list(rows.order_by("-seen_at", "-pk")[:SHOWN])


def end(*, user: User, sign_in: int) -> None:
    """End one of the person's sessions. Raises `NotFound`."""
    row = SignIn.objects.filter(user=user, pk=sign_in).first()
    if row is None:
        raise NotFound("There is no such sign-in.")
    end_sessions([row.session_key])
    decisions.record("session", digest(row.session_key))
    audit.record("signin.ended", subject=user.subject, details={"elsewhere": 1})


def end_all(user: User) -> None:
    """End every session of the person, also those that nobody noted.

    What the sessions carry no longer matches the account. To keep the present one, renew its
    hash afterwards and note it again.
    """
    user.session_epoch = uuid.uuid4()
    user.save(update_fields=["session_epoch", "updated_at"])
    keys = list(SignIn.objects.filter(user=user).values_list("session_key", flat=True))
    end_sessions(keys)
    decisions.record("sessions", user.subject, epoch=str(user.session_epoch))
    audit.record("signin.ended", subject=user.subject, details={"elsewhere": len(keys)})


def forget(session_key: str | None) -> None:
    """The session ended by itself: its person signed out."""
    SignIn.objects.filter(session_key=session_key or "").delete()
    if session_key:
        decisions.record("session", digest(session_key))


def erase_expired() -> int:
    """Sessions that ended by themselves, and what tells where they were; gives how many."""
    over, _ = Session.objects.filter(expire_date__lt=timezone.now()).delete()
    since = timezone.now() - timedelta(seconds=settings.SESSION_COOKIE_AGE)
    SignIn.objects.filter(began_at__lt=since, seen_at__lt=since).delete()
    return over


def digest(session_key: str) -> str:
    """What the ledger calls a session: its key would open it."""
    return hashlib.sha256(session_key.encode()).hexdigest()


def end_sessions(keys: Sequence[str]) -> None:
    """Delete these sessions and what tells where they were."""
    Session.objects.filter(session_key__in=keys).delete()
    SignIn.objects.filter(session_key__in=keys).delete()
