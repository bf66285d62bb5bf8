"""The lighter files that stand in place of those of the admin's package."""

from __future__ import annotations

import pytest
from django.contrib.staticfiles import finders

from tests import admin_icons
from tests.live import ROOT

OURS = ROOT / "static/unfold"


NAMES = sorted(str(one.relative_to(ROOT / "static")) for one in OURS.rglob("*") if one.is_file())


@pytest.mark.parametrize("name", NAMES)
def test_each_stands_in_place_of_a_file_of_the_package(name: str) -> None:
    found = finders.find(name, find_all=True)
    assert name.endswith("icons.txt") or len(found) == 2
    assert str(found[0]).startswith(str(ROOT))


def test_the_icon_font_has_every_icon_that_the_package_names() -> None:
    kept = set(admin_icons.LIST.read_text(encoding="utf-8").split())
    assert len(kept) > 40
    assert admin_icons.named_icons() - kept == set(), "Run python -m tests.admin_icons."
    assert admin_icons.FONT.stat().st_size < 20_000


def test_no_page_of_the_admin_draws_a_chart() -> None:
    """One that did would need the package's Chart.js."""
    ours = [*ROOT.glob("*/admin.py"), *(ROOT / "ops/admin").glob("*.py")]
    assert len(ours) > 3
    assert [one for one in ours if "chart" in one.read_text(encoding="utf-8").lower()] == []
