"""`docs/security.md`: each threat names its tests, and they exist."""

import ast
import re

import pytest

from tests.live import ROOT

_ROW = re.compile(r"^\| (?P<threat>[^|]+) \| (?P<against>[^|]+) \| (?P<tests>[^|]*) \|$", re.M)
_TEST = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


def threats() -> dict[str, list[tuple[str, str]]]:
    page = (ROOT / "docs/security.md").read_text(encoding="utf-8")
    table = page.split("## Threats")[1].split("\n## ")[0]
    rows = [found for found in _ROW.finditer(table) if not found["threat"].startswith("-")]
    return {row["threat"]: _TEST.findall(row["tests"]) for row in rows[1:]}


def test_the_page_has_many_threats() -> None:
    assert len(threats()) > 20


@pytest.mark.parametrize("threat", threats())
def test_every_threat_names_tests_that_exist(threat: str) -> None:
    named = threats()[threat]
    assert named
    for path, name in named:
        tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
        assert name in {one.name for one in tree.body if isinstance(one, ast.FunctionDef)}
