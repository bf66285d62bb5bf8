"""Forget a person: all data and the account."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.contrib.sessions.models import Session
from django.db.models import Q
from django.utils import timezone
from django.utils.crypto import salted_hmac

from memcenter.lib.errors import NotFound
from ops import registry
from ops.accounts import keys, roles, second_factors
from ops.forgetting import erasure
from ops.models import ApiKey, Kind, Operation, SignInLink, User, Webhook

_TOKEN_PREFIX = "rt_"
_SESSIONS_AT_ONCE = 1_000


def forget_user(
    *, user: User, requested_by_key: int | None = None, is_repeated: bool = False
) -> tuple[Operation, str]:
    """Hide everything of a person at once and enqueue the erase.

    Signs the person out everywhere and revokes their keys. Returns the operation and a token that
    reads it and its receipt for 30 days without a key. A repeated call returns the same while the
    erase runs. Raises `NotFound` if there is no such person, and `Conflict` for the last owner,
    unless the forget `is_repeated` after a restore of a state in which nobody else was one yet.
    """
    if not is_repeated:
        roles.check_not_last_owner(user)
    erasure.start(user)
    # NO KEY UPDATE: a full lock would wait for every row that is being written for the person.
    locked = User.objects.select_for_update(no_key=True).filter(pk=user.pk).first()
    if locked is None:
        raise NotFound("There is no such user.")
    payload = {"user": locked.pk}
    before = erasure.take_up(Kind.FORGET_USER, user=locked, payload=payload)
    if before is not None:
        return before, receipt_token(before)
    now = timezone.now()
    locked.hidden_at = user.hidden_at = now
    locked.set_unusable_password()  # sessions carry a hash of it: all of them end
    locked.save(update_fields=["hidden_at", "password", "updated_at"])
    _shut_doors(locked, now=now)
    hide_rows(locked, now=now)
    operation = erasure.begin(
        Kind.FORGET_USER,
        user=locked,
        payload=payload,
        about=Q(),
        requested_by_key=requested_by_key,
    )
    token = receipt_token(operation)
    operation.token_digest = keys.digest(token)
    operation.token_expires_at = now + timedelta(days=settings.RECEIPT_TOKEN_DAYS)
    operation.save(update_fields=["token_digest", "token_expires_at"])
    return operation, token


def receipt_token(operation: Operation) -> str:
    """Derive the token from the instance's secret, so that a repeated request gets the same."""
    made = salted_hmac("ops.receipt_token", operation.public_id, algorithm="sha256").digest()
    return _TOKEN_PREFIX + base64.urlsafe_b64encode(made).decode().rstrip("=")


def _shut_doors(user: User, *, now: datetime) -> None:
    ApiKey.objects.filter(user=user, revoked_at__isnull=True).update(revoked_at=now)
    SignInLink.objects.filter(user=user).delete()
    Webhook.objects.filter(user=user).update(is_active=False)


def hide_rows(user: User, *, now: datetime) -> None:
    """Hide the person's rows in all tables of the registry that have a hidden state."""
    for participant in registry.participants():
        for model in participant.models:
            names = {column.name for column in model._meta.concrete_fields}
            if {"user", "hidden_at"} <= names:
                rows = model._base_manager.filter(user_id=user.pk, hidden_at__isnull=True)
                rows.update(hidden_at=now)


def erase_sessions(user_id: int) -> int:
    """Erase the person's sessions; only the decoded content tells the owner."""
    count, last = 0, ""
    while True:
        sessions = list(Session.objects.filter(pk__gt=last).order_by("pk")[:_SESSIONS_AT_ONCE])
        own = [one.pk for one in sessions if user_id in _named_in(one.get_decoded())]
        if own:
            count += Session.objects.filter(pk__in=own).delete()[0]
        if len(sessions) < _SESSIONS_AT_ONCE:
            return count
        last = sessions[-1].pk


def _named_in(session: Mapping[str, Any]) -> set[int]:
    """Return the users named in a session: signed in, or waiting for the second factor."""
    waiting = (session.get(second_factors.WAITING) or {}).get("user")
    return {int(one) for one in (session.get("_auth_user_id"), waiting) if one}
