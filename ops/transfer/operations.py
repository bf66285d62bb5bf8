"""Operation handlers of exports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ops.models import Kind
from ops.queue.run import Run
from ops.registry import handles
from ops.transfer import export_requests, stored_files
from ops.transfer.export_file import Writer


@handles(Kind.EXPORT_USER, is_long=True)
def export_user(run: Run) -> Mapping[str, Any] | None:
    """Write all data of a person into a private file.

    Safe to run twice: each attempt erases the file of the previous one and writes under a new name;
    a finished export stays.
    """
    return _export(run, conversation=None)


@handles(Kind.EXPORT_CONVERSATION, is_long=True)
def export_conversation(run: Run) -> Mapping[str, Any] | None:
    """Write one conversation into a private file. Safe to run twice, like `export_user`."""
    return _export(run, conversation=run.payload["conversation"])


def _export(run: Run, *, conversation: int | None) -> Mapping[str, Any] | None:
    user = run.user()
    if user is None or user.hidden_at is not None:
        return None
    export = export_requests.start(run, user=user)
    if export is None:
        return None
    with stored_files.writing(export.path) as part:
        Writer(run, user=user, conversation=conversation).write(part, format=export.format)
    export_requests.publish(run, export, user=user, sha256=part.sha256, size=part.bytes)
    return {"bytes": part.bytes, "sha256": part.sha256}
