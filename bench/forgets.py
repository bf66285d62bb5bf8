"""Run ten thousand random forgets by many people who keep writing, and look for residue.

    .venv/bin/python bench/forgets.py [--forgets 10000] [--processes 2] [--seconds 3000]

Every text contains a unique word. Each forget is an ordinary operation of the product with its own
residue scan. Several processes, each with its own people, request 25 forgets at a time and then
drain the queue, so that forgets overlap. At the end every row, key and file of the instance is
searched for every word. No forgotten word may be found (`residue`) and every other word must be
found (`lost`). The rows of people who did nothing must not have changed (`disturbed`).
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

_OURS = ("DATABASE_URL", "MEMCENTER_", "REDIS_URL", "PORT", "DJANGO_")
ROOT = Path(__file__).resolve().parent.parent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--forgets", type=int, default=10_000)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=3_000.0, help="ask for no more after that")
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="memcenter-bench-"))
    try:
        figures = _all(folder, given)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for name, value in figures.items():
        print(f"{name:<26}{value}")
    print(json.dumps(figures))


def _all(folder: Path, given: argparse.Namespace) -> dict[str, Any]:
    """Run the benchmark. The first process keeps the databases running for the others."""
    keeper = _start(folder, "import sys; print('{}', flush=True); sys.stdin.read()")
    assert keeper.stdout is not None
    assert keeper.stdin is not None
    keeper.stdout.readline()
    try:
        standing = _answer(_start(folder, _call("forgets_told.begin()")))
        began = time.monotonic()
        crowds = [
            _start(folder, _call(f"forgets_world.run({_share(given, number)})"))
            for number in range(given.processes)
        ]
        parts = [_answer(process) for process in crowds]
        seconds = time.monotonic() - began
        words = {name: [word for part in parts for word in part[name]] for name in ("gone", "stay")}
        asked = folder / "asked.json"
        asked.write_text(json.dumps({**words, "standing": standing}))
        code = f"import json; forgets_told.end(**json.load(open({str(asked)!r})))"
        left = _answer(_start(folder, _call(code)))
    finally:
        keeper.stdin.close()
        keeper.wait()
    scopes: Counter[str] = sum((Counter(part["scopes"]) for part in parts), Counter())
    return {
        "forgets": scopes.total(),
        "scopes": dict(scopes),
        "people": sum(part["people"] for part in parts),
        **left,
        "words_gone": len(words["gone"]),
        "words_staying": len(words["stay"]),
        "seconds": round(seconds, 1),
    }


def _share(given: argparse.Namespace, number: int) -> str:
    forgets = given.forgets // given.processes
    return f"first={number * 2_000}, forgets={forgets}, seconds={given.seconds}, seed={7 + number}"


def _call(code: str) -> str:
    return f"from bench import forgets_told, forgets_world; {code}"


def _start(folder: Path, code: str) -> subprocess.Popen[str]:
    """Run code in a Django shell on the benchmark's instance, without a web server."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
    return subprocess.Popen(
        [sys.executable, "manage.py", "shell", "--no-imports", "--command", code],
        cwd=ROOT,
        env=kept | {"MEMCENTER_DATA_DIR": str(folder / "data"), "MEMCENTER_LOG_LEVEL": "ERROR"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def _answer(process: subprocess.Popen[str]) -> Any:
    output, _ = process.communicate()
    if process.returncode != 0:
        raise SystemExit(f"A process ended with {process.returncode}.")
    return json.loads(output.strip().splitlines()[-1])


if __name__ == "__main__":
    main()
