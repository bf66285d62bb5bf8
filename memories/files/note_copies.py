"""Copies of daily notes and of users' own notes, beside the copies of the curated files.

They follow the rows and are never read in: a day's note only grows, through `notes.append`. A copy
that was changed by hand is left as it is and reported. To tell an outdated copy from a changed one,
keyed hashes of the written texts are kept in a file beside the copies.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from django.utils.translation import gettext as _

from memories.files import daily_notes, file_contents, file_copies, user_notes
from memories.files.file_copies import WRITTEN, Unreadable
from ops.models import User


@dataclass
class Followed:
    """The paths that were written or removed, and the paths left as they are, with the reason."""

    written: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)


def follow(user: User) -> Followed:
    """Make the copies match the rows; call it under the lock of the user's files.

    Safe to repeat and to kill at any point: the hashes are stored before the copies are written.
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
    """Return the paths of the copies that weren't changed since we wrote them."""
    known = _known(user_id)
    return {WRITTEN, *(path for path in known if _is_ours(user_id, path, known))}


def _wanted(user: User) -> dict[str, str]:
    days = file_contents.days_of(user)
    own = {file.path: file.content for file in user_notes.below(user, "")}
    return own | {daily_notes.path_of(day): text for day, text, _ in days}


def _is_stale(
    user: User, path: str, text: str, known: Mapping[str, list[str]], done: Followed
) -> bool:
    """Whether the copy is missing, or is an outdated copy that we wrote."""
    try:
        found = file_copies.read(user.pk, path)
    except Unreadable as error:
        done.failed[path] = error.message
        return False
    if found is None or (found != text and _digest(found) in known.get(path, [])):
        return True
    if found != text:
        done.failed[path] = _("Notes can’t be edited here: this copy is no longer kept up to date.")
    return False


def _is_ours(user_id: int, path: str, known: Mapping[str, list[str]]) -> bool:
    try:
        found = file_copies.read(user_id, path)
    except Unreadable:
        return False
    return found is not None and _digest(found) in known[path]


def _known(user_id: int) -> dict[str, list[str]]:
    """Return the hashes of the texts last written, by path; empty if they can't be read."""
    try:
        found = json.loads(file_copies.read(user_id, WRITTEN) or "{}")
    except (Unreadable, json.JSONDecodeError):
        return {}
    return found if isinstance(found, dict) else {}


def _digest(text: str) -> str:
    return file_contents.digest_of(text).hex
