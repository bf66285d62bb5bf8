"""The ledger of forgets, stored outside the data folder, so that a restored backup can't undo them.

`<MEMCENTER_DATA_DIR>-ledger/forgets.jsonl` has one JSON line of ids for each forget. The line is
on the disk before the forget is answered, and the handler checks for it again before it erases
anything. `decisions.jsonl` beside it belongs to `ops.accounts.access_ledger`. Readers skip a line
torn by a crash; a complete one follows it.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import orjson
from django.conf import settings

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
    """Append the line of this forget unless it exists; it is on the disk on return."""
    line = {
        "operation": operation.public_id,
        "subject": str(operation.subject),
        "scope": SCOPES[Kind(operation.kind)],
        "target": dict(target),
        "at": operation.created_at,
    }
    append(path(), [line], unless=operation.public_id)


def append(file: Path, lines: Sequence[Mapping[str, Any]], *, unless: str = "") -> None:
    """Append lines; they are on the disk on return. Raises `OSError`.

    Appends nothing if a complete line names the operation `unless` already.
    """
    folder, is_new = file.parent, not file.exists()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(file, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        if unless and _holds(descriptor, unless):
            return
        whole = b"".join(orjson.dumps(one, option=orjson.OPT_APPEND_NEWLINE) for one in lines)
        _write_all(descriptor, (b"" if _ends_whole(descriptor) else b"\n") + whole)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    if is_new:
        _sync_folder(folder)


def read() -> Iterator[Line]:
    """Return all complete lines, oldest first, each operation once."""
    seen: set[str] = set()
    if not path().exists():
        return
    with path().open("rb") as file:
        for raw in file:
            line = _line(raw)
            if line is not None and line.operation not in seen:
                seen.add(line.operation)
                yield line


def _line(raw: bytes) -> Line | None:
    try:
        told = orjson.loads(raw)
        return Line(
            told["operation"],
            UUID(told["subject"]),
            told["scope"],
            told["target"],
            datetime.fromisoformat(told["at"]),
        )
    except (ValueError, KeyError, TypeError):
        return None


def _holds(descriptor: int, public_id: str) -> bool:
    """Tell whether a complete line of this operation exists."""
    wanted = public_id.encode()
    with os.fdopen(os.dup(descriptor), "rb") as file:
        file.seek(0)
        return any(wanted in raw and _line(raw) is not None for raw in file)


def _ends_whole(descriptor: int) -> bool:
    size = os.fstat(descriptor).st_size
    return size == 0 or os.pread(descriptor, 1, size - 1) == b"\n"


def _write_all(descriptor: int, data: bytes) -> None:
    """Write all bytes, normally in one call; a nearly full disk may accept a part, then fail."""
    while data:
        data = data[os.write(descriptor, data) :]


def _sync_folder(folder: Path) -> None:
    for one in (folder, folder.parent):
        descriptor = os.open(one, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
