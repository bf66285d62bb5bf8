"""Detect the format of a file by its content, and read it."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

from conversations.importing.formats import jsonl, locomo, memorybank
from conversations.importing.formats.types import ImportedPerson, Report, Skipped
from memcenter.lib.errors import Invalid

# With more broken lines than this at its beginning, a file isn't taken for JSON lines.
LINES_LOOKED_AT = 50


def silent(skipped: Skipped) -> None:
    """Ignore reports."""


def read(
    path: Path,
    *,
    report: Report = silent,
    now: datetime | None = None,
) -> Iterator[ImportedPerson]:
    """Yield the people of the file one by one; skipped parts are given to `report`.

    Raises `Invalid` before the first person if the file has none of the formats of conversations.
    `now` is the reference for a demo's "days ago".
    """
    if _is_jsonl(path):
        return jsonl.read(path, now=now or datetime.now(UTC), report=report)
    data = _load(path)
    if locomo.matches(data):
        return locomo.read(data, report=report)
    if memorybank.matches(data):
        return memorybank.read(data, report=report)
    raise unknown()


def _is_jsonl(path: Path) -> bool:
    with path.open("rb") as lines:
        said = (line for line in lines if line.strip())
        return any(jsonl.matches_line(line) for line in islice(said, LINES_LOOKED_AT))


def _load(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise unknown() from error


def unknown() -> Invalid:
    return Invalid.field("file", "The file is in none of the formats that can be imported.")
