"""The wheel: what it holds, and that an installed copy runs in an empty home."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
import urllib.request
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from foundation.embedded.folder import DataFolder
from tests.live import ROOT, free_port

_SOURCES = (
    "memcenter",
    "ops",
    "conversations",
    "memories",
    "foundation",
    "templates",
    "static",
    "locale",
)
_FILES = ("pyproject.toml", "setup.py", "requirements.in", "README.md", "LICENSE")
_OURS = ("DATABASE_URL", "MEMCENTER_", "REDIS_URL", "PORT", "DJANGO_", "XDG_", "PYTHON")
_PACKAGES = (sysconfig.get_paths()["purelib"], sysconfig.get_paths()["platlib"])


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    path = Path(tempfile.mkdtemp(prefix="mc-", dir="/tmp"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


@pytest.fixture(scope="module")
def wheel(place: Path) -> Path:
    """Built from a copy, since a build leaves folders beside the sources. Asks no network."""
    sources = place / "sources"
    for name in _SOURCES:
        shutil.copytree(ROOT / name, sources / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in _FILES:
        shutil.copy(ROOT / name, sources)
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--no-deps"]
    done = subprocess.run(
        [*command, "--no-index", "--no-build-isolation", "--wheel-dir", place / "dist", sources],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return next((place / "dist").glob("memory_center-*.whl"))


def test_it_holds_every_file_of_ours_and_nothing_else(wheel: Path, place: Path) -> None:
    files = [path for path in (place / "sources").rglob("*") if path.is_file()]
    ours = {str(path.relative_to(place / "sources")) for path in files}
    moved = ("templates/", "static/", "locale/")
    wanted = {
        f"memcenter/assets/{name}" if name.startswith(moved) else name
        for name in ours
        if name.startswith(tuple(f"{folder}/" for folder in _SOURCES))
    }
    held = set(zipfile.ZipFile(wheel).namelist())
    assert {name for name in held if ".dist-info/" not in name} == wanted


def test_it_requires_what_the_checkout_requires(wheel: Path) -> None:
    file = zipfile.ZipFile(wheel)
    name = next(one for one in file.namelist() if one.endswith("/METADATA"))
    lines = file.read(name).decode().splitlines()
    told = [one for one in lines if one.startswith("Requires-Dist: ") and "extra ==" not in one]
    lines = (ROOT / "requirements.in").read_text(encoding="utf-8").splitlines()
    assert len(told) == sum(bool(line.partition("#")[0].strip()) for line in lines)


class Installed:
    """A copy in an environment of its own, which finds required packages in that of the tests."""

    def __init__(self, place: Path, wheel: Path) -> None:
        self.home = place / "home"
        self.home.mkdir()
        venv.create(place / "venv", with_pip=False, symlinks=True)
        packages = next((place / "venv").glob("lib/python*/site-packages"))
        (packages / "required.pth").write_text("\n".join({*_PACKAGES}) + "\n", encoding="utf-8")
        python = place / "venv" / "bin" / "python"
        command: list[str | Path] = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
        command += ["--python", python]
        done = subprocess.run(
            [*command, "install", "--no-deps", "--no-index", wheel], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        self.program = place / "venv" / "bin" / "memcenter"
        kept = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
        self.environment = {**kept, "HOME": str(self.home), "PORT": str(free_port())}

    def get(self, path: str, *, language: str = "en") -> str:
        address = f"http://127.0.0.1:{self.environment['PORT']}{path}"
        request = urllib.request.Request(address, headers={"Accept-Language": language})
        with urllib.request.urlopen(request, timeout=20) as answer:
            return str(answer.read().decode())

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.program, *arguments],
            cwd=self.home,
            env=self.environment,
            capture_output=True,
            text=True,
        )


def test_an_installed_copy_runs_in_an_empty_home_and_is_well(place: Path, wheel: Path) -> None:
    copy = Installed(place, wheel)
    log = place / "up.log"
    with log.open("wb") as output:
        up = subprocess.Popen(
            [copy.program, "up"], cwd=copy.home, env=copy.environment, stdout=output, stderr=output
        )
    try:
        deadline = time.monotonic() + 180
        while "Ctrl-C" not in log.read_text(encoding="utf-8"):
            assert up.poll() is None and time.monotonic() < deadline, log.read_text()
            time.sleep(0.1)
        done = copy.run("doctor")
        assert done.returncode == 0, done.stdout + done.stderr
        assert f"runs and answers on 127.0.0.1:{copy.environment['PORT']}" in done.stdout
        # The page, its translation and its static files are found.
        page = copy.get("/signin/", language="zh-hans")
        assert "登录" in page and ".css" in page
        sheet = re.search(r"/static/css/app\.\w+\.css", page)
        assert sheet and "@layer" in copy.get(sheet[0])
        data = copy.home / ".local/share/memcenter"
        assert {"pg", "secrets.json", "static"} <= {path.name for path in data.iterdir()}
    finally:
        up.send_signal(signal.SIGTERM)
        assert up.wait(60) == 0, log.read_text()
        if (copy.home / ".local/share/memcenter").exists():
            DataFolder(copy.home / ".local/share/memcenter").remove()
