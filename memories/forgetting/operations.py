"""Operation handlers that erase memories and projects, and the cleanup of expired rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from conversations.models import Turn
from foundation.database import cascades
from memories.files import file_copies
from memories.forgetting import erased_texts, memory_erasure, memory_forgets
from memories.forgetting.erased_texts import ErasedTexts
from memories.indexing import milvus_sync
from memories.models import Memory, MemoryFile, Project, RecallTrace
from memories.writing import memory_writes
from ops.access import as_system, as_user
from ops.audit_chain import Counts
from ops.forgetting import forget_steps
from ops.forgetting.person_forgets import reapply_handler
from ops.models import IdempotencyRecord, Kind, Operation, SignInLink, User
from ops.queue.run import AT_ONCE, Run, delete_rows, work_in_batches
from ops.registry import handles
from ops.residue import erased_hashes, stores
from ops.residue.stores import Cached

_KEPT = ("messages",)


@handles(Kind.FORGET_MEMORY, is_long=True)
def forget_memory(run: Run) -> Mapping[str, Any]:
    """Erase the memories that the operation lists, with everything derived from them.

    Safe to run twice: each round erases only rows that are still there.
    """
    user = run.user()
    if user is not None:
        _erase(run, user, run.payload["memories"])
    return forget_steps.finish(run, user=user, scope="memory", kept=_KEPT)


@handles(Kind.FORGET_PROJECT, is_long=True)
def forget_project(run: Run) -> Mapping[str, Any]:
    """Erase a project's memories, then the project.

    Safe to run twice: the project is erased last, since it is needed to find its memories.
    """
    user = run.user()
    if user is not None:
        pk = run.payload["project"]
        with as_user(user):
            own = Memory.everything.filter(user=user, project=pk).values_list("pk", flat=True)
            gone = sorted(memory_forgets.add_archived(user, own))
        _erase(run, user, gone, projects=[pk])
        until = run.operation.created_at
        forget_steps.step(
            run, user=user, name="project", erase=lambda: _erase_project(user, pk, until)
        )
    return forget_steps.finish(run, user=user, scope="project", kept=_KEPT)


def _erase(run: Run, user: User, gone: list[int], *, projects: Sequence[int] = ()) -> None:
    lost_sources = Q(memory__in=gone)
    own = Project.everything.filter(user=user, pk__in=projects)
    found, written = ErasedTexts(), list[str]()

    def collect_texts() -> list[str]:
        nonlocal found, written
        found = erased_texts.collect(user=user, lost_sources=lost_sources, gone=gone)
        texts = [*found.texts, *erased_hashes.texts_in_rows(own)]
        written = erased_texts.remaining_texts(user=user, texts=texts, leaving=found)
        memory_erasure.blank_questions_about(user=user, texts=texts)
        return texts

    forget_steps.prepare_erasure(
        run,
        user=user,
        texts=collect_texts,
        rows=lambda: [*found.rows, own],
        staying=lambda: [*found.staying, *written],
    )
    memory_forgets.erase_in_rounds(run, user=user, lost_sources=lost_sources, gone=gone)
    operation = run.operation
    steps: dict[str, Callable[[], Counts]] = {
        "copies": lambda: memory_erasure.erase_copies(user=user, operation=operation),
        "exports": lambda: forget_steps.erase_transfers(user, []),
    }
    for name, erase in steps.items():
        forget_steps.step(run, user=user, name=name, erase=erase)


def _erase_project(user: User, pk: int, until: datetime) -> Counts:
    own = Project.everything.filter(user=user, pk=pk)
    before = Turn.everything.filter(user=user, user_message__recorded_at__lte=until)
    before.filter(project_key__in=own.values("key")).update(project_key="")
    return cascades.delete(own)


stores.register_independent_texts(erased_texts.independent_texts)
stores.register_independent_texts(erased_texts.texts_written_since)
stores.register_personal_folders(file_copies.STORAGE)
stores.register_store(milvus_sync.InMilvus())
stores.register_caches(
    Cached("survey:", "memories.pages.memory_list", of_user=memory_writes.facet_key)
)


@reapply_handler("memory")
def _reapply_memories(user: User, target: Mapping[str, Any], at: datetime) -> Operation | None:
    wanted = Q(public_id__in=target["memories"])
    memories = list(Memory.everything.filter(wanted, user=user, created_at__lte=at))
    return memory_forgets.forget_memories(user=user, memories=memories) if memories else None


@reapply_handler("project")
def _reapply_project(user: User, target: Mapping[str, Any], at: datetime) -> Operation | None:
    """Forget a project again after a backup was restored.

    Return None if the project doesn't exist. The creation time is checked too, since after a
    restore another project may have the same primary key.
    """
    own = Project.everything.filter(user=user, pk=target["project"], created_at__lte=at)
    project = own.first()
    return memory_forgets.forget_project(user=user, project=project) if project else None


def forget_binned(run: Run) -> int:
    """Forget memories whose time in the recycle bin has expired; return the number of memories.

    At most `AT_ONCE` memories are forgotten in one call. The memories of each user are forgotten in
    a separate transaction, by the service behind the "Forget now" button.
    """
    with as_system():
        due = Memory.visible.filter(purge_at__lte=timezone.now()).order_by("pk")
        owners: dict[int, list[int]] = defaultdict(list)
        for pk, user_id in due.values_list("pk", "user")[:AT_ONCE]:
            owners[user_id].append(pk)
        users = User.objects.in_bulk(list(owners))
    for user_id, memory_ids in owners.items():
        run.step("bin")
        with as_user(users[user_id], changing=True):
            # Read again, since a memory may have been restored in the meantime.
            still = list(Memory.visible.filter(pk__in=memory_ids, purge_at__lte=timezone.now()))
            if still:
                memory_forgets.forget_memories(user=users[user_id], memories=still)
    return sum(map(len, owners.values()))


def erase_binned_files(run: Run) -> int:
    """Erase users' own notes after `RECYCLE_DAYS` in the recycle bin; return their number."""
    due = timezone.now() - timedelta(days=settings.RECYCLE_DAYS)
    with run.applying_as_system():
        old = MemoryFile.everything.filter(deleted_at__lte=due).order_by("pk")
        pks = list(old.values_list("pk", flat=True)[:AT_ONCE])
        MemoryFile.everything.filter(pk__in=pks).delete()
    return len(pks)


def erase_expired(run: Run) -> dict[str, int]:
    """Erase expired recall traces, stored responses, sign-in links and receipt tokens.

    Return the number of each. Rows are erased in batches, each in its own transaction.
    """
    now = timezone.now()
    too_old = now - timedelta(days=settings.TRACE_DAYS)
    tokens = Operation.objects.filter(token_expires_at__lt=now, token_digest__isnull=False)
    answers = IdempotencyRecord.objects.filter(expires_at__lt=now)
    return {
        "traces": work_in_batches(
            run, RecallTrace.objects.filter(created_at__lt=too_old), delete_rows
        ),
        "answers": work_in_batches(run, answers, delete_rows),
        "links": work_in_batches(run, SignInLink.objects.filter(expires_at__lt=now), delete_rows),
        "tokens": work_in_batches(run, tokens, lambda rows: rows.update(token_digest=None)),
    }
