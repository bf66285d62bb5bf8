"""What a Dockerfile and a `.dockerignore` say; refused is what ours don't use."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_KNOWN = {"FROM", "WORKDIR", "RUN", "COPY", "ENV", "USER", "VOLUME", "EXPOSE", "STOPSIGNAL", "CMD"}


@dataclass(frozen=True)
class Step:
    word: str
    said: str


def steps(text: str) -> list[Step]:
    kept = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
    lines = [line for line in kept.replace("\\\n", "").splitlines() if line.strip()]
    found = [Step(*line.strip().split(maxsplit=1)) for line in lines]
    assert {one.word for one in found} <= _KNOWN
    return found


class Ignored:
    """Patterns count from the root of the context; what lies in a folder left out is left out."""

    def __init__(self, text: str) -> None:
        lines = [line.strip() for line in text.splitlines()]
        patterns = [line.strip("/") for line in lines if line and not line.startswith("#")]
        assert not any(one.startswith("!") for one in patterns)
        self._any = re.compile("|".join(map(_expression, patterns)) or "(?!)")

    def __contains__(self, path: str) -> bool:
        return self._any.fullmatch(path) is not None


def context(root: Path) -> Iterator[Path]:
    """All that `COPY . .` takes, relative to `root`; folders before what is in them."""
    ignored = Ignored((root / ".dockerignore").read_text(encoding="utf-8"))
    for place, folders, files in os.walk(root):
        here = Path(place).relative_to(root)
        folders[:] = [one for one in sorted(folders) if str(here / one) not in ignored]
        yield from (here / one for one in folders)
        yield from (here / one for one in sorted(files) if str(here / one) not in ignored)


def _expression(pattern: str) -> str:
    parts = re.split(r"(\*\*/|\*|\?)", pattern)
    known = {"**/": "(?:.*/)?", "*": "[^/]*", "?": "[^/]"}
    return "".join(known.get(part) or re.escape(part) for part in parts)
