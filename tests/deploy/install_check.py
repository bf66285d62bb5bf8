"""Install the wheel as people do, for each Python that is here, and start it.

    python -m tests.deploy.install_check [3.12 ...]

An environment of its own, as `pipx` makes it, by another user (`nobody`, where this is root) in an
empty home, with the newest packages that `requirements.in` allows. Needs the network, so it runs
by `make install-check` and not in the gate. Where `uvx` is, `uvx --from` is tried as well.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.live import ROOT, answers, free_port

VERSIONS = ("3.11", "3.12", "3.13")
NOBODY = 65534
_OURS = ("DATABASE_URL", "MEMCENTER_", "REDIS_URL", "PORT", "DJANGO_", "XDG_", "PYTHON")
_START_SECONDS = 600
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


@dataclass(frozen=True)
class Home:
    """An empty home, and a user who has nothing else."""

    path: Path
    libraries: Path
    user: int | None = NOBODY if os.geteuid() == 0 else None

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
        here = {"HOME": str(self.path), "TMPDIR": str(self.path)}
        return (
            kept
            | here
            | {"LD_LIBRARY_PATH": str(self.libraries), "UV_CACHE_DIR": f"{self.path}/uv"}
        )

    def run(self, *words: str | Path, **more: str) -> None:
        """Raises `CalledProcessError` with what was said."""
        subprocess.run(
            words,
            cwd=self.path,
            env=self.environment | more,
            user=self.user,
            group=self.user,
            extra_groups=[] if self.user else None,
            check=True,
        )

    @contextmanager
    def running(self, *words: str | Path, port: int) -> Iterator[subprocess.Popen[bytes]]:
        process = subprocess.Popen(
            words,
            cwd=self.path,
            env={**self.environment, "PORT": str(port)},
            user=self.user,
            group=self.user,
            extra_groups=[] if self.user else None,
        )
        try:
            yield process
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(120)


def build(place: Path) -> Path:
    """Build the wheel from a copy, since a build leaves folders beside the sources."""
    sources = place / "sources"
    for name in _SOURCES:
        shutil.copytree(ROOT / name, sources / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in _FILES:
        shutil.copy(ROOT / name, sources)
    pip = [sys.executable, "-m", "pip", "--quiet", "wheel", "--no-deps"]
    subprocess.run([*pip, "--wheel-dir", place / "dist", sources], check=True)
    return next((place / "dist").glob("memory_center-*.whl"))


def python_of(version: str) -> Path | None:
    """Return an interpreter of this version, from the path or from pyenv."""
    known = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python{version}"))
    found = shutil.which(f"python{version}")
    candidates = [*known, *([Path(found)] if found and "shims" not in found else [])]
    return next((one for one in candidates if one.is_file()), None)


def install(version: str, python: Path, *, place: Path, wheel: Path) -> None:
    """Raises `CalledProcessError` or `TimeoutError`."""
    # Others can't read what lies in somebody's home.
    prefix = place / f"python-{version}"
    shutil.copytree(python.parents[1], prefix, symlinks=True)
    home = Home(place / f"home-{version}", prefix / "lib")
    home.path.mkdir()
    if home.user:
        os.chown(home.path, home.user, home.user)
    home.run(prefix / f"bin/python{version}", "-m", "venv", home.path / "venv")
    home.run(home.path / "venv/bin/python", "-m", "pip", "--quiet", "install", wheel)
    program, port = home.path / "venv/bin/memcenter", free_port()
    home.run(program, "doctor", PORT=str(port))
    with home.running(program, "up", port=port) as process:
        _wait(process, port)
    if uvx := shutil.which("uvx"):
        python = prefix / f"bin/python{version}"
        home.run(uvx, "--python", python, "--from", wheel, "memcenter", "doctor", PORT=str(port))


def _wait(process: subprocess.Popen[bytes], port: int) -> None:
    until = time.monotonic() + _START_SECONDS
    while not answers(f"http://127.0.0.1:{port}"):
        if process.poll() is not None or time.monotonic() > until:
            raise TimeoutError("It did not answer.")
        time.sleep(0.5)


def main(versions: Sequence[str]) -> int:
    place = Path(tempfile.mkdtemp(prefix="mc-", dir="/tmp"))
    place.chmod(0o755)
    results: dict[str, str] = {}
    try:
        wheel = build(place)
        for version in versions:
            python = python_of(version)
            results[version] = "isn't here" if python is None else "works"
            if python is not None:
                try:
                    install(version, python, place=place, wheel=wheel)
                except (subprocess.CalledProcessError, TimeoutError) as error:
                    results[version] = f"fails: {error}"
    finally:
        shutil.rmtree(place, ignore_errors=True)
    for version, result in results.items():
        print(f"Python {version}: {result}")  # noqa: T201  for the terminal
    print("uvx:", "tried" if shutil.which("uvx") else "isn't here")  # noqa: T201
    return int(any(result.startswith("fails") for result in results.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or VERSIONS))
