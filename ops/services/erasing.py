"""What every forget does: hide exports and answers, count each step, issue the receipt."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from django.db.models import Q

from memcenter.lib.errors import Conflict
from ops.models import (
    IdempotencyRecord,
    Import,
    Kind,
    Operation,
    Priority,
    Receipt,
    Status,
    User,
)
from ops.services import exporting, outbox, receipts, stored_files
from ops.services.receipts import Counts
from ops.services.worker import Run

FORGET_KINDS = (
    Kind.FORGET_MEMORY,
    Kind.FORGET_MESSAGE,
    Kind.FORGET_CONVERSATION,
    Kind.CLEAR_CONVERSATION,
    Kind.FORGET_PROJECT,
    Kind.FORGET_USER,
)
_UNFINISHED = (Status.PENDING, Status.RUNNING, Status.FAILED)


def begin(
    kind: Kind,
    *,
    user: User,
    payload: Mapping[str, Any],
    about: Q | None = None,
    requested_by_key: int | None = None,
) -> Operation:
    """Enqueue a forget in the transaction that hides what it is about.

    Exports and stored answers of the person are hidden, waiting operations that match `about`
    are withdrawn. `payload` holds ids only.
    """
    exporting.hide_exports(user=user, conversations=concerned(kind, payload))
    IdempotencyRecord.objects.filter(user=user, body__isnull=False).update(
        body=None, body_erased=True
    )
    if about is not None:
        withdraw(user=user, about=about)
    return outbox.enqueue(
        kind,
        subject=user.subject,
        payload=payload,
        priority=Priority.FORGET,
        serial_key=str(user.subject),
        requested_by_key=requested_by_key,
    )


def take_up(kind: Kind, *, user: User, payload: Mapping[str, Any]) -> Operation | None:
    """The forget of these same ids that isn't done yet; one that had failed is tried again."""
    found = (
        Operation.objects.filter(subject=user.subject, kind=kind, status__in=_UNFINISHED)
        .filter(payload__contains=dict(payload))
        .order_by("pk")
        .first()
    )
    if found is not None and found.status == Status.FAILED:
        outbox.retry(found)
        found.refresh_from_db()
    return found


def withdraw(*, user: User, about: Q) -> None:
    """Cancel what waits and matches; forgets stay, for they only erase."""
    waiting = Operation.objects.filter(about, subject=user.subject, status=Status.PENDING)
    for operation in waiting.exclude(kind__in=FORGET_KINDS):
        try:
            outbox.cancel(operation)
        except Conflict:  # a worker was faster: its handler looks again before it applies
            continue


def step(run: Run, *, user: User, name: str, erase: Callable[[], Counts]) -> Counts:
    """Run one step in a transaction of its own, together with the count of what it erased."""
    run.step(name)
    with run.applying(user):
        counts = erase()
        receipts.note(run.operation, step=name, counts=counts)
    return counts


def concerned(kind: str, payload: Mapping[str, Any]) -> list[int] | None:
    """The conversations whose exports a forget makes untrue; None: whichever there are."""
    if kind == Kind.FORGET_USER:
        return None
    return [payload["conversation"]] if "conversation" in payload else []


def erase_transfers(user: User, conversations: Collection[int] | None = None) -> Counts:
    """Erase what was exported (see `drop_exports`), and the files of imports that are done.

    What is still being made starts again without what was forgotten.
    """
    imports = Import.objects.filter(user=user, finished_at__isnull=False).exclude(path="")
    files = stored_files.delete(stored_files.IMPORTS, imports.values_list("path", flat=True))
    imports.update(path="")
    exports = exporting.drop_exports(user=user, conversations=conversations)
    return {"ops_export": exports, "files:transfer": files + exports}


def finish(
    run: Run,
    *,
    user: User | None,
    scope: str,
    kept: Iterable[str] = (),
    then: Callable[[], object] | None = None,
) -> Mapping[str, Any]:
    """The last step: what follows, the receipt and its audit event, in one transaction."""
    if user is None:  # the account went meanwhile, and everything with it
        with run.applying_as_system():
            return _result(receipts.issue(run.operation, scope=scope))
    with run.applying(user):
        if then is not None:
            then()
        return _result(receipts.issue(run.operation, scope=scope, kept=kept))


def _result(receipt: Receipt) -> Mapping[str, Any]:
    return {"receipt_id": receipt.public_id}
