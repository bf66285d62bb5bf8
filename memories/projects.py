"""Projects of coding agents, each identified by a key that is given or derived from its name."""

from __future__ import annotations

import re
import unicodedata

from django.db import IntegrityError, transaction

from foundation.errors import Invalid, NotFound
from memories.models import Project
from ops.models import User

MAX_MACHINE, MAX_PATH = 100, 500
_MACHINES = 50
_NOT_IN_KEY = re.compile(r"[^\w.-]+")


def slug(name: str) -> str:
    """Return the key for a project name, at most 100 characters in lower case.

    A dash replaces spaces and punctuation, except for underscores, dots and dashes.
    """
    return _NOT_IN_KEY.sub("-", unicodedata.normalize("NFKC", name).casefold()).strip("-")[:100]


def find(*, user: User, key: str) -> Project:
    """Return the user's project with this key. Raise `NotFound` if there is none."""
    found = Project.objects.filter(user=user, key=key).first()
    if found is None:
        raise NotFound("This project doesn’t exist.")
    return found


def find_or_create(*, user: User, key: str | None, name: str | None = None) -> Project:
    """Return the project with this key, or with the key derived from this name.

    Create the project if it doesn't exist. Raise `Invalid` if the key is empty, has more than 100
    characters or contains a control character.
    """
    key = slug(name or "") if key is None else key
    if not 1 <= len(key) <= 100 or any(ord(character) < 32 for character in key):
        raise Invalid.field("project_key", "A project key has 1 to 100 characters.")
    found = Project.objects.filter(user=user, key=key).first()
    if found is not None:
        return found
    try:
        with transaction.atomic():
            return Project.objects.create(user=user, key=key, name=(name or key)[:200])
    except IntegrityError:
        return find(user=user, key=key)


def note_place(project: Project, *, machine: str = "", path: str = "") -> None:
    """Record on which machine and in which folder the project is worked on.

    The latest machine is last in the list, which holds at most 50; only the newest path is stored.
    """
    machines = [one for one in project.machines if one != machine] + ([machine] if machine else [])
    machines, path = machines[-_MACHINES:], path or project.path
    if (project.machines, project.path) != (machines, path):
        project.machines, project.path = machines, path
        project.save(update_fields=["machines", "path", "updated_at"])
