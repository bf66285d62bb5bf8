"""The page on the API names every kind of operation, and every path as the schema has it."""

from ops.models import Kind
from tests.catalog import ROOT
from tests.memcenter.rest.test_schema import generated


def page() -> str:
    return (ROOT / "docs/api.md").read_text(encoding="utf-8")


def test_the_page_names_every_kind_of_operation() -> None:
    told = page()
    assert [kind for kind in Kind.values if f"`{kind}`" not in told] == []


def test_the_page_lists_every_path_of_the_schema_and_no_other() -> None:
    paths = {
        f"| `{method.upper()} {path.removeprefix('/api/v1')}` | {one['summary']} |"
        for path, methods in generated()["paths"].items()
        for method, one in methods.items()
    }
    listed = page().partition("## Every path")[2].splitlines()
    assert {line for line in listed if line.startswith("| `")} == paths
