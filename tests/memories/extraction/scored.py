"""Scored sets: tables of sentences with their expected results, and a floor for each language."""

import csv
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

Row = Mapping[str, str]
Floors = Mapping[tuple[str, str], int]  # percentages by subject and language, where not 100


def table(name: str, subject: str = "") -> list[Row]:
    """Return the rows of `sets/<name>.tsv`, or those of one subject."""
    path = Path(__file__).parent / "sets" / f"{name}.tsv"
    with path.open(encoding="utf-8", newline="") as lines:
        rows = [*csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)]
    return [row for row in rows if subject in ("", row["subject"])]


def groups(name: str) -> list[tuple[str, str]]:
    """Return each subject and language of a table."""
    return sorted({(row["subject"], row["language"]) for row in table(name)})


def listed(text: str) -> list[str]:
    """Return the parts of a cell that holds several texts."""
    return [part for part in text.split(" | ") if part]


def missed(rows: Iterable[Row], result: Callable[[Row], str]) -> list[str]:
    """Return a line for each row whose result isn't the expected one."""
    results = [(row, result(row)) for row in rows]
    return [f"{found!r} for {dict(row)}" for row, found in results if found != row["expected"]]


def assert_floor(
    name: str, subject: str, language: str, result: Callable[[Row], str], floors: Floors
) -> None:
    rows = [row for row in table(name, subject) if row["language"] == language]
    misses = missed(rows, result)
    right, floor = 100 - -(-100 * len(misses) // len(rows)), floors.get((subject, language), 100)
    assert right >= floor, "\n".join([f"{right}% of {len(rows)} rows, not {floor}%:", *misses])
