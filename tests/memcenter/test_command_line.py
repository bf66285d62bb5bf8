"""The console command and `manage.py` share one command line; the places of code and data."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.conf import LazySettings
from django.core.management import call_command, get_commands
from django.db import OperationalError

from foundation import env, paths
from memcenter import command_line
from memcenter.management.commands import serve
from tests.live import ROOT


def memcenter(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "memcenter", *arguments],
        cwd=ROOT,
        env={**os.environ, "MEMCENTER_DATA_DIR": str(folder)},
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("arguments", [[], ["help"], ["--help"]])
def test_help_names_the_few_commands_that_people_need_and_makes_no_folder(
    arguments: list[str], tmp_path: Path
) -> None:
    done = memcenter(*arguments, folder=tmp_path / "data")
    assert done.returncode == 0 and str(tmp_path / "data") in done.stdout
    for name in ("up", "demo", "backup", "restore", "createkey", "mcp", "doctor"):
        assert f"\n  {name} " in done.stdout
        assert command_line.ALIASES.get(name, name) in get_commands()
    assert not (tmp_path / "data").exists()


def test_a_short_name_runs_its_command(tmp_path: Path) -> None:
    done = memcenter("createkey", "--help", folder=tmp_path / "data")
    assert done.returncode == 0 and "--requires-user" in done.stdout


def test_serving_sets_the_defaults_of_agents_unless_they_are_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MEMCENTER_DEFAULT_OWNER", "maria")
    monkeypatch.setenv("MEMCENTER_DEFAULT_PROJECT", "")
    monkeypatch.delenv("MEMCENTER_DEFAULT_PROJECT")
    command_line._set_defaults_for_agents()
    assert os.environ["MEMCENTER_DEFAULT_OWNER"] == "maria"
    assert os.environ["MEMCENTER_DEFAULT_PROJECT"] == "general"


@pytest.mark.parametrize("command", ["up", "createkey"])
def test_a_folder_that_cant_be_used_is_one_sentence_that_leads_to_the_doctor(
    tmp_path: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DATABASE_URL", raising=False)
    (tmp_path / "file").touch()
    folder = tmp_path / "file" / "data"
    done = memcenter(command, folder=folder)
    assert done.returncode == 1
    assert done.stderr == (
        f"The data folder {folder} can't be used (Not a directory). "
        "`manage.py doctor` says what to do.\n"
    )


_FULL = "could not extend file: No space left on device\nHINT:  Check free disk space."


@pytest.mark.parametrize(
    ("failure", "told"),
    [
        (
            OSError(errno.ENOSPC, "No space left on device"),
            "Memory Center can't be started (No space left on device).",
        ),
        (
            OperationalError(_FULL),
            "PostgreSQL fails (could not extend file: No space left on device). "
            "`manage.py doctor` says what to do.",
        ),
    ],
)
def test_a_disk_that_is_full_at_the_start_is_told_without_a_traceback(
    failure: Exception,
    told: str,
    tmp_path: Path,
    settings: LazySettings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(**options: object) -> None:
        raise failure

    settings.DATA_DIR = tmp_path / "data"
    monkeypatch.setattr(serve, "migrate_if_needed", fail)
    monkeypatch.setattr(
        serve, "Supervisor", lambda *of, prepare, **how: SimpleNamespace(run=prepare)
    )
    with pytest.raises(SystemExit) as ended:
        call_command("serve")
    assert ended.value.code == told


def test_an_unknown_command_is_refused(tmp_path: Path) -> None:
    done = memcenter("upp", "--help", folder=tmp_path / "data")
    assert done.returncode == 1 and "Unknown command: 'upp'" in done.stderr


def test_modules_of_the_current_folder_dont_take_the_place_of_ours(tmp_path: Path) -> None:
    for name in ("ops", "memories", "requests", "memcenter"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('not ours')", encoding="utf-8")
    command = [sys.executable, str(ROOT / "manage.py"), "check"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_checkout_keeps_its_data_beside_the_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MEMCENTER_DATA_DIR", raising=False)
    assert paths.data_folder() == ROOT / ".data"
    assert paths.assets_folder() == ROOT
    assert paths.program_name() == "manage.py"


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A copy without `manage.py`, of a user with an empty home; gives the home."""
    monkeypatch.setattr(paths, "BASE_DIR", tmp_path / "site-packages")
    monkeypatch.delenv("MEMCENTER_DATA_DIR", raising=False)
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def test_an_installed_copy_keeps_its_data_in_the_home(installed: Path) -> None:
    assert paths.data_folder() == installed / ".local/share/memcenter"
    assert paths.assets_folder() == installed / "site-packages/memcenter/assets"
    assert paths.program_name() == "memcenter"


def test_the_desktops_data_folder_is_respected_if_it_is_absolute(
    installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", "/somewhere")
    assert paths.data_folder() == Path("/somewhere/memcenter")
    monkeypatch.setenv("XDG_DATA_HOME", "here")
    assert paths.data_folder() == installed / ".local/share/memcenter"


@pytest.mark.usefixtures("installed")
def test_a_named_data_folder_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", "/somewhere")
    monkeypatch.setenv("MEMCENTER_DATA_DIR", "/named")
    assert paths.data_folder() == Path("/named")


@pytest.mark.usefixtures("installed")
def test_a_user_without_a_home_is_told_which_setting_helps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("HOME")

    def unknown(uid: int) -> None:
        raise KeyError(uid)

    monkeypatch.setattr("pwd.getpwuid", unknown)
    with pytest.raises(env.BadSetting, match="MEMCENTER_DATA_DIR is missing"):
        paths.data_folder()
