"""What the example people did with their memories by hand, so that their pages look lived in."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from memories.models import Memory, MemoryStatus
from memories.services import curating
from ops.access import as_user
from ops.models import User


def apply(path: Path, *, people: Sequence[User]) -> None:
    """Pin and tag what contains these words. Safe to repeat; what is not there is passed over."""
    wanted: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    for user in people:
        touches = wanted.get(user.external_id or "")
        if touches is not None:
            with as_user(user, changing=True):
                _touch(user, touches)


def _touch(user: User, touches: Mapping[str, Any]) -> None:
    curating.bulk(user=user, ids=_about(user, touches["pinned"]), action="pin")
    for tag, words in touches["tags"].items():
        curating.bulk(user=user, ids=_about(user, words), action="tag", tag_name=tag)


def _about(user: User, words: Sequence[str]) -> list[str]:
    rows = Memory.objects.filter(user=user, status=MemoryStatus.ACTIVE)
    known = list(rows.values_list("public_id", "content"))
    folded = [word.casefold() for word in words]
    return [name for name, text in known if any(word in text.casefold() for word in folded)]
