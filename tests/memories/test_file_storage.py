"""Copies of memory files in a storage without folders, as one of objects is."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import Storage, storages

from memories.files import daily_notes, file_copies, file_sync
from memories.files.grammar import MEMORY
from memories.forgetting import memory_forgets
from memories.models import Memory, Origin
from ops.access import as_user
from ops.forgetting import person_forgets as everything
from ops.models import Receipt, User
from ops.queue import worker
from tests.factories import make_memory

pytestmark = pytest.mark.django_db
PLANTED = "She was treated for zebrafish fever in Antananarivo"


class Objects(Storage):
    """As a store of objects: names and bytes, and no path on this machine."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}

    def _open(self, name: str, mode: str = "rb") -> ContentFile[bytes]:
        if name not in self.kept:
            raise FileNotFoundError(name)
        return ContentFile(self.kept[name])

    def _save(self, name: str, content: Any) -> str:
        self.kept[name] = content.read()
        return name

    def delete(self, name: str) -> None:
        self.kept.pop(name, None)

    def exists(self, name: str) -> bool:
        return name in self.kept

    def listdir(self, path: str) -> tuple[list[str], list[str]]:
        start = f"{path}/"
        return [], [name.removeprefix(start) for name in self.kept if name.startswith(start)]


@pytest.fixture
def objects(settings: Any) -> Storage:
    backend = {"BACKEND": f"{__name__}.Objects"}
    settings.STORAGES = {**settings.STORAGES, file_copies.STORAGE: backend}
    return storages[file_copies.STORAGE]


def name_of(user: User) -> str:
    return f"{user.pk}/{MEMORY}"


def text_in(objects: Storage, user: User) -> str:
    with objects.open(name_of(user)) as file:
        return bytes(file.read()).decode()


def replace(objects: Storage, user: User, text: str) -> None:
    objects.delete(name_of(user))
    objects.save(name_of(user), ContentFile(text.encode()))


def test_copies_are_written_there_and_edits_are_read_in(alice: User, objects: Storage) -> None:
    memory = make_memory(alice, "Lives in Lisbon")
    assert file_sync.sync(alice).written == ["MEMORY.md", "LEARNINGS.md"]
    text = text_in(objects, alice)
    assert memory.public_id in text
    assert file_sync.sync(alice).as_result == {"edits": {}, "written": [], "failed": {}}
    replace(objects, alice, text.replace("Lisbon", "Porto") + "- Keeps bees\n")
    assert file_sync.sync(alice).edits[MEMORY]["updated"] == 1
    assert set(Memory.objects.values_list("content", flat=True)) == {
        "Lives in Porto",
        "Keeps bees",
    }
    assert "Keeps bees <!-- mem_" in text_in(objects, alice)
    replace(objects, alice, "a\x00b")
    assert MEMORY in file_sync.sync(alice).failed


def test_notes_lie_there_too_and_what_is_forgotten_leaves_them(
    alice: User, objects: Storage
) -> None:
    memory = make_memory(alice, PLANTED, origin=Origin.EXTRACTED)
    line = daily_notes.append(PLANTED, user=alice).note
    daily_notes.append("Walked home", user=alice)
    name = f"{alice.pk}/{daily_notes.path_of(line.on)}"
    assert daily_notes.path_of(line.on) in file_sync.sync(alice).written
    assert file_sync.sync(alice).as_result == {"edits": {}, "written": [], "failed": {}}
    with as_user(alice):
        memory_forgets.forget_memory(user=alice, memory=memory)
    worker.drain()
    with objects.open(name) as file:
        text = bytes(file.read()).decode()
    assert "zebrafish" not in text and text.endswith("Walked home\n")
    assert Receipt.objects.get().scan["residue"] == 0


def test_forgetting_reaches_there(alice: User, mallory: User, objects: Storage) -> None:
    memory = make_memory(alice, PLANTED)
    make_memory(alice, "Plays the oboe")
    make_memory(mallory, PLANTED)
    for user in (alice, mallory):
        file_sync.sync(user)
    with as_user(alice):
        memory_forgets.forget_memory(user=alice, memory=memory)
    worker.drain()
    assert "zebrafish" not in text_in(objects, alice) and "oboe" in text_in(objects, alice)
    assert Receipt.objects.get().scan["residue"] == 0
    with as_user(alice):
        everything.forget_user(user=alice)
    worker.drain()
    assert not objects.exists(name_of(alice)) and "zebrafish" in text_in(objects, mallory)
