"""Killing a worker in the middle of a forget: nothing after that point runs, nothing is caught."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from ops import audit_chain
from ops.access import as_system
from ops.queue import outbox, worker
from ops.queue.run import Run


class Kill(BaseException):
    """Not an `Exception`: the worker's own handling must not see it."""


def kill_at(monkeypatch: pytest.MonkeyPatch, *, step: str, moment: str) -> None:
    """Drain, and die before a step begins or inside its transaction after all its work is done.

    `receipt` is the last step of every forget. Raises `Kill`.
    """
    if step == "receipt":
        _patch(monkeypatch, audit_chain, "issue_receipt", lambda *_, **__: True, moment=moment)
    elif moment == "before":
        _patch(monkeypatch, Run, "step", lambda _, name, **__: name == step, moment=moment)
    else:
        _patch(
            monkeypatch,
            audit_chain,
            "note_step",
            lambda _, **given: given["step"] == step,
            moment="after",
        )
    worker.drain()


def revive(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the lease run out, so that another worker may take it."""
    monkeypatch.undo()
    with as_system():
        outbox.expire(now=timezone.now() + timedelta(hours=1))


def _patch(
    monkeypatch: pytest.MonkeyPatch,
    owner: Any,
    name: str,
    meant: Callable[..., bool],
    *,
    moment: str,
) -> None:
    real = getattr(owner, name)

    def deadly(*args: Any, **given: Any) -> Any:
        if not meant(*args, **given):
            return real(*args, **given)
        if moment == "after":
            real(*args, **given)
        raise Kill

    monkeypatch.setattr(owner, name, deadly)
