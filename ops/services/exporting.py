"""Exports: asked for, made by an operation, downloaded for a day, erased by forgetting."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta

from django.conf import settings
from django.db.models import Q, QuerySet
from django.utils import timezone

from memcenter.lib.errors import Invalid, NotFound
from ops.access import as_system
from ops.models import Export, Kind, Operation, Priority, Status, User
from ops.services import audit, outbox, stored_files, users
from ops.services.stored_files import EXPORTS
from ops.services.worker import GiveWay, Run

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
    """Ask for an export of everything, or of one conversation (its key and public id).

    It is audited. Raises `Invalid` for an unknown format, `Conflict` (`being_forgotten`).
    """
    users.check_not_being_forgotten(User.objects.get(pk=user.pk))
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
    audit.append(
        "export.requested",
        actor=actor,
        surface=surface,
        subject=user.subject,
        target=operation.public_id,
        details={"scope": "everything" if key is None else "conversation", "format": format},
    )
    return export


def of(user: User) -> QuerySet[Export]:
    """What the person asked for and is still to be seen, newest first."""
    visible = Export.objects.filter(user=user).exclude(operation__status=Status.CANCELLED)
    gone = Q(operation__status=Status.SUCCEEDED) & (
        Q(hidden_at__isnull=False) | Q(expires_at__lte=timezone.now()) | Q(sha256="")
    )
    return visible.exclude(gone).select_related("operation").order_by("-pk")


def ready(*, user: User, op_id: str) -> Export:
    """A finished export that may be downloaded. Raises `NotFound`.

    One that expired, or that a forget erased, isn't there any more.
    """
    found = of(user).filter(operation__public_id=op_id, hidden_at__isnull=True).first()
    if found is None or not is_ready(found):
        raise NotFound("There is no such export: not yet, or not any more.")
    return found


def is_ready(export: Export) -> bool:
    return bool(export.sha256) and export.operation.status == Status.SUCCEEDED


def start(run: Run, *, user: User) -> Export | None:
    """Begin an attempt: a fresh name, nothing left of an attempt before.

    None when there is nothing to do (any more). Raises `GiveWay` while a forget is due.
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
    """Make the finished part what is downloaded.

    The row stays locked while the file moves: a forget waits for it, or was first. Raises
    `GiveWay` when it was.
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
    """Raises `GiveWay` when a forget of the person runs or is about to."""
    due = Q(status=Status.PENDING, run_after__lte=timezone.now() + _SOON)
    with as_system():
        forgets = Operation.objects.filter(subject=user.subject, priority=Priority.FORGET)
        waits = forgets.filter(due | Q(status=Status.RUNNING)).exists()
    if waits:
        raise GiveWay


def hide_exports(*, user: User, conversations: Collection[int] | None) -> int:
    """In the transaction that hides what is forgotten: no export shows it from now on.

    One that is being made notices and starts again. `conversations` are the keys of those that
    are concerned, empty where only memories are; None: all exports. Exports of everything always
    go. Gives how many.
    """
    return _that_may_hold(user, conversations).update(hidden_at=timezone.now())


def drop_exports(*, user: User, conversations: Collection[int] | None) -> int:
    """Erase the files of the same exports, also of those that are being made; gives how many."""
    rows = _that_may_hold(user, conversations).select_for_update()
    names = list(rows.exclude(path="").values_list("path", flat=True))
    count = stored_files.delete(EXPORTS, names)
    rows.filter(operation__status__in=_OVER).delete()
    _that_may_hold(user, conversations).update(
        hidden_at=timezone.now(), path="", sha256="", bytes=0
    )
    return count


def drop_exports_of(*, user: User, conversation: int) -> int:
    """Erase all exports of a conversation (by its key) that is no more; gives how many.

    Those that failed or are being made would still name it: tried again, they do nothing.
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


def erase_expired() -> int:
    """Erase every export that is over its time, with its file; gives how many."""
    over = Export.objects.filter(expires_at__lte=timezone.now()).select_for_update(of=("self",))
    count = stored_files.delete(EXPORTS, over.exclude(path="").values_list("path", flat=True))
    over.delete()
    return count
