import errno
import os
import stat
from pathlib import Path

import pytest

from foundation.embedded.folder import DataFolder, EmbeddedError, FolderBusy


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def _take(folder: DataFolder, name: str) -> None:
    with folder.lock(name, wait=False):
        pass


def test_nobody_else_can_list_the_folder_or_read_its_secrets(folder: DataFolder) -> None:
    assert _mode(folder.path) & 0o066 == 0
    assert _mode(folder.path / "secrets.json") == 0o600
    assert _mode(folder.log) == 0o700


def test_the_secrets_stay_the_same_and_differ_from_another_folders(place: Path) -> None:
    first = DataFolder(place / "one").secrets
    assert DataFolder(place / "one").secrets == first
    other = DataFolder(place / "two").secrets
    assert len({*vars(first).values(), *vars(other).values()}) == 12


def test_a_damaged_secrets_file_is_reported_and_not_replaced(folder: DataFolder) -> None:
    file = folder.path / "secrets.json"
    file.write_text("{}")
    with pytest.raises(EmbeddedError, match="is damaged"):
        DataFolder(folder.path)
    assert file.read_text() == "{}"


def test_a_folder_that_cannot_be_made_is_one_sentence(place: Path) -> None:
    (place / "file").touch()
    with pytest.raises(EmbeddedError, match="can't be used"):
        DataFolder(place / "file" / "data")


def test_a_full_disk_is_one_sentence_and_leaves_no_file(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, target: Path) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(EmbeddedError, match=r"can't be used \(No space left on device\)\.$"):
        DataFolder(place / "data")
    assert {path.name for path in (place / "data").iterdir()} == {"log", "secrets.lock"}


def test_a_held_lock_refuses_the_next_and_is_free_again_afterwards(folder: DataFolder) -> None:
    with folder.lock("serve", wait=False), pytest.raises(FolderBusy, match="already runs on"):
        _take(folder, "serve")
    with folder.lock("serve", wait=False):
        assert (folder.path / "serve.lock").exists()


def test_shared_locks_live_side_by_side_and_keep_the_exclusive_one_out(folder: DataFolder) -> None:
    one, two = folder.lock("users", shared=True), folder.lock("users", shared=True)
    with one, two, pytest.raises(FolderBusy):
        _take(folder, "users")


def test_sockets_of_a_long_path_stand_in_a_short_private_folder(place: Path) -> None:
    folder = DataFolder(place / ("long" * 30))
    assert len(str(folder.run)) < 60
    assert _mode(folder.run) & 0o066 == 0
    assert DataFolder(folder.path).run == folder.run
    folder.postgres.mkdir()
    folder.remove()
    assert not folder.run.exists() and not folder.path.exists()
