"""Run every benchmark, one after the other.

    .venv/bin/python -m bench [FOLDER]

FOLDER (default `../shared/data`) holds `locomo/*.json` and `memorybank/*.json`. A benchmark whose
files are missing is skipped. The output of each benchmark is printed; the last line is one JSON
object with the figures of all benchmarks.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bench.product import ROOT, print_result

FOLDER = ROOT.parent / "shared" / "data"
# Program name -> the folders that hold its files.
NEED_FILES = {
    "locomo": ("locomo",),
    "memorybank": ("memorybank",),
    "compaction": ("locomo", "memorybank"),
    "robustness": ("locomo", "memorybank"),
}


def main(folder: Path) -> int:
    figures: dict[str, Any] = {}
    failed: list[str] = []
    for program in programs():
        folders = NEED_FILES.get(program.stem, ())
        files = [file for name in folders for file in sorted((folder / name).glob("*.json"))]
        if program.stem in NEED_FILES and not files:
            print(f"\n{program.stem}: left out, no files in {folder}")
            continue
        print(f"\n{program.stem}", flush=True)
        result = run(program, files)
        if result is None:
            failed.append(program.stem)
        else:
            figures[program.stem] = result
    print(f"\nfailed: {', '.join(failed)}" if failed else "")
    print_result(figures)
    return 1 if failed else 0


def programs() -> Iterator[Path]:
    """Yield the files whose docstring says how to run them; other files are shared modules."""
    for path in sorted(Path(__file__).parent.glob("*.py")):
        if f"    .venv/bin/python bench/{path.name}" in path.read_text("utf-8"):
            yield path


def run(program: Path, files: Sequence[Path]) -> Any:
    """Run a program, echo its output, and return its figures, or None if it failed."""
    command = [sys.executable, str(program), *map(str, files)]
    last = ""
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout
        for line in running.stdout:
            print(f"  {line}", end="", flush=True)
            last = line.strip() or last
    return json.loads(last) if running.returncode == 0 else None


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if sys.argv[1:] else FOLDER))
