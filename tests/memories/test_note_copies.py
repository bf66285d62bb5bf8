"""Daily notes and the person's own notes lie beside the curated files, and follow their rows."""

from pathlib import Path

import pytest

from memories.files import daily_notes, file_copies, file_sync
from memories.files.file_copies import WRITTEN
from memories.forgetting import memory_forgets
from memories.models import DailyNote, Memory, MemoryFile
from ops.access import as_user
from ops.forgetting import person_forgets as everything
from ops.models import Receipt, User
from ops.queue import worker
from tests.factories import make_memory
from tests.memories.test_memory_files import Kill
from tests.memories.test_noted import consolidate, note

pytestmark = pytest.mark.django_db
PLAN = "projects/roof/plan.md"


def on_disk(user: User) -> dict[str, str]:
    folder = file_copies.folder_of(user.pk)
    assert folder is not None
    found = {str(one.relative_to(folder)): one for one in folder.rglob("*") if one.is_file()}
    return {name: one.read_text() for name, one in found.items() if name.endswith(".md")}


def place(user: User, path: str) -> Path:
    folder = file_copies.folder_of(user.pk)
    assert folder is not None
    return folder / path


@pytest.fixture
def noted(alice: User) -> DailyNote:
    MemoryFile.objects.create(user=alice, path=PLAN, content="Tiles first.\n")
    line = daily_notes.append("Walked to the harbour", user=alice, source="my agent").note
    assert file_sync.request_syncs_after_changes() == 1
    worker.drain()
    return line


def test_notes_lie_on_the_disk_and_follow_what_is_said(alice: User, noted: DailyNote) -> None:
    day = daily_notes.path_of(noted.on)
    assert "[my agent] Walked to the harbour" in on_disk(alice)[day]
    assert on_disk(alice)[PLAN] == "Tiles first.\n"
    assert place(alice, day).stat().st_mode & 0o777 == 0o600
    daily_notes.append("And back", user=alice)
    MemoryFile.objects.filter(path=PLAN).delete()
    synced = file_sync.sync(alice)
    assert set(synced.written) == {day, PLAN} and not synced.failed
    assert on_disk(alice)[day].endswith("And back\n") and PLAN not in on_disk(alice)
    assert not place(alice, "projects").exists()
    assert file_sync.sync(alice).written == []


def test_what_is_typed_into_a_note_s_copy_stays_there_and_is_told_of(
    alice: User, noted: DailyNote
) -> None:
    path = place(alice, daily_notes.path_of(noted.on))
    path.write_text(path.read_text() + "- typed by hand\n")
    daily_notes.append("And back", user=alice)
    synced = file_sync.sync(alice)
    assert list(synced.failed) == [daily_notes.path_of(noted.on)]
    assert path.read_text().endswith("- typed by hand\n")
    assert DailyNote.objects.filter(day__isnull=False).count() == 2


@pytest.mark.parametrize("dies_at", [1, 2])
def test_a_kill_while_copies_are_written_is_made_good(
    alice: User, noted: DailyNote, monkeypatch: pytest.MonkeyPatch, dies_at: int
) -> None:
    daily_notes.append("And back", user=alice)
    left = [dies_at]
    write = file_copies.write

    def dying(user_id: int, path: str, text: str) -> None:
        left[0] -= 1
        if not left[0]:
            raise Kill
        write(user_id, path, text)

    monkeypatch.setattr(file_copies, "write", dying)
    with pytest.raises(Kill), as_user(alice):
        file_sync.write_note_copies(alice)
    monkeypatch.undo()
    daily_notes.append("Home again", user=alice)
    assert not file_sync.sync(alice).failed
    assert on_disk(alice)[daily_notes.path_of(noted.on)].endswith("Home again\n")


@pytest.mark.usefixtures("plain_reader")
def test_forgetting_takes_a_line_out_of_the_copies_and_keeps_the_rest(
    alice: User, noted: DailyNote
) -> None:
    line = note(alice, "I am allergic to peanuts.")
    make_memory(alice, "Lives in Lisbon")
    consolidate(alice)
    file_sync.sync(alice)
    assert "peanuts" in on_disk(alice)[daily_notes.path_of(line.on)]
    with as_user(alice):
        memory = Memory.objects.get(content__contains="peanuts")
        memory_forgets.forget_memory(user=alice, memory=memory)
    worker.drain()
    assert Receipt.objects.get().scan["residue"] == 0
    said = on_disk(alice)
    assert not any("peanuts" in text for text in said.values())
    assert "harbour" in said[daily_notes.path_of(noted.on)] and not file_sync.sync(alice).failed


def test_with_the_person_all_copies_go(alice: User, noted: DailyNote) -> None:
    folder = place(alice, WRITTEN).parent
    assert folder.exists()
    with as_user(alice):
        everything.forget_user(user=alice)
    worker.drain()
    assert not folder.exists()
