"""Exports: requested, made by an operation, downloadable for a day, erased by a forget."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta

from django.conf import settings
from django.db.models import Q, QuerySet
from django.utils import timezone

from memcenter.lib.errors import Invalid, NotFound
from ops.access import as_system
from ops.accounts import users
from ops.audit import audit_log
from ops.models import Export, Kind, Operation, Priority, Status, User
from ops.queue import outbox
from ops.queue.run import GiveWay, Run
from ops.transfer import stored_files
from ops.transfer.stored_files import EXPORTS

FORMATS = ("json", "zip")
_OVER = (Status.SUCCEEDED, Status.CANCELLED)
_SOON = timedelta(seconds=10)


def request(
    *,
    user: User,
    format: str,
    actor: str,
    surface: str,
    conversation: tuple[int, str] | None = None,
    requested_by_key: int | None = None,
) -> Export:
    """Request an export of everything, or of one conversation (its key and public id).

    Audited. Raises `Invalid` for an unknown format and `Conflict` (`being_forgotten`).
    """
    users.check_still_here(user)
    if format not in FORMATS:
        raise Invalid.field("format", f"Must be one of {', '.join(FORMATS)}.")
    key, public_id = conversation or (None, "")
    operation = outbox.enqueue(
        Kind.EXPORT_USER if key is None else Kind.EXPORT_CONVERSATION,
        subject=user.subject,
        payload={} if key is None else {"conversation": key},
        priority=Priority.BULK,
        serial_key=f"export:{user.subject}",
        requested_by_key=requested_by_key,
    )
    export = Export.objects.create(
        user=user, operation=operation, conversation_public_id=public_id, format=format
    )
    audit_log.append(
        "export.requested",
        actor=actor,
        surface=surface,
        subject=user.subject,
        target=operation.public_id,
        details={"scope": "everything" if key is None else "conversation", "format": format},
    )
    return export


def list_exports(user: User) -> QuerySet[Export]:
    """Return the person's visible exports, newest first."""
    visible = Export.objects.filter(user=user).exclude(operation__status=Status.CANCELLED)
    gone = Q(operation__status=Status.SUCCEEDED) & (
        Q(hidden_at__isnull=False) | Q(expires_at__lte=timezone.now()) | Q(sha256="")
    )
    return visible.exclude(gone).select_related("operation").order_by("-pk")


def ready(*, user: User, op_id: str) -> Export:
    """Return a finished export for download. Raises `NotFound`, also for an expired one."""
    found = list_exports(user).filter(operation__public_id=op_id, hidden_at__isnull=True).first()
    if found is None or not is_ready(found):
        raise NotFound("There is no such export: not yet, or not any more.")
    return found


def is_ready(export: Export) -> bool:
    return bool(export.sha256) and export.operation.status == Status.SUCCEEDED


def start(run: Run, *, user: User) -> Export | None:
    """Begin an attempt under a new file name, after deleting the previous attempt's file.

    Returns None if there is nothing to do. Raises `GiveWay` while a forget is due.
    """
    give_way(user)
    with run.applying(user):
        export = Export.objects.select_for_update().filter(operation=run.operation).first()
        if export is None or (export.sha256 and export.hidden_at is None):
            return None
        stored_files.delete(EXPORTS, [export.path] if export.path else [])
        export.path, export.sha256, export.bytes = stored_files.new_name(export.format), "", 0
        export.hidden_at = None
        export.save(update_fields=["path", "sha256", "bytes", "hidden_at"])
    return export


def publish(run: Run, export: Export, *, user: User, sha256: str, size: int) -> None:
    """Move the finished file to its download place.

    The row is locked while the file moves, so a forget either waits or came first. Raises
    `GiveWay` if it came first.
    """
    with run.applying(user):
        mine = Export.objects.select_for_update().filter(pk=export.pk, path=export.path)
        current = mine.filter(hidden_at__isnull=True).first()
        if current is not None:
            stored_files.keep(EXPORTS, export.path)
            current.sha256, current.bytes = sha256, size
            current.expires_at = timezone.now() + timedelta(hours=settings.EXPORT_HOURS)
            current.save(update_fields=["sha256", "bytes", "expires_at"])
    if current is None:
        stored_files.delete(EXPORTS, [export.path])
        raise GiveWay


def give_way(user: User) -> None:
    """Raise `GiveWay` if a forget of the person is running or queued."""
    due = Q(status=Status.PENDING, run_after__lte=timezone.now() + _SOON)
    with as_system():
        forgets = Operation.objects.filter(subject=user.subject, priority=Priority.FORGET)
        waits = forgets.filter(due | Q(status=Status.RUNNING)).exists()
    if waits:
        raise GiveWay


def hide_exports(*, user: User, conversations: Collection[int] | None) -> int:
    """Hide exports that may contain forgotten rows, in the transaction that hides the rows.

    A running export notices this and starts again. `conversations` holds the keys of the
    conversations concerned (empty if only memories are, None for all). Exports of everything are
    always hidden. Returns how many were hidden.
    """
    return _that_may_hold(user, conversations).update(hidden_at=timezone.now())


def drop_exports(*, user: User, conversations: Collection[int] | None) -> int:
    """Erase the files of the same exports, also of running ones; return how many."""
    rows = _that_may_hold(user, conversations).select_for_update()
    names = list(rows.exclude(path="").values_list("path", flat=True))
    count = stored_files.delete(EXPORTS, names)
    rows.filter(operation__status__in=_OVER).delete()
    _that_may_hold(user, conversations).update(
        hidden_at=timezone.now(), path="", sha256="", bytes=0
    )
    return count


def drop_exports_of(*, user: User, conversation: int) -> int:
    """Erase all exports of a deleted conversation, by its key; return how many.

    This includes failed and running ones, which would still name the conversation. A retry of
    them does nothing.
    """
    rows = Export.objects.filter(user=user, operation__payload__conversation=conversation)
    mine = rows.exclude(conversation_public_id="").select_for_update(of=("self",))
    stored_files.delete(EXPORTS, mine.exclude(path="").values_list("path", flat=True))
    return int(mine.delete()[0])


def _that_may_hold(user: User, conversations: Collection[int] | None) -> QuerySet[Export]:
    exports = Export.objects.filter(user=user)
    if conversations is None:
        return exports
    of_these = Q(operation__payload__conversation__in=list(conversations))
    return exports.filter(Q(conversation_public_id="") | of_these)


def expired() -> QuerySet[Export]:
    return Export.objects.filter(expires_at__lte=timezone.now())


def erase(rows: QuerySet[Export]) -> None:
    """Delete these exports with their files."""
    rows = rows.select_for_update(of=("self",))
    stored_files.delete(EXPORTS, rows.exclude(path="").values_list("path", flat=True))
    rows.delete()
