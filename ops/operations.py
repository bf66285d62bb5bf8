"""Handlers of what concerns a whole person."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import partial
from typing import Any

from ops import registry
from ops.models import Kind, User
from ops.registry import UserData, handles
from ops.services import erasing, receipts
from ops.services.worker import Run


@handles(Kind.FORGET_USER)
def forget_user(run: Run) -> Mapping[str, Any]:
    """Erase every kind of data of a person in the registry's order, the account last.

    Safe to run twice: each step erases what it still finds; the account goes in the transaction
    that issues the receipt, so where there is no account any more there is a receipt.
    """
    user = run.user()
    if user is None:
        return erasing.finish(run, user=None, scope="user")
    everything = registry.participants()
    last = [one for one in everything if User in one.models]
    for one in everything:
        if one not in last:
            erasing.step(run, user=user, name=one.name, erase=partial(one.erase, user.pk))
    return _finish(run, last, user_id=user.pk)


def _finish(run: Run, last: list[UserData], *, user_id: int) -> Mapping[str, Any]:
    run.step("account")
    with run.applying_as_system():
        erased: Counter[str] = Counter()
        for one in last:
            erased.update(one.erase(user_id))
        receipts.note(run.operation, step="account", counts=erased)
        receipt = receipts.issue(run.operation, scope="user")
    return {"receipt_id": receipt.public_id}
