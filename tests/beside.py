"""Code run beside a live product, in one process with Django set up: starting one takes seconds."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

_LOOP = """
import contextlib, io, json, sys, traceback
from django.db import connections
for line in sys.stdin:
    printed, error = io.StringIO(), ""
    try:
        with contextlib.redirect_stdout(printed):
            exec(json.loads(line), {})
    except Exception:
        error = traceback.format_exc()
    connections.close_all()
    print(json.dumps({"printed": printed.getvalue(), "error": error}), flush=True)
"""


class Beside:
    """Starts with the first code that is run; `end` it before the product's folder goes."""

    def __init__(self, root: Path, environment: Mapping[str, str]) -> None:
        self._root, self._environment = root, environment
        self._process: subprocess.Popen[str] | None = None

    def run(self, code: str) -> str:
        """What the code prints; an `AssertionError` with its traceback where it fails."""
        process = self._running()
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(json.dumps(code) + "\n")
        process.stdin.flush()
        line = process.stdout.readline()
        assert line, "The process beside the product ended."
        answer = json.loads(line)
        assert not answer["error"], answer["error"]
        return str(answer["printed"])

    def end(self) -> None:
        if self._process is not None:
            self._process.communicate(timeout=60)
            self._process = None

    def _running(self) -> subprocess.Popen[str]:
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "manage.py", "shell", "--no-imports", "--command", _LOOP],
                cwd=self._root,
                env=dict(self._environment),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        return self._process
