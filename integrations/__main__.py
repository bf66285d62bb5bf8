"""Run the tests of all integrations, each with its real packages, against one live product.

Use `make integrations`, or `.venv/bin/python -m integrations langchain mcp` for some of them. The
packages are installed into `.cache/integrations`. They are large, so `make test` doesn't run these
tests.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Mapping
from pathlib import Path

from tests.live import ROOT, Product, server

HERE = Path(__file__).parent
CACHE = ROOT / ".cache" / "integrations"
NAMES = sorted(path.parent.name for path in HERE.glob("*/*test*"))


def main(asked: list[str]) -> None:
    unknown = set(asked) - set(NAMES)
    if unknown:
        sys.exit(f"There is no integration {', '.join(sorted(unknown))}, only {', '.join(NAMES)}.")
    with server() as live:
        product = live.start()
        failed = [name for name in asked or NAMES if not _passes(name, product)]
    if failed:
        sys.exit(f"Failed: {', '.join(failed)}")


def _passes(name: str, product: Product) -> bool:
    print(f"\n{name}", flush=True)
    is_npm = (HERE / name / "package.json").exists()
    command, place = _with_npm(name) if is_npm else _with_pip(name)
    done = subprocess.run(command, cwd=place, env=_environment(product))
    return done.returncode == 0


def _with_pip(name: str) -> tuple[list[str], Path]:
    """Create the virtual environment of an integration, unless it is up to date.

    Return the command that runs the tests, and the folder in which to run it.
    """
    place, wanted = CACHE / name, HERE / name / "requirements.txt"
    python = place / "bin" / "python"
    if not _is_made(place, wanted):
        venv.create(place, clear=True, with_pip=True)
        pip = [str(python), "-m", "pip", "--disable-pip-version-check", "-qq", "install"]
        subprocess.run([*pip, "--no-deps", "--requirement", str(wanted)], check=True)
        _mark_as_made(place, wanted)
    options = ["-q", "-c", str(HERE / "pytest.ini"), str(HERE / name)]
    return [str(python), "-m", "pytest", *options], ROOT


def _with_npm(name: str) -> tuple[list[str], Path]:
    """Copy the integration and install its packages in the copy, unless they are up to date.

    Return the command that runs the tests, and the folder in which to run it.
    """
    place, wanted = CACHE / name, HERE / name / "package-lock.json"
    if not _is_made(place, wanted):
        shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(HERE / name, place, dirs_exist_ok=True)
    if not _is_made(place, wanted):
        subprocess.run(["npm", "ci", "--ignore-scripts", "--silent"], cwd=place, check=True)
        _mark_as_made(place, wanted)
    return ["node", "--test"], place


def _is_made(place: Path, wanted: Path) -> bool:
    mark = place / "made"
    return mark.exists() and mark.read_text(encoding="utf-8") == _digest(wanted)


def _mark_as_made(place: Path, wanted: Path) -> None:
    (place / "made").write_text(_digest(wanted), encoding="utf-8")


def _digest(wanted: Path) -> str:
    return hashlib.sha256(wanted.read_bytes() + sys.version.encode()).hexdigest()


def _environment(product: Product) -> Mapping[str, str]:
    return {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "MEMORY_CENTER_URL": product.address,
        "MEMORY_CENTER_KEY": product.api_key,
        "MEMORY_CENTER_DATA": product.environment["MEMCENTER_DATA_DIR"],
        "MEMORY_CENTER_PYTHON": sys.executable,
    }


if __name__ == "__main__":
    main(sys.argv[1:])
