"""Ten thousand random forgets of all scopes by many people who go on writing; what is left of it.

    .venv/bin/python bench/forgets.py [--forgets 10000] [--processes 2] [--seconds 3000]

Everything that anybody says holds a word of its own. Each forget is the product's own operation
with its own residue scan; processes with people of their own ask for 25 at a time and drain
whatever waits, so that forgets lie on top of one another. In the end every row, key and file of
the instance is searched for every word: of what was forgotten none may be found (`residue`), of
all else each must be (`lost`); and the rows of people who did nothing are the same byte by byte
(`disturbed`).
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
        told = _all(folder, given)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for name, value in told.items():
        print(f"{name:<26}{value}")
    print(json.dumps(told))


def _all(folder: Path, given: argparse.Namespace) -> dict[str, Any]:
    """The first process lends the others its databases until everything was asked."""
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
        parts = [_answer(one) for one in crowds]
        seconds = time.monotonic() - began
        words = {name: [word for one in parts for word in one[name]] for name in ("gone", "stay")}
        asked = folder / "asked.json"
        asked.write_text(json.dumps({**words, "standing": standing}))
        code = f"import json; forgets_told.end(**json.load(open({str(asked)!r})))"
        left = _answer(_start(folder, _call(code)))
    finally:
        keeper.stdin.close()
        keeper.wait()
    scopes: Counter[str] = sum((Counter(one["scopes"]) for one in parts), Counter())
    return {
        "forgets": scopes.total(),
        "scopes": dict(scopes),
        "people": sum(one["people"] for one in parts),
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
    """On an instance of its own, without a web server."""
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
    said, _ = process.communicate()
    if process.returncode != 0:
        raise SystemExit(f"A process ended with {process.returncode}.")
    return json.loads(said.strip().splitlines()[-1])


if __name__ == "__main__":
    main()
