"""Operation handlers for all data of a person."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import partial
from itertools import chain
from typing import Any

from django.db.models import Model

from ops import registry
from ops.audit import receipts
from ops.disk import disk_traces
from ops.forgetting import erasure
from ops.models import Kind, Operation, User
from ops.queue.run import Run
from ops.registry import UserData, handles
from ops.residue import erased_hashes, known_places
from ops.residue.known_places import Cached


@handles(Kind.FORGET_USER, is_long=True)
def forget_user(run: Run) -> Mapping[str, Any]:
    """Erase every kind of data of a person in the registry's order, the account last.

    Safe to run twice: each step erases the rows that are left. If the account is gone, only the
    scan, the disk and the receipt remain.
    """
    user = run.user()
    if user is None:
        return erasure.finish(run, user=None, scope="user")
    everything = registry.participants()
    last = [one for one in everything if User in one.models]
    _remember(run, user, everything)
    for one in everything:
        if one not in last:
            erasure.step(run, user=user, name=one.name, erase=partial(one.erase, user.pk))
    _erase_account(run, last, user_id=user.pk)
    return erasure.finish(run, user=None, scope="user")


def _remember(run: Run, user: User, everything: list[UserData]) -> None:
    """Remember the texts and ids of all rows before any is erased."""
    tables = [model for one in everything for model in one.models if model is not User]
    rows = [model._base_manager.filter(user_id=user.pk) for model in tables]
    named = [one for one in rows if _has_public_id(one.model)]
    account = User.objects.filter(pk=user.pk)
    erasure.remember(
        run,
        user=user,
        texts=lambda: chain.from_iterable(map(erased_hashes.words_of, rows)),
        rows=lambda: [*named, account],
    )


def _has_public_id(model: type[Model]) -> bool:
    return any(column.name == "public_id" for column in model._meta.concrete_fields)


def _erase_account(run: Run, last: list[UserData], *, user_id: int) -> None:
    """Erase the account, and the texts that its failed forgets still looked for."""
    run.step("account")
    with run.applying_as_system():
        erased: Counter[str] = Counter()
        for one in last:
            erased.update(one.erase(user_id))
        own = Operation.objects.filter(subject=run.operation.subject)
        erased_hashes.drop(own.exclude(pk=run.operation.pk))
        disk_traces.hand_over(own.filter(receipt__isnull=True), to=run.operation)
        receipts.note(run.operation, step="account", counts=erased)


known_places.caches(
    Cached("worker-asked", "ops.queue.broker"),
    Cached("worker-heartbeat", "ops.tasks"),
    Cached("operations-renewed", "ops.queue.leases"),
    Cached("signin:", "ops.accounts.failed_sign_ins"),
    Cached("mc:rate:", "memcenter.rest.requests.throttling"),
)
