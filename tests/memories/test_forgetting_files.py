"""Forgetting takes words out of memory files, their versions and the copies on the disk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

from memories.files import file_copies, file_sync, memory_files
from memories.files.grammar import MEMORY
from memories.forgetting import memory_forgets
from memories.models import FileVersion, MemoryFile, Origin
from ops.access import as_system, as_user
from ops.forgetting import person_forgets as everything
from ops.models import Operation, Receipt, User
from ops.queue import worker
from ops.residue import erased_hashes, residue_scan
from ops.residue.residue_scan import ScannedPerson
from tests.factories import make_memory

pytestmark = pytest.mark.django_db
PLANTED = "was treated for zebrafish fever in Antananarivo"


def copies(user: User) -> Iterator[Path]:
    folder = file_copies.folder_of(user.pk)
    assert folder is not None
    return folder.iterdir()


def said_on_disk(word: str) -> list[str]:
    root = Path(settings.DATA_DIR) / "memory-files"
    return [str(one) for one in root.rglob("*") if one.is_file() and word in one.read_text()]


def test_a_forgotten_memory_leaves_files_versions_and_copies(alice: User) -> None:
    memory = make_memory(alice, f"She {PLANTED}", origin=Origin.EXTRACTED)
    file_sync.sync(alice)
    make_memory(alice, "Plays the oboe")
    file_sync.sync(alice)
    assert FileVersion.objects.filter(content__contains="zebrafish").count() == 2
    with as_user(alice):
        operation = memory_forgets.forget_memory(user=alice, memory=memory)
    assert not FileVersion.objects.filter(content__contains="zebrafish").exists()
    worker.drain()
    assert said_on_disk("zebrafish") == [] and len(said_on_disk("oboe")) == 1
    assert not MemoryFile.objects.filter(content__contains=memory.public_id).exists()
    receipt = Receipt.objects.get(operation=operation)
    assert receipt.scan["residue"] == 0
    assert receipt.erased["files"]["copy"] == 1


def test_what_is_typed_on_the_disk_and_not_read_in_yet_stays_beside_the_forgotten(
    alice: User,
) -> None:
    memory = make_memory(alice, f"She {PLANTED}", origin=Origin.EXTRACTED)
    file_sync.sync(alice)
    path = next(one for one in copies(alice) if one.name == MEMORY)
    path.write_text(path.read_text() + "- Has a dog named Rufus\n")
    (path.parent / ".left.part").write_text(f"- She {PLANTED}\n")
    with as_user(alice):
        memory_forgets.forget_memory(user=alice, memory=memory)
    worker.drain()
    assert said_on_disk("zebrafish") == [] and said_on_disk("Rufus") == [str(path)]
    assert file_sync.sync(alice).edits[MEMORY]["created"] == 1


def test_the_scan_finds_words_in_a_person_s_copy_and_not_in_another_s(
    alice: User, mallory: User
) -> None:
    memory = make_memory(alice, f"She {PLANTED}", origin=Origin.EXTRACTED)
    file_copies.write(mallory.pk, MEMORY, f"- She {PLANTED}\n")
    with as_user(alice):
        operation = memory_forgets.forget_memory(user=alice, memory=memory)
        erased_hashes.store_hashes(operation, texts=[memory.content])
    whose = ScannedPerson(alice.pk, alice.subject, since=operation.created_at)
    assert found_in_files(operation, whose) == []
    file_copies.write(alice.pk, MEMORY, f"- She {PLANTED}\n")
    assert found_in_files(operation, whose) == [f"memory-files/{alice.pk}/{MEMORY}"]


def found_in_files(operation: Operation, whose: ScannedPerson) -> list[str]:
    with as_system():
        found = residue_scan.scan(whose, erased_hashes.erased_hashes_of(operation)).found
    return [one.row for one in found if one.place == "files"]


def test_with_the_person_their_folder_goes(alice: User, mallory: User) -> None:
    make_memory(alice, f"She {PLANTED}")
    make_memory(mallory, f"He {PLANTED}")
    for user in (alice, mallory):
        file_sync.sync(user)
    with as_user(alice):
        everything.forget_user(user=alice)
    assert file_sync.sync(alice).written == []
    worker.drain()
    folder = file_copies.folder_of(alice.pk)
    assert folder is not None and not folder.exists()
    assert len(said_on_disk("zebrafish")) == 1
    assert not MemoryFile.everything.filter(user_id=alice.pk).exists()
    with as_user(mallory):
        assert memory_files.read(mallory, MEMORY).text.count("zebrafish") == 1
