"""Manual edits of the example people, so that their pages look used."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from memories.models import Memory, MemoryStatus
from memories.writing import curation
from ops.access import as_user
from ops.models import User


def apply(path: Path, *, people: Sequence[User]) -> None:
    """Pin and tag memories that contain these words. Safe to repeat; missing ones are skipped."""
    wanted: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    for user in people:
        touches = wanted.get(user.external_id or "")
        if touches is not None:
            with as_user(user, changing=True):
                _touch(user, touches)


def _touch(user: User, touches: Mapping[str, Any]) -> None:
    curation.bulk(user=user, ids=_about(user, touches["pinned"]), action="pin")
    for tag, words in touches["tags"].items():
        curation.bulk(user=user, ids=_about(user, words), action="tag", tag_name=tag)


def _about(user: User, words: Sequence[str]) -> list[str]:
    rows = Memory.objects.filter(user=user, status=MemoryStatus.ACTIVE)
    known = list(rows.values_list("public_id", "content"))
    folded = [word.casefold() for word in words]
    return [name for name, text in known if any(word in text.casefold() for word in folded)]
