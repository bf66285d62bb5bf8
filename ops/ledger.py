"""The ledger: two files that list all requests to forget and certain decisions.

A request or decision outlives the restore of an older backup, since the ledger is stored outside
the data folder.

`<MEMCENTER_DATA_DIR>-ledger/forgets.jsonl` contains one line of JSON for each request to forget:
its scope, its time and ids, but no text. The line is written before the request is answered. If
writing fails, the operation's handler writes the line before it erases anything. A crash may leave
an incomplete line; readers skip it, and the complete line is appended later.

Most decisions change access rights, such as the revocation of a key; others move a memory or a file
to the recycle bin or back. Each line of `decisions.jsonl` names a target (a key, an account, a file
…) by an id or a digest, and contains its complete state, so only the last line for a target counts.
Applying a line twice changes nothing. A line contains no text, no password and no secret. It is
written inside the transaction of the change, before the commit. A crash before the commit leaves a
line without a change; applied after a restore, the line makes this change. If the line can't be
written, the change is made nevertheless, since revoking a key must never wait for a disk.
"""

from __future__ import annotations

import fcntl
import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import orjson
from django.conf import settings

from ops.access import as_system, before_commit, before_commit_actions
from ops.models import Kind, Operation

SCOPES = {
    Kind.FORGET_MEMORY: "memory",
    Kind.FORGET_MESSAGE: "message",
    Kind.FORGET_CHOICE: "choice",
    Kind.FORGET_CONVERSATION: "conversation",
    Kind.CLEAR_CONVERSATION: "clear",
    Kind.FORGET_PROJECT: "project",
    Kind.FORGET_LAYER: "layer",
    Kind.FORGET_USER: "user",
}
logger = logging.getLogger(__name__)
_appliers: dict[str, Apply] = {}


@dataclass(frozen=True)
class Line:
    operation: str
    subject: UUID
    scope: str
    target: Mapping[str, Any]
    at: datetime


def path() -> Path:
    return Path(settings.LEDGER_DIR) / "forgets.jsonl"


def write(operation: Operation, target: Mapping[str, Any]) -> None:
    """Append the line for this forget operation, unless the ledger already contains it.

    When this returns, the line is on the disk.
    """
    line = {
        "operation": operation.public_id,
        "subject": str(operation.subject),
        "scope": SCOPES[Kind(operation.kind)],
        "target": dict(target),
        "at": operation.created_at,
    }
    append(path(), [line], unless=operation.public_id)


def append(file: Path, lines: Sequence[Mapping[str, Any]], *, unless: str = "") -> None:
    """Append lines to a file, and return once they are on the disk.

    Append nothing if the file already contains a complete line for the operation given in `unless`.
    Raise `OSError` if writing fails.
    """
    folder, is_new = file.parent, not file.exists()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(file, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        if unless and _contains_line_for(descriptor, unless):
            return
        whole = b"".join(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE) for line in lines)
        size = os.fstat(descriptor).st_size
        ends_whole = size == 0 or os.pread(descriptor, 1, size - 1) == b"\n"
        data = whole if ends_whole else b"\n" + whole
        while data:  # on a nearly full disk, a single write may store only some of the bytes
            data = data[os.write(descriptor, data) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    if is_new:
        _sync_folder(folder)


def read() -> Iterator[Line]:
    """Yield all complete lines, oldest first, but only the first line for each operation."""
    seen: set[str] = set()
    for line in filter(None, map(_line, _lines_of(path()))):
        if line.operation not in seen:
            seen.add(line.operation)
            yield line


def _lines_of(file: Path) -> Iterator[bytes]:
    if file.exists():
        with file.open("rb") as lines:
            yield from lines


def _line(raw: bytes) -> Line | None:
    try:
        values = orjson.loads(raw)
        return Line(
            values["operation"],
            UUID(values["subject"]),
            values["scope"],
            values["target"],
            datetime.fromisoformat(values["at"]),
        )
    except (ValueError, KeyError, TypeError):
        return None


def _contains_line_for(descriptor: int, public_id: str) -> bool:
    wanted = public_id.encode()
    with os.fdopen(os.dup(descriptor), "rb") as file:
        file.seek(0)
        return any(wanted in raw and _line(raw) is not None for raw in file)


def _sync_folder(folder: Path) -> None:
    for directory in (folder, folder.parent):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@dataclass(frozen=True)
class Decision:
    """A line of the ledger: the state of one target after a decision of one kind.

    `target` is an id or a digest, depending on the kind. `subject` may be used only if `target` is
    a subject id.
    """

    kind: str
    target: str
    state: Mapping[str, Any]
    at: datetime

    @property
    def subject(self) -> UUID:
        return UUID(self.target)


# A function that applies one decision to the database, and returns whether it changed anything.
Apply = Callable[[Decision], bool]


def decision_handler(kind: str) -> Callable[[Apply], Apply]:
    """Register the function that applies decisions of one kind to the database.

    The function must be safe to call repeatedly.
    """

    def register(apply: Apply) -> Apply:
        _appliers[kind] = apply
        return apply

    return register


def decisions_path() -> Path:
    return Path(settings.LEDGER_DIR) / "decisions.jsonl"


def record_decision(kind: str, target: object, **state: Any) -> None:
    """Write the new state of the target to the ledger just before the open transaction commits."""
    line = {"kind": kind, "target": str(target), "state": state, "at": datetime.now(UTC)}
    batch = next((act for act in before_commit_actions() if isinstance(act, _Batch)), None)
    if batch is None:
        before_commit(_Batch([line]))
    else:
        batch.lines.append(line)


@dataclass(frozen=True)
class _Batch:
    lines: list[Mapping[str, Any]]

    def __call__(self) -> None:
        try:
            append(decisions_path(), self.lines)
        except OSError as error:
            logger.error("the ledger of decisions can't be written (%s)", type(error).__name__)


def latest_decisions() -> Iterator[Decision]:
    """Yield the last decision about each target, in the order in which they were written."""
    found: dict[tuple[str, str], Decision] = {}
    for decision in filter(None, map(_decision, _lines_of(decisions_path()))):
        found.pop((decision.kind, decision.target), None)
        found[decision.kind, decision.target] = decision
    yield from found.values()


def _decision(raw: bytes) -> Decision | None:
    try:
        values = orjson.loads(raw)
        at = datetime.fromisoformat(values["at"])
        return Decision(values["kind"], values["target"], values["state"], at)
    except (ValueError, KeyError, TypeError):
        return None


def reapply_decisions() -> int:
    """Apply the last decision about each target; return how many decisions changed something.

    Each decision is applied in a transaction of its own. Unknown kinds of decisions are skipped.
    """
    changed = 0
    for decision in list(latest_decisions()):
        if decision.kind in _appliers:
            with as_system():
                changed += _appliers[decision.kind](decision)
    return changed
