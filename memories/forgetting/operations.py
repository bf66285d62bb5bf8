"""Handlers that erase memories and projects."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db.models import Q

from conversations.models import Turn
from memcenter.lib.database import cascades
from memories.files import file_copies
from memories.forgetting import erased_texts, memory_erasure, memory_forgets
from memories.forgetting.erased_texts import ErasedTexts
from memories.indexing import milvus_sync
from memories.models import Memory, Project
from memories.writing import attached_texts, facet_cache
from ops.access import as_user
from ops.audit.receipts import Counts
from ops.forgetting import erasure
from ops.forgetting.reapplied_forgets import reapplies
from ops.models import Kind, Operation, User
from ops.queue.run import Run
from ops.registry import handles
from ops.residue import erased_hashes, known_places
from ops.residue.known_places import Cached

_KEPT = ("messages",)


@handles(Kind.FORGET_MEMORY, is_long=True)
def forget_memory(run: Run) -> Mapping[str, Any]:
    """Erase memories with everything derived from them.

    Running it twice is safe: each round erases the rest that it finds.
    """
    user = run.user()
    if user is not None:
        _erase(run, user, run.payload["memories"])
    return erasure.finish(run, user=user, scope="memory", kept=_KEPT)


@handles(Kind.FORGET_PROJECT, is_long=True)
def forget_project(run: Run) -> Mapping[str, Any]:
    """Erase a project's memories, then the project.

    Running it twice is safe: the project is erased last, since the rest is found through it.
    """
    user = run.user()
    if user is not None:
        pk = run.payload["project"]
        with as_user(user):
            own = Memory.everything.filter(user=user, project=pk).values_list("pk", flat=True)
            gone = sorted(memory_forgets.with_archived(user, own))
        _erase(run, user, gone, projects=[pk])
        until = run.operation.created_at
        erasure.step(run, user=user, name="project", erase=lambda: _erase_project(user, pk, until))
    return erasure.finish(run, user=user, scope="project", kept=_KEPT)


def _erase(run: Run, user: User, gone: list[int], *, projects: Sequence[int] = ()) -> None:
    resting = Q(memory__in=gone)
    own = Project.everything.filter(user=user, pk__in=projects)
    found, written = ErasedTexts(), list[str]()

    def look() -> list[str]:
        nonlocal found, written
        found = erased_texts.collect(user=user, resting=resting, gone=gone)
        texts = [*found.texts, *erased_hashes.words_of(own)]
        written = attached_texts.staying(user=user, texts=texts, leaving=found)
        memory_erasure.blank_questions_about(user=user, texts=texts)
        return texts

    erasure.remember(
        run,
        user=user,
        texts=look,
        rows=lambda: [*found.rows, own],
        staying=lambda: [*found.staying, *written],
    )
    memory_forgets.erase_in_rounds(run, user=user, resting=resting, gone=gone)
    operation = run.operation
    steps: dict[str, Callable[[], Counts]] = {
        "copies": lambda: memory_erasure.erase_copies(user=user, operation=operation),
        "exports": lambda: erasure.erase_transfers(user, []),
    }
    for name, erase in steps.items():
        erasure.step(run, user=user, name=name, erase=erase)


def _erase_project(user: User, pk: int, until: datetime) -> Counts:
    """Erase the project; earlier turns lose its key, later ones refer to a new project."""
    own = Project.everything.filter(user=user, pk=pk)
    before = Turn.everything.filter(user=user, user_message__recorded_at__lte=until)
    before.filter(project_key__in=own.values("key")).update(project_key="")
    return cascades.delete(own)


known_places.vouches(erased_texts.vouching)
known_places.vouches(attached_texts.vouching)
known_places.personal_folders(file_copies.STORAGE)
known_places.register_store(milvus_sync.InMilvus())
known_places.caches(Cached("survey:", "memories.pages.lists.facets", of_user=facet_cache.key))


@reapplies("memory")
def _memories_again(user: User, target: Mapping[str, Any], at: datetime) -> Operation | None:
    wanted = Q(public_id__in=target["memories"])
    memories = list(Memory.everything.filter(wanted, user=user, created_at__lte=at))
    return memory_forgets.forget_memories(user=user, memories=memories) if memories else None


@reapplies("project")
def _project_again(user: User, target: Mapping[str, Any], at: datetime) -> Operation | None:
    """Check the creation time too: a primary key may be reused after a restore."""
    own = Project.everything.filter(user=user, pk=target["project"], created_at__lte=at)
    project = own.first()
    return memory_forgets.forget_project(user=user, project=project) if project else None
