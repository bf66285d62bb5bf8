"""Copies of daily notes and of the person's own notes beside those of the curated files.

They follow the rows and are never read in: a day's note only grows, through `notes.append`. A copy
that somebody changed by hand is left as it is and told of; what was written here is known by a
keyed hash, kept in a file beside them, so that a stale copy is told from a changed one.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from django.utils.translation import gettext as _

from memories.services import file_contents, file_copies, notes, own_files
from memories.services.file_copies import WRITTEN, Unreadable
from ops.models import User


@dataclass
class Followed:
    """By path: what was written or taken away, and what was left as it is, and why."""

    written: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)


def follow(user: User) -> Followed:
    """Let the copies be what the rows say; under the lock of the person's files.

    Safe to repeat and to kill anywhere: what will be written is known before it is.
    """
    done, known, wanted = Followed(), _known(user.pk), _wanted(user)
    stale = {
        path: text for path, text in wanted.items() if _is_stale(user, path, text, known, done)
    }
    gone = [path for path in known if path not in wanted and _is_ours(user.pk, path, known)]
    kept = {path: known[path] for path in known if path in wanted}
    for path, text in stale.items():
        kept[path] = [*kept.get(path, [])[-1:], _digest(text)]
    if kept != known:
        file_copies.write(user.pk, WRITTEN, json.dumps(kept))
    for path in gone:
        file_copies.remove(user.pk, path)
    for path, text in stale.items():
        try:
            file_copies.write(user.pk, path, text)
        except OSError:
            done.failed[path] = _("The copy can’t be written.")
    done.written = [*gone, *(path for path in stale if path not in done.failed)]
    return done


def ours(user_id: int) -> Collection[str]:
    """The copies that nobody changed since they were written here."""
    known = _known(user_id)
    return {WRITTEN, *(path for path in known if _is_ours(user_id, path, known))}


def _wanted(user: User) -> dict[str, str]:
    days = file_contents.days_of(user)
    own = {file.path: file.content for file in own_files.below(user, "")}
    return own | {notes.path_of(day): text for day, text, _ in days}


def _is_stale(
    user: User, path: str, text: str, known: Mapping[str, list[str]], done: Followed
) -> bool:
    """Whether the copy is missing, or one of ours that lags behind."""
    try:
        found = file_copies.read(user.pk, path)
    except Unreadable as error:
        done.failed[path] = error.message
        return False
    if found is None or (found != text and _digest(found) in known.get(path, [])):
        return True
    if found != text:
        done.failed[path] = _("Notes are not edited here: this copy is no longer kept up to date.")
    return False


def _is_ours(user_id: int, path: str, known: Mapping[str, list[str]]) -> bool:
    try:
        found = file_copies.read(user_id, path)
    except Unreadable:
        return False
    return found is not None and _digest(found) in known[path]


def _known(user_id: int) -> dict[str, list[str]]:
    """Path -> hashes of what was written there last; nothing where that can't be read."""
    try:
        found = json.loads(file_copies.read(user_id, WRITTEN) or "{}")
    except (Unreadable, json.JSONDecodeError):
        return {}
    return found if isinstance(found, dict) else {}


def _digest(text: str) -> str:
    return file_contents.digest_of(text).hex
