"""Decisions about access that a restored backup must not undo, in the ledger beside the data.

Each line of `decisions.jsonl` names one target (a key, an account, a file …) by an id or a digest
and gives its whole state, so the last line of a target is valid. Applying a line twice changes
nothing. A line holds no text, no password and no secret.

A line is written inside the transaction of the change, before the commit: a crash between the two
leaves a line that at worst ends an access too early after a restore. If the line can't be written
the change goes on, because revoking a key must never wait for a disk.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import orjson
from django.conf import settings

from ops.access import as_system, before_commit, last_acts
from ops.forgetting import ledger

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Decision:
    """The last state of one target: kind, id, state and time."""

    kind: str
    target: str
    state: Mapping[str, Any]
    at: datetime

    @property
    def subject(self) -> UUID:
        """Return the person if the decision's target is a person."""
        return UUID(self.target)


# Applies one decision to the database; returns whether it changed anything.
Apply = Callable[[Decision], bool]
_appliers: dict[str, Apply] = {}


def applies(kind: str) -> Callable[[Apply], Apply]:
    """Register the function that applies one kind of decision. It must be safe to repeat."""

    def register(apply: Apply) -> Apply:
        _appliers[kind] = apply
        return apply

    return register


def path() -> Path:
    return Path(settings.LEDGER_DIR) / "decisions.jsonl"


def record(kind: str, target: object, **state: Any) -> None:
    """Write the target's new state just before the commit."""
    line = {"kind": kind, "target": str(target), "state": state, "at": datetime.now(UTC)}
    batch = next((act for act in last_acts() if isinstance(act, _Batch)), None)
    if batch is None:
        before_commit(_Batch([line]))
    else:
        batch.lines.append(line)


@dataclass(frozen=True)
class _Batch:
    """The lines of one transaction, written with a single fsync."""

    lines: list[Mapping[str, Any]]

    def __call__(self) -> None:
        try:
            ledger.append(path(), self.lines)
        except OSError as error:
            logger.error("the ledger of decisions can't be written (%s)", type(error).__name__)


def latest() -> Iterator[Decision]:
    """Return the valid decision of each target, in the order of writing."""
    found: dict[tuple[str, str], Decision] = {}
    if not path().exists():
        return
    with path().open("rb") as file:
        for raw in file:
            if (one := _decision(raw)) is not None:
                found.pop((one.kind, one.target), None)
                found[one.kind, one.target] = one
    yield from found.values()


def _decision(raw: bytes) -> Decision | None:
    try:
        told = orjson.loads(raw)
        at = datetime.fromisoformat(told["at"])
        return Decision(told["kind"], told["target"], told["state"], at)
    except (ValueError, KeyError, TypeError):
        return None


def reapply() -> int:
    """Apply all decisions to the database; return how many changed something.

    Each runs in its own transaction. Kinds unknown to this version are skipped.
    """
    return sum(_applied(one) for one in list(latest()) if one.kind in _appliers)


def _applied(decision: Decision) -> bool:
    with as_system():
        return _appliers[decision.kind](decision)
