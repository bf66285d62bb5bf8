"""Handlers that erase memories and projects."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db.models import Q

from conversations.models import Turn
from memcenter.lib import cascades
from memories.models import Memory, Project
from memories.services import beside, file_copies, forgetting, hot_cache, leaving, vector_changes
from memories.services import erasing as copied
from memories.services.leaving import Leaving
from ops import known_places
from ops.access import as_user
from ops.known_places import Cached
from ops.models import Kind, Operation, User
from ops.registry import handles
from ops.services import erasing, remembering
from ops.services.reapplying import again
from ops.services.receipts import Counts
from ops.services.worker import Run

_KEPT = ("messages",)


@handles(Kind.FORGET_MEMORY, is_long=True)
def forget_memory(run: Run) -> Mapping[str, Any]:
    """Erase memories with everything derived from them.

    Running it twice is safe: each round erases what it still finds of them.
    """
    user = run.user()
    if user is not None:
        _erase(run, user, run.payload["memories"])
    return erasing.finish(run, user=user, scope="memory", kept=_KEPT)


@handles(Kind.FORGET_PROJECT, is_long=True)
def forget_project(run: Run) -> Mapping[str, Any]:
    """Erase a project's memories, then the project.

    Running it twice is safe: the project goes last, and what is left of it is found by it.
    """
    user = run.user()
    if user is not None:
        pk = run.payload["project"]
        with as_user(user):
            own = Memory.everything.filter(user=user, project=pk).values_list("pk", flat=True)
            gone = sorted(forgetting.with_archived(user, own))
        _erase(run, user, gone, projects=[pk])
        until = run.operation.created_at
        erasing.step(run, user=user, name="project", erase=lambda: _erase_project(user, pk, until))
    return erasing.finish(run, user=user, scope="project", kept=_KEPT)


def _erase(run: Run, user: User, gone: list[int], *, projects: Sequence[int] = ()) -> None:
    resting = Q(memory__in=gone)
    own = Project.everything.filter(user=user, pk__in=projects)
    found, written = Leaving(), list[str]()

    def look() -> list[str]:
        nonlocal found, written
        found = leaving.of(user=user, resting=resting, gone=gone)
        texts = [*found.texts, *remembering.words_of(own)]
        written = beside.staying(user=user, texts=texts, leaving=found)
        copied.blank_questions_about(user=user, texts=texts)
        return texts

    erasing.remember(
        run,
        user=user,
        texts=look,
        rows=lambda: [*found.rows, own],
        staying=lambda: [*found.staying, *written],
    )
    forgetting.erase_in_rounds(run, user=user, resting=resting, gone=gone)
    operation = run.operation
    steps: dict[str, Callable[[], Counts]] = {
        "copies": lambda: copied.erase_copies(user=user, operation=operation),
        "exports": lambda: erasing.erase_transfers(user, []),
    }
    for name, erase in steps.items():
        erasing.step(run, user=user, name=name, erase=erase)


def _erase_project(user: User, pk: int, until: datetime) -> Counts:
    """The turns that named it stay, and name it no longer; later ones name one that began anew."""
    own = Project.everything.filter(user=user, pk=pk)
    before = Turn.everything.filter(user=user, user_message__recorded_at__lte=until)
    before.filter(project_key__in=own.values("key")).update(project_key="")
    return cascades.delete(own)


known_places.vouches(leaving.vouching)
known_places.vouches(beside.vouching)
known_places.personal_folders(file_copies.STORAGE)
known_places.elsewhere(vector_changes.InMilvus())
known_places.caches(
    Cached("hot:", "memories.services.hot_cache", of_user=hot_cache.key),
    Cached("survey:", "memories.browsing.survey", of_user=hot_cache.survey_key),
)


@again("memory")
def _memories_again(user: User, target: Mapping[str, Any], at: datetime) -> Operation | None:
    wanted = Q(public_id__in=target["memories"])
    memories = list(Memory.everything.filter(wanted, user=user, created_at__lte=at))
    return forgetting.forget_memories(user=user, memories=memories) if memories else None


@again("project")
def _project_again(user: User, target: Mapping[str, Any], at: datetime) -> Operation | None:
    """A project has no public id: one made later may carry the same number."""
    own = Project.everything.filter(user=user, pk=target["project"], created_at__lte=at)
    project = own.first()
    return forgetting.forget_project(user=user, project=project) if project else None
