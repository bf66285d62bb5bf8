"""Every benchmark, one after the other: those that need files only where their files are.

    .venv/bin/python -m bench [FOLDER]

FOLDER (default `../shared/data`) holds `locomo/*.json` and `memorybank/*.json`. Prints what each
one prints and, as the last line, one JSON object of the figures of all.
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
# By the name of their program, the folders in which their files lie.
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
    """What says how it is run alone; the rest of the folder is what they share or start."""
    for path in sorted(Path(__file__).parent.glob("*.py")):
        if f"    .venv/bin/python bench/{path.name}" in path.read_text("utf-8"):
            yield path


def run(program: Path, files: Sequence[Path]) -> Any:
    """Its figures, None when it failed; its table is printed as it comes."""
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
