"""Tell what a file is by what is in it, and read it."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

from conversations.importing import jsonl, locomo, memorybank
from conversations.importing.types import ImportedPerson, Report, Skipped
from memcenter.lib.errors import Invalid

# So many lines may be broken at the top of a JSON lines file before it is taken for something else.
LINES_LOOKED_AT = 50


def silent(skipped: Skipped) -> None:
    """The report of a caller who doesn't want one."""


def read(
    path: Path,
    *,
    report: Report = silent,
    now: datetime | None = None,
) -> Iterator[ImportedPerson]:
    """The people of the file, one by one; what can't be taken goes to `report`.

    Raises `Invalid` at once, before the first person, when the file is in none of the formats
    that hold conversations of people. `now` is what a demo's "days ago" are counted from.
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
