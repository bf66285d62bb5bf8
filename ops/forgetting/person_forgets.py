"""Forget a person, including the account, and repeat forget operations after a restore."""

from __future__ import annotations

import base64
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from functools import partial
from itertools import chain
from typing import Any

from django.conf import settings
from django.contrib.sessions.models import Session
from django.db.models import Q
from django.utils import timezone
from django.utils.crypto import salted_hmac

from foundation.database import schema
from foundation.errors import NotFound
from ops import audit_chain, ledger, registry
from ops.access import as_system, as_user
from ops.accounts import keys, sign_ins, users
from ops.disk import disk_traces
from ops.forgetting import forget_steps
from ops.models import ApiKey, Kind, Operation, SignInLink, User, Webhook
from ops.queue.run import Run
from ops.registry import handles
from ops.residue import erased_hashes

_TOKEN_PREFIX = "rt_"
_SESSIONS_AT_ONCE = 1_000
# Repeats a forget operation; returns the new operation, or None if none of its data exists.
Again = Callable[[User, Mapping[str, Any], datetime], Operation | None]
_again: dict[str, Again] = {}


def forget_user(
    *, user: User, requested_by_key: int | None = None, is_repeated: bool = False
) -> tuple[Operation, str]:
    """Hide all data of a person at once, and enqueue its erasure.

    Signs the person out everywhere and revokes their keys. Return the operation and a token. For
    `RECEIPT_TOKEN_DAYS` days, the token gives access to the operation and its receipt without an
    API key. Until the erasure is finished, a repeated call returns the same operation and token.
    Raise `NotFound` if the person doesn't exist, and `Conflict` if they are the last owner. With
    `is_repeated` (the request is repeated after a restore), even the last owner is forgotten, since
    the backup may lack the account of a later owner.
    """
    if not is_repeated:
        users.check_not_last_owner(user)
    forget_steps.register_forget(user)
    # NO KEY UPDATE: FOR UPDATE would wait for every transaction that inserts rows of the person.
    locked = User.objects.select_for_update(no_key=True).filter(pk=user.pk).first()
    if locked is None:
        raise NotFound("This user doesn’t exist.")
    payload = {"user": locked.pk}
    before = forget_steps.find_unfinished(Kind.FORGET_USER, user=locked, payload=payload)
    if before is not None:
        return before, receipt_token(before)
    now = timezone.now()
    locked.hidden_at = user.hidden_at = now
    locked.set_unusable_password()  # ends all sessions: they contain a hash of the password
    locked.save(update_fields=["hidden_at", "password", "updated_at"])
    ApiKey.objects.filter(user=locked, revoked_at__isnull=True).update(revoked_at=now)
    SignInLink.objects.filter(user=locked).delete()
    Webhook.objects.filter(user=locked).update(is_active=False)
    hide_rows(locked, now=now)
    operation = forget_steps.enqueue_forget(
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
    """Return the token for the operation's receipt.

    The token is derived from the instance's secret key, so a repeated request gets the same token.
    """
    made = salted_hmac("ops.receipt_token", operation.public_id, algorithm="sha256").digest()
    return _TOKEN_PREFIX + base64.urlsafe_b64encode(made).decode().rstrip("=")


def hide_rows(user: User, *, now: datetime) -> None:
    """Hide the person's rows in all registered tables that have a column `hidden_at`."""
    for participant in registry.user_data_kinds():
        for model in participant.models:
            if all(schema.has_column(model, name) for name in ("user", "hidden_at")):
                rows = model._base_manager.filter(user_id=user.pk, hidden_at__isnull=True)
                rows.update(hidden_at=now)


def erase_sessions(user_id: int) -> int:
    """Erase all sessions of the person; return their number.

    Every session has to be decoded, since the person's id is stored only in its content.
    """
    count, last = 0, ""
    while True:
        sessions = list(Session.objects.filter(pk__gt=last).order_by("pk")[:_SESSIONS_AT_ONCE])
        own = [session.pk for session in sessions if user_id in _named_in(session.get_decoded())]
        if own:
            count += Session.objects.filter(pk__in=own).delete()[0]
        if len(sessions) < _SESSIONS_AT_ONCE:
            return count
        last = sessions[-1].pk


def _named_in(session: Mapping[str, Any]) -> set[int]:
    waiting = (session.get(sign_ins.WAITING) or {}).get("user")
    return {int(user_id) for user_id in (session.get("_auth_user_id"), waiting) if user_id}


def reapply_handler(scope: str) -> Callable[[Again], Again]:
    """Register the function that repeats forget operations of one scope after a restore.

    The function must be safe to call repeatedly.
    """

    def register(again: Again) -> Again:
        _again[scope] = again
        return again

    return register


def is_older_than_ledger() -> bool:
    """Return whether this database lacks the last forget operation in the ledger.

    In that case the database was restored from an older backup.
    """
    last = deque(ledger.read(), maxlen=1)
    if not last:
        return False
    with as_system():
        return not Operation.objects.filter(public_id=last[0].operation).exists()


def reapply_forgets() -> Iterator[Operation]:
    """Repeat, oldest first, each forget operation in the ledger whose data exists again.

    People and rows created later aren't affected: subjects and public ids are random, and rows
    without a public id are selected by time. Yield the enqueued operations.
    """
    for line in list(ledger.read()):  # a list, since each forget operation appends a line
        with as_system():
            user = User.objects.filter(subject=line.subject).first()
        if user is None or user.created_at > line.at:
            continue
        with as_user(user, changing=True):
            operation = _again[line.scope](user, line.target, line.at)
        if operation is not None:
            yield operation


@reapply_handler("user")
def _reapply_user(user: User, target: Mapping[str, Any], at: datetime) -> Operation | None:
    return forget_user(user=user, is_repeated=True)[0]


@handles(Kind.FORGET_USER, is_long=True)
def erase_user(run: Run) -> Mapping[str, Any]:
    """Erase all data of a person in the order of the registry, the account last.

    Safe to run twice: each step erases the rows that are left. If the account is already gone, only
    `forget_steps.finish` is run.
    """
    user = run.user()
    if user is None:
        return forget_steps.finish(run, user=None, scope="user")
    everything = registry.user_data_kinds()
    last = [participant for participant in everything if User in participant.models]
    tables = [model for item in everything for model in item.models if model is not User]
    rows = [model._base_manager.filter(user_id=user.pk) for model in tables]
    named = [item for item in rows if schema.has_column(item.model, "public_id")]
    account = User.objects.filter(pk=user.pk)
    forget_steps.prepare_erasure(
        run,
        user=user,
        texts=lambda: chain.from_iterable(map(erased_hashes.texts_in_rows, rows)),
        rows=lambda: [*named, account],
    )
    for participant in everything:
        if participant not in last:
            forget_steps.step(
                run, user=user, name=participant.name, erase=partial(participant.erase, user.pk)
            )
    # Erase the account, and the hashes kept for other forget operations of the person. If such an
    # operation has no receipt, its hashes for the scan of the disk are handed over to this one.
    run.step("account")
    with run.applying_as_system():
        erased: Counter[str] = Counter()
        for participant in last:
            erased.update(participant.erase(user.pk))
        own = Operation.objects.filter(subject=run.operation.subject)
        erased_hashes.drop(own.exclude(pk=run.operation.pk))
        disk_traces.reassign_hashes(own.filter(receipt__isnull=True), to=run.operation)
        audit_chain.note_step(run.operation, step="account", counts=erased)
    return forget_steps.finish(run, user=None, scope="user")
