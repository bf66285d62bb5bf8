"""Ten thousand random forgets of all scopes by many people, and what is left of them.

    .venv/bin/python bench/forgets.py [--forgets 10000] [--people 60] [--seconds 3000]

Everything that anybody says holds a word of its own. Each forget is the product's own operation
with its own residue scan; a worker takes 25 at a time, so that they lie on top of one another. In
the end every row, key and file of the instance is searched for every word: of what was forgotten
none may be found (`residue`), of all else each must be (`lost`).
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

_OURS = ("DATABASE_URL", "MEMCENTER_", "REDIS_URL", "PORT", "DJANGO_")
ROOT = Path(__file__).resolve().parent.parent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--forgets", type=int, default=10_000)
    parser.add_argument("--people", type=int, default=60)
    parser.add_argument("--seconds", type=float, default=3_000.0, help="ask for no more after that")
    given = parser.parse_args()
    told = _run(
        "from bench import forgets_world\n"
        f"forgets_world.run(people={given.people}, forgets={given.forgets},"
        f" seconds={given.seconds})"
    )
    for name, value in told.items():
        print(f"{name:<26}{value}")
    print(json.dumps(told))


def _run(code: str) -> dict[str, object]:
    """On an instance of its own, without a web server."""
    folder = Path(tempfile.mkdtemp(prefix="memcenter-bench-"))
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
    try:
        done = subprocess.run(
            [sys.executable, "manage.py", "shell", "--no-imports", "--command", code],
            cwd=ROOT,
            env=kept | {"MEMCENTER_DATA_DIR": str(folder / "data"), "MEMCENTER_LOG_LEVEL": "ERROR"},
            capture_output=True,
            text=True,
        )
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if done.returncode != 0:
        raise SystemExit(done.stderr[-3000:])
    told: dict[str, object] = json.loads(done.stdout.strip().splitlines()[-1])
    return told


if __name__ == "__main__":
    main()
