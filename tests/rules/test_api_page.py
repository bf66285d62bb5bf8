"""The page on the API names every kind of operation."""

from ops.models import Kind
from tests.catalog import ROOT


def test_the_page_names_every_kind_of_operation() -> None:
    page = (ROOT / "docs/api.md").read_text(encoding="utf-8")
    assert [kind for kind in Kind.values if f"`{kind}`" not in page] == []
