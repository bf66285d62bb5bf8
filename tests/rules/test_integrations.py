"""Integrations stay small, pinned and explained. `make integrations` runs them."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

from tests.live import ROOT

HERE, PAGES = ROOT / "integrations", ROOT / "docs" / "integrations"
INDEX = (PAGES / "README.md").read_text(encoding="utf-8")
FOLDERS = sorted({one.parent for one in HERE.glob("*/*test*")})
MOST_LINES = 100
_PINNED = re.compile(r"^([\w.-]+)(?:\[[\w,-]+\])?==(\S+)", re.MULTILINE)


def page_of(folder: Path) -> str:
    return f"{folder.name.replace('_', '-')}.md"


def name(path: Path) -> str:
    return path.name


@pytest.mark.parametrize("folder", FOLDERS, ids=name)
def test_what_is_to_be_copied_is_short(folder: Path) -> None:
    glue = [one for one in folder.glob("memory*") if "test" not in one.name]
    assert glue or folder.name == "mcp"
    for one in glue:
        assert len(one.read_text(encoding="utf-8").splitlines()) <= MOST_LINES, one


@pytest.mark.parametrize("folder", FOLDERS, ids=name)
def test_each_has_a_page_in_the_index(folder: Path) -> None:
    assert f"]({page_of(folder)})" in INDEX and (PAGES / page_of(folder)).exists()


@pytest.mark.parametrize("folder", FOLDERS, ids=name)
def test_the_version_in_the_index_is_the_one_that_is_tested(folder: Path) -> None:
    lock = folder / "requirements.txt"
    text = lock.read_text(encoding="utf-8") if lock.exists() else ""
    versions = set(dict(_PINNED.findall(text)).values())
    if not text:
        packages = json.loads((folder / "package.json").read_text(encoding="utf-8"))
        versions = set(packages["dependencies"].values())
        text = (folder / "package-lock.json").read_text(encoding="utf-8")
    assert '"resolved"' not in text and "index-url" not in text
    [row] = [
        line for line in INDEX.splitlines() if f"]({folder.name.replace('_', '-')}.md)" in line
    ]
    told = re.findall(r"\d+\.\d+\.\d+", row)
    assert told and set(told) <= versions


@pytest.mark.parametrize("page", sorted(PAGES.glob("*.md")), ids=name)
def test_the_programs_of_a_page_can_be_read(page: Path) -> None:
    for program in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
        compile(program, page.name, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
