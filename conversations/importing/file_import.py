"""Import a file completely in one transaction, or not at all.

The first pass over the file finds every error before any row is written. Then all rows are inserted
together: if the process is killed, the operation's lease is lost or the person is being forgotten,
everything is rolled back, and nobody ever sees half an import. Afterwards the operation indexes the
new rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import monotonic
from typing import IO, Any

from django.conf import settings
from django.core.files import File
from django.db import connection
from django.db.models import Exists, OuterRef
from django.utils import timezone

from conversations.importing.formats import file_rows
from conversations.importing.formats.file_rows import Format, OpenedFile
from conversations.models import Conversation, Episode, Message, Summary, Turn
from conversations.recording.episodes import EPISODE_CHARS
from foundation.database import statements
from foundation.errors import ApplicationError, Conflict, Invalid
from memories.indexing import reindexing, search_index
from memories.indexing.search_index import Entry
from memories.learning import learnability
from memories.models import DailyNote, LexicalEntry, Memory, TargetKind
from ops import audit_log, registry
from ops.access import as_user
from ops.accounts import users
from ops.forgetting import expired_rows
from ops.models import Import, Kind, Priority, User
from ops.portable_rows import LISTED, Loading
from ops.queue import outbox
from ops.queue.run import GiveWay, LeaseLost, Run
from ops.registry import handles
from ops.transfer import stored_files
from ops.transfer.exports import yield_to_forgets
from ops.transfer.stored_files import IMPORTS

_STILL_WANTED = "SELECT hidden_at FROM ops_user WHERE id = %s FOR SHARE SKIP LOCKED"
UNPACKED_TIMES = 10
"""Limit for an unpacked zip, as a multiple of MAX_IMPORT_BYTES."""
WATCHED_FROM = 2_000
"""Number of rows from which progress is reported; smaller imports take less than a second."""
_CHECK_EVERY = 1.0
_BATCH = 100
_LONGEST_NAME = 100


def request(
    *,
    user: User,
    file: IO[bytes],
    size: int,
    format: str = "",
    file_name: str = "",
    actor: str,
    surface: str,
    requested_by_key: int | None = None,
) -> Import:
    """Store the file, enqueue its import and write an audit entry.

    The person's page shows the import under `file_name`. Raise `Invalid` if the format is unknown
    or the file is empty or too large, `NoRoom` if the disk lacks space, and `Conflict`
    (`being_forgotten`) while the person is being forgotten.
    """
    users.check_not_deleted(user)
    if format and format not in list(Format):
        raise Invalid.field("format", f"Must be one of {', '.join(Format)}.")
    if size <= 0:
        raise Invalid.field("file", "The file is empty.")
    if size > settings.MAX_IMPORT_BYTES:
        raise too_large()
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
    report = {"file_name": file_name[:_LONGEST_NAME]} if file_name else {}
    row = Import.objects.create(
        user=user, operation=operation, format=format, path=name, report=report
    )
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


def too_large() -> Invalid:
    limit = f"{settings.MAX_IMPORT_BYTES // (1 << 20):,}"
    message = f"A file to import has at most {limit} MB."
    return Invalid(message, code="too_large", fields={"file": [message]})


def read(row: Import) -> OpenedFile:
    """Check the whole uploaded file, and return it opened for import; a zip is unpacked first.

    Raise `Invalid` if the file can't be read, `NoRoom` if the disk lacks space to unpack it, and
    `Conflict` if the file no longer exists.
    """
    storage = stored_files.storage_of(IMPORTS)
    if not row.path or not storage.exists(row.path):
        raise Conflict("The file was erased; please choose it again.")
    path = Path(storage.path(row.path))
    if file_rows.is_zip(path):
        with stored_files.open_part(row.path) as part:
            file_rows.unpack(path, into=part, limit=settings.MAX_IMPORT_BYTES * UNPACKED_TIMES)
        path = stored_files.part_path(row.path)
    return file_rows.open_file(path, named=Format(row.format) if row.format else None)


def apply(
    opened: OpenedFile, *, user: User, reference: str, on_progress: Callable[[int], None]
) -> Mapping[str, Any]:
    """Insert all rows of the file in the caller's transaction, enqueue learning, return the report.

    `reference` names the import in the sources of its memories. Nothing is learned from a file
    about several people, since it is unknown whom a statement is about.
    """
    users.check_not_deleted(user)
    own = users.settings_of(user)
    loading = Loading(
        user,
        reference=reference,
        takes_memories=own.longterm_enabled,
        learns=opened.people == 1,
        on_progress=on_progress,
    )
    known = {one.name: one for one in registry.user_data_kinds()}
    tables = opened.tables(lambda one: loading.leave_out(one.where, one.why.value))
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


def _add_episodes(loading: Loading) -> None:
    new = Turn.objects.filter(pk__in=loading.added[Turn])
    without_episode = new.filter(~Exists(Episode.everything.filter(turn=OuterRef("pk"))))
    Episode.objects.bulk_create(
        [
            Episode(
                user_id=turn.user_id,
                conversation_id=turn.conversation_id,
                turn=turn,
                created_at=turn.created_at,
            )
            for turn in without_episode.iterator()
        ],
        batch_size=1_000,
    )


def check_user_remains(user: User) -> None:
    """Check, as the last step before the commit, that the person isn't being forgotten.

    The check never waits for a running request to forget, because that request may be waiting for a
    conversation that the import has locked. Raise `GiveWay` while such a request is starting, and
    `Conflict` (`being_forgotten`) once it has been recorded.
    """
    found = statements.rows(_STILL_WANTED, [user.pk])
    if not found:
        raise GiveWay
    users.check_not_being_forgotten(User(hidden_at=found[0][0]))


def erase_file(row: Import) -> None:
    stored_files.delete(IMPORTS, [row.path] if row.path else [])
    Import.objects.filter(pk=row.pk).update(path="")


def _learn(loading: Loading) -> int:
    new = Turn.objects.filter(pk__in=loading.added[Turn], extracted_at__isnull=True)
    pks = learnability.teachable_turns(new).order_by("pk").values_list("pk", flat=True)
    payloads = [{"turn": pk} for pk in pks]
    subject = loading.user.subject
    return outbox.enqueue_all(
        Kind.EXTRACT_TURN,
        subject=subject,
        payloads=payloads,
        priority=Priority.BULK,
        serial_key=str(subject),
    )


def finish(row: Import, *, report: Mapping[str, Any]) -> None:
    """Mark the import as done. Call it in the transaction that inserts the rows."""
    row.report, row.finished_at = {**row.report, **report}, timezone.now()
    row.format = str(report["format"])
    row.save(update_fields=["report", "finished_at", "format"])


@handles(Kind.IMPORT, is_long=True)
def run_import(run: Run) -> Mapping[str, Any] | None:
    """Read a file, insert all its rows in one transaction, and index them.

    Safe to run twice: nothing is written before the transaction, and after it only indexing
    remains. The file is deleted when the import has succeeded or been refused.
    """
    user = run.user()
    if user is None or user.hidden_at is not None:
        return None
    yield_to_forgets(user)
    with as_user(user):
        row = Import.objects.filter(operation=run.operation).first()
    if row is None:
        return None
    if row.finished_at is None:
        _import_rows(run, row, user=user)
    with as_user(user):
        erase_file(row)
    indexed = index_missing(run, user=user)
    counts = {name: row.report.get(name, 0) for name in ("conversations", "messages", "memories")}
    return {**counts, "indexed": indexed}


def _import_rows(run: Run, row: Import, *, user: User) -> None:
    try:
        run.step("read")
        opened = read(row)
        run.step("apply", done=0, total=opened.total)
        with _Watch(run, user, total=opened.total) as watch, as_user(user):
            reference = run.operation.public_id
            report = apply(
                opened, user=user, reference=reference, on_progress=watch.report_progress
            )
            finish(row, report=report)
            check_user_remains(user)
            if not outbox.has_lease(run.operation):
                raise LeaseLost(run.operation.public_id)
    except ApplicationError:
        with as_user(user):
            erase_file(row)
        raise


class _Watch:
    """Reports the progress of the long transaction, and checks whether it must stop.

    It uses a separate database connection, since progress written in the long transaction would be
    invisible until the commit.
    """

    def __init__(self, run: Run, user: User, *, total: int) -> None:
        self._run, self._user, self._total = run, user, total
        self._checked_at = monotonic()
        self._thread: ThreadPoolExecutor | None = None

    def __enter__(self) -> _Watch:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._thread is not None:
            # Each thread has its own database connection; close that of the watch thread.
            self._thread.submit(lambda: connection.close()).result()
            self._thread.shutdown()

    def report_progress(self, done: int) -> None:
        """Report progress about once a second.

        Raise `GiveWay` or `LeaseLost` if the import must stop.
        """
        now = monotonic()
        if self._total < WATCHED_FROM or now - self._checked_at < _CHECK_EVERY:
            return
        self._checked_at = now
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, thread_name_prefix="import-watch")
        self._thread.submit(self._report_and_check, done).result()

    def _report_and_check(self, done: int) -> None:
        self._run.step("apply", done=min(done, self._total), total=self._total)
        yield_to_forgets(self._user)


_INDEXED: Mapping[TargetKind, Any] = {
    TargetKind.MESSAGE: Message,
    TargetKind.EPISODE: Episode,
    TargetKind.SUMMARY: Summary,
    TargetKind.NOTE: DailyNote,
}


def index_missing(run: Run, *, user: User) -> int:
    """Index every row of the person that has no search index entry; return the number of rows.

    Works in batches, so that the person's other operations can run in between, and stops if the
    person asks to forget something. Safe to repeat.
    """
    count = 0
    for kind, model in _INDEXED.items():
        for entries in _missing(kind, model, user):
            vectors = search_index.embed([entry.text for entry in entries])
            with run.applying(user):
                _store(model, entries, vectors, user=user)
            count += len(entries)
            _report_progress(run, user, count)
    return count + _index_memories(run, user, count)


def _missing(kind: TargetKind, model: Any, user: User) -> Iterator[list[Entry]]:
    indexed = LexicalEntry.objects.filter(user=user, target_kind=kind, target_id=OuterRef("pk"))
    longest = EPISODE_CHARS if kind == TargetKind.EPISODE else None
    after = 0
    while True:
        with as_user(user):
            unindexed = model.objects.filter(~Exists(indexed), user=user, pk__gt=after)
            rows = list(unindexed.order_by("pk")[:_BATCH])
            texts = reindexing.TEXTS[kind]([row.pk for row in rows])
        if not rows:
            return
        yield [
            Entry(kind, row.pk, text[:longest], getattr(row, "conversation_id", None))
            for row in rows
            if (text := texts.get(row.pk))
        ]
        after = rows[-1].pk


def _store(model: Any, entries: list[Entry], vectors: Any, *, user: User) -> None:
    rows = model.objects.filter(user=user, pk__in=[entry.target_id for entry in entries])
    left = set(rows.values_list("pk", flat=True))
    places = [place for place, entry in enumerate(entries) if entry.target_id in left]
    if places:
        chosen = [entries[place] for place in places]
        search_index.store(user=user, entries=chosen, vectors=vectors[places])


def _index_memories(run: Run, user: User, count: int) -> int:
    done, after = 0, 0
    while True:
        with as_user(user):
            unindexed = Memory.visible.filter(user=user, indexed_at__isnull=True, pk__gt=after)
            memory = unindexed.order_by("pk").first()
        if memory is None:
            return done
        after = memory.pk
        vectors, pieces = search_index.embed_memory(memory.content)
        with run.applying(user):
            current = Memory.visible.select_for_update(of=("self",)).filter(pk=memory.pk).first()
            if current is not None and current.content == memory.content:
                search_index.store_memory(memory=current, vectors=vectors, pieces=pieces)
                done += 1
        if done % _BATCH == 0:
            _report_progress(run, user, count + done)


def _report_progress(run: Run, user: User, count: int) -> None:
    run.step("index", done=count, total=0)
    yield_to_forgets(user)
