"""docs/rows.md: every row names a test and a place in the code, and both exist."""

import re

import pytest

from tests.live import ROOT

PAGE = (ROOT / "docs/rows.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in PAGE.splitlines()
    if line.startswith("| ") and not line.startswith("| section")
]


def test_all_five_documents_have_rows() -> None:
    assert re.findall(r"^## (\d{3})", PAGE, re.MULTILINE) == ["000", "001", "002", "003", "004"]
    assert len(ROWS) > 80


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]} {row[1][:40]}")
def test_a_row_names_a_test_and_a_place_that_exist(row: list[str]) -> None:
    _, feature, where, test = row
    path, _, name = test.strip("`|").partition("::")
    text = (ROOT / "tests" / path).read_text(encoding="utf-8")
    assert feature and (not name or f"def {name}(" in text), test
    for place in re.findall(r"`([\w./-]+)`", where):
        found = (ROOT / place).exists() or (ROOT / "tests" / place).exists()
        assert found or place.startswith("/") or place.isupper(), place
