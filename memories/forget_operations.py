"""Handlers that erase memories and projects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db.models import Q

from memories.models import Memory, Project
from memories.services import forgetting
from memories.services.erasing import by_table
from ops.access import as_user
from ops.models import Kind, User
from ops.registry import handles
from ops.services import erasing
from ops.services.worker import Run

_KEPT = ("messages",)


@handles(Kind.FORGET_MEMORY)
def forget_memory(run: Run) -> Mapping[str, Any]:
    """Erase memories with everything derived from them.

    Running it twice is safe: each round erases what it still finds of them.
    """
    user = run.user()
    if user is not None:
        _erase(run, user, run.payload["memories"])
    return erasing.finish(run, user=user, scope="memory", kept=_KEPT)


@handles(Kind.FORGET_PROJECT)
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
        _erase(run, user, gone)
        project = Project.everything.filter(user=user, pk=pk)
        erasing.step(run, user=user, name="project", erase=lambda: by_table(project.delete()))
    return erasing.finish(run, user=user, scope="project", kept=_KEPT)


def _erase(run: Run, user: User, gone: list[int]) -> None:
    resting = Q(memory__in=gone)
    forgetting.erase_in_rounds(run, user=user, resting=resting, gone=gone)
    erasing.step(run, user=user, name="exports", erase=lambda: erasing.erase_transfers(user, []))
