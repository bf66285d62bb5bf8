"""Read our own export: rows by kind, in the order of the file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conversations.importing.formats import json_stream
from memcenter.lib.errors import Invalid

FORMAT, VERSION = "memory_center", 1
Table = tuple[str, Iterator[Mapping[str, Any]]]


@dataclass(frozen=True)
class Contents:
    """The number of rows by kind. `complete` is stated only at the very end of a file."""

    rows: Mapping[str, int]
    version: object
    complete: bool


def survey(path: Path) -> Contents:
    """Read the whole file once. Raises `Invalid` for a broken, truncated or newer file."""
    rows: Counter[str] = Counter()
    version, complete = None, False
    for prefix, event, value in json_stream.events(path):
        if event == "start_map" and prefix.startswith("data.") and prefix.count(".") == 2:
            rows[prefix.split(".")[1]] += prefix.endswith(".item")
        elif prefix == "version":
            version = value
        elif prefix == "complete":
            complete = value is True
    if version != VERSION:
        raise Invalid.field("file", "The export was made by another version and can't be read.")
    if not complete:
        raise Invalid.field("file", "The export is cut off: its end is missing.")
    return Contents(dict(rows), version, complete)


def tables(path: Path, contents: Contents) -> Iterator[Table]:
    for name, count in contents.rows.items():
        if count:
            yield name, json_stream.items(path, f"data.{name}.item")
