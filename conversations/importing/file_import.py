"""Imports: a file is imported completely in one transaction, or not at all.

The first reading finds every error in the file before any row is written. Then all rows are
inserted together: a kill, a cancelled lease or a forget of the same person rolls everything back,
and no reader ever sees half an import.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

from django.conf import settings
from django.core.files import File
from django.db.models import Exists, OuterRef
from django.utils import timezone

from conversations.importing.formats import archive, file_rows
from conversations.importing.formats.file_rows import Format, Opened
from conversations.importing.formats.types import Skipped
from conversations.models import Conversation, Episode, Message, Turn, Withheld
from memcenter.lib.database import statements
from memcenter.lib.errors import Conflict, Invalid
from memories.models import Memory
from ops import registry
from ops.accounts import users
from ops.audit import audit_log
from ops.forgetting import expired_rows
from ops.models import Import, Kind, Priority, User
from ops.queue import outbox
from ops.queue.run import GiveWay
from ops.transfer import stored_files
from ops.transfer.import_rows import LISTED, Loading
from ops.transfer.stored_files import IMPORTS

_STILL_WANTED = "SELECT hidden_at FROM ops_user WHERE id = %s FOR SHARE SKIP LOCKED"
UNPACKED_TIMES = 10
"""A packed file may unpack to so many times the largest file that is taken."""


def request(
    *,
    user: User,
    file: IO[bytes],
    size: int,
    format: str = "",
    actor: str,
    surface: str,
    requested_by_key: int | None = None,
) -> Import:
    """Store the file, enqueue its import and audit the request.

    Raises `Invalid` for an unknown format or an empty file, `too_large`, `NoRoom`, and `Conflict`
    (`being_forgotten`).
    """
    users.check_still_here(user)
    if format and format not in list(Format):
        raise Invalid.field("format", f"Must be one of {', '.join(Format)}.")
    check_size(size)
    expired_rows.erase_imports(user)
    operation = outbox.enqueue(
        Kind.IMPORT,
        subject=user.subject,
        payload={},
        priority=Priority.BULK,
        serial_key=f"import:{user.subject}",
        requested_by_key=requested_by_key,
    )
    name = stored_files.new_name("upload")
    row = Import.objects.create(user=user, operation=operation, format=format, path=name)
    stored_files.receive(IMPORTS, name, File(file))
    audit_log.append(
        "import.requested",
        actor=actor,
        surface=surface,
        subject=user.subject,
        target=operation.public_id,
        details={"bytes": size, "format": format},
    )
    return row


def check_size(size: int) -> None:
    if size <= 0:
        raise Invalid.field("file", "The file is empty.")
    if size > settings.MAX_IMPORT_BYTES:
        raise too_large()


def too_large() -> Invalid:
    limit = f"{settings.MAX_IMPORT_BYTES // (1 << 20):,}"
    message = f"A file to import has at most {limit} MB."
    return Invalid(message, code="too_large", fields={"file": [message]})


def read(row: Import) -> Opened:
    """Read the whole file. Raises `Invalid`, `NoRoom`, and `Conflict` if the file is gone."""
    storage = stored_files.place(IMPORTS)
    if not row.path or not storage.exists(row.path):
        raise Conflict("The file was erased; please choose it again.")
    path = Path(storage.path(row.path))
    if archive.is_zip(path):
        with stored_files.writing(row.path) as part:
            archive.unpack(path, into=part, limit=settings.MAX_IMPORT_BYTES * UNPACKED_TIMES)
        path = stored_files.part_of(row.path)
    return file_rows.open_file(path, named=Format(row.format) if row.format else None)


def apply(
    opened: Opened, *, user: User, reference: str, on_progress: Callable[[int], None]
) -> Mapping[str, Any]:
    """Insert all rows in the caller's transaction and enqueue learning; return the report.

    Nothing is learned from a file about several people, since the speakers can't be told apart.
    """
    users.check_still_here(user)
    own = users.settings_of(user)
    loading = Loading(
        user,
        reference=reference,
        takes_memories=own.longterm_enabled,
        learns=opened.people == 1,
        on_progress=on_progress,
    )
    known = {one.name: one for one in registry.participants()}
    tables = opened.tables(_reporting(loading))
    if opened.format == Format.MEMORY_CENTER:
        order = {name: place for place, name in enumerate(reversed(list(known)))}
        tables = iter(sorted(tables, key=lambda one: order.get(one[0], -1)))
    for name, rows in tables:
        if name in known:
            known[name].load(loading, rows)
    loading.finish()
    if opened.format != Format.MEMORY_CENTER and own.episodic_enabled:
        _add_episodes(loading)
    learning = _learn(loading) if own.longterm_enabled and loading.learns else 0
    return _report(opened, loading, learning=learning)


def check_still_wanted(user: User) -> None:
    """Check, as the last step before the commit, that no forget of the person has begun.

    This must not wait for a forget, because the forget may be waiting for a conversation locked
    here. Raises `GiveWay` while a forget begins, and `Conflict` (`being_forgotten`) afterwards.
    """
    found = statements.rows(_STILL_WANTED, [user.pk])
    if not found:
        raise GiveWay
    users.check_not_being_forgotten(User(hidden_at=found[0][0]))


def erase_file(row: Import) -> None:
    stored_files.delete(IMPORTS, [row.path] if row.path else [])
    Import.objects.filter(pk=row.pk).update(path="")


def _reporting(loading: Loading) -> Callable[[Skipped], None]:
    def report(skipped: Skipped) -> None:
        loading.leave_out(skipped.where, skipped.why.value)

    return report


def _add_episodes(loading: Loading) -> None:
    new = Turn.objects.filter(pk__in=loading.added[Turn])
    bare = new.filter(~Exists(Episode.everything.filter(turn=OuterRef("pk"))))
    Episode.objects.bulk_create(
        [
            Episode(
                user_id=turn.user_id,
                conversation_id=turn.conversation_id,
                turn=turn,
                created_at=turn.created_at,
            )
            for turn in bare.iterator()
        ],
        batch_size=1_000,
    )


def _learn(loading: Loading) -> int:
    new = Turn.objects.filter(
        pk__in=loading.added[Turn],
        extracted_at__isnull=True,
        user_message__withheld=Withheld.NO,
        assistant_message__withheld=Withheld.NO,
    )
    payloads = [{"turn": pk} for pk in new.order_by("pk").values_list("pk", flat=True)]
    subject = loading.user.subject
    return outbox.enqueue_all(
        Kind.EXTRACT_TURN,
        subject=subject,
        payloads=payloads,
        priority=Priority.BULK,
        serial_key=str(subject),
    )


def _report(opened: Opened, loading: Loading, *, learning: int) -> Mapping[str, Any]:
    names = {"conversations": Conversation, "messages": Message, "memories": Memory}
    return {
        "format": opened.format.value,
        **{name: len(loading.added[model]) for name, model in names.items()},
        "already_there": sum(loading.there.values()),
        "turns_to_learn_from": learning,
        "people": opened.people,
        "skipped": [{"where": one.where, "why": one.why} for one in loading.left_out[:LISTED]],
        "skipped_count": loading.left_out_count,
    }


def finish(row: Import, *, report: Mapping[str, Any]) -> None:
    """Mark the import as done, in the transaction that inserts the rows."""
    row.report, row.finished_at = dict(report), timezone.now()
    row.format = str(report["format"])
    row.save(update_fields=["report", "finished_at", "format"])
