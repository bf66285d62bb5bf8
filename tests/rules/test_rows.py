"""docs/rows.md: each section of the documents has a row; every row names tests and a place."""

from __future__ import annotations

import re

import pytest

from tests.live import ROOT
from tests.memcenter.rest.test_schema import generated, operations

PAGE = (ROOT / "docs/rows.md").read_text(encoding="utf-8")
SETTINGS = (ROOT / "docs/configuration.md").read_text(encoding="utf-8")
_, *PARTS = re.split(r"^## (\d{3}).*$", PAGE, flags=re.MULTILINE)
DOCUMENTS = dict(zip(PARTS[::2], PARTS[1::2], strict=True))
# The headings of the five documents, which lie beside the repository: those with a number by their
# number, those of 001 without one by a word of ours. A heading that only groups others is left out.
HEADINGS = {
    "000": (
        "1.1 1.2 2.1 2.2 2.3 2.4 2.5 2.6 3.1 3.2 3.3 3.4 3.5"
        " 4.1 4.2 4.3 4.4 5.1 5.2 5.3 6 7.1 7.2 8 9"
    ),
    "001": (
        "tables memory_items memory_vector_store write read places api notes relations scope next"
        " 1 2 3 4 5 6 7 8"
    ),
    "002": "head 1 2.1 2.2 2.3 3.1 3.2 4.1 4.2 5.1 5.2 5.3 6.1 6.2 7 8",
    "003": "1.1 1.2 2 3 4 5 6",
    "004": ("1 2.1 2.2 3.1 3.2 4.1 4.2 4.3 4.4 4.5 5 5.1 5.2 5.3 5.4 6.1 6.2 6.3 7.1 7.2 7.3 8 9"),
}


@pytest.fixture(scope="module")
def calls() -> set[str]:
    """The calls of the API as they are written here: `GET /memories`."""
    return {
        f"{method.upper()} {path.removeprefix('/api/v1')}"
        for path, method, _ in operations(generated())
    }


def rows(page: str) -> list[list[str]]:
    return [
        [cell.strip() for cell in line.strip("|").split(" | ")]
        for line in page.splitlines()
        if line.startswith("| ") and not line.startswith("| section")
    ]


def left_out(page: str) -> dict[str, str]:
    """Return the sections that have no row, each with the reason in brackets."""
    told = re.findall(r"^No row: (.*)\.$", page, re.MULTILINE)
    return dict(re.findall(r"(\S+) \(([^()]+)\)", " ".join(told)))


def test_all_five_documents_have_rows() -> None:
    assert list(DOCUMENTS) == list(HEADINGS)
    assert len(rows(PAGE)) > 80


@pytest.mark.parametrize("document", HEADINGS)
def test_every_heading_has_a_row_or_a_reason_why_not(document: str) -> None:
    page = DOCUMENTS[document]
    named = [section.strip() for row in rows(page) for section in row[0].split(",")]
    without = left_out(page)
    assert not set(named) & set(without)
    assert {*named, *without} == set(HEADINGS[document].split())


@pytest.mark.parametrize("row", rows(PAGE), ids=lambda row: f"{row[0]} {row[1][:40]}")
def test_a_row_names_tests_and_places_that_exist(row: list[str], calls: set[str]) -> None:
    _, feature, where, named = row
    tests, places = (re.findall(r"`([^`]+)`", cell) for cell in (named, where))
    assert feature and tests and places
    for test in tests:
        path, _, name = test.partition("::")
        text = (ROOT / "tests" / path).read_text(encoding="utf-8")
        assert not name or f"def {name}(" in text, test
    for place in places:
        is_setting = place.isupper() and f"`{place}`" in SETTINGS
        assert (ROOT / place).exists() or place in calls or is_setting, place
