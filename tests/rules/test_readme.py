"""What README and docs point at is there."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import get_commands
from django.urls import Resolver404, resolve

from bench.__main__ import programs
from tests.live import ROOT

PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
TWO_SCREENS = 100  # lines
_LINK = re.compile(r"\]\(([^)#]+)[^)]*\)")
_TARGET = re.compile(r"\bmake ([a-z]+)\b(?=[`\s]|$)")
_COMMAND = re.compile(r"manage\.py ([a-z_]+)")
_PROGRAM = re.compile(r"\.venv/bin/python (bench/\w+\.py)")
_CODE = re.compile(r"```sh\n(.*?)```|`([^`\n]+)`", re.DOTALL)
_API_PATH = re.compile(r"\$API(/[\w/-]+)")


def found(pattern: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    for page in PAGES:
        for match in pattern.findall(page.read_text(encoding="utf-8")):
            yield str(page.relative_to(ROOT)), match


def code_of(page: Path) -> str:
    """Only what is marked as code: prose may say "make sure"."""
    text = page.read_text(encoding="utf-8")
    return "\n".join(block or span for block, span in _CODE.findall(text))


@pytest.mark.parametrize(("page", "link"), sorted(set(found(_LINK))))
def test_a_link_leads_to_a_file(page: str, link: str) -> None:
    if "://" not in link:
        assert (ROOT / page).parent.joinpath(link).exists()


def test_every_make_target_that_is_named_exists() -> None:
    rules = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    named = {target for page in PAGES for target in _TARGET.findall(code_of(page))}
    assert {"up", "test", "demo"} <= named <= set(rules)


def test_every_management_command_that_is_named_exists() -> None:
    named = {command for _, command in found(_COMMAND)}
    assert named and named <= set(get_commands())


def test_every_program_that_is_named_exists() -> None:
    named = {program for _, program in found(_PROGRAM)}
    assert named and not {program for program in named if not (ROOT / program).exists()}


def test_every_call_of_the_api_that_is_shown_has_a_route() -> None:
    named = {path for _, path in found(_API_PATH)}
    assert len(named) > 5
    for path in named:
        try:
            resolve(f"/api/v1{path}")
        except Resolver404:
            pytest.fail(f"{path} leads nowhere")


def test_the_readme_stays_under_two_screens() -> None:
    for name in ("README.md", "README.zh.md"):
        lines = Path(ROOT / name).read_text(encoding="utf-8").splitlines()
        assert len(lines) <= TWO_SCREENS, name


def test_both_readmes_show_the_same_commands() -> None:
    english, chinese = (
        re.findall(r"^(?:make \w+|export .*|curl \S+)", (ROOT / name).read_text("utf-8"), re.M)
        for name in ("README.md", "README.zh.md")
    )
    assert english == chinese and len(english) >= 4


def test_every_benchmark_is_told_of() -> None:
    told = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    assert [one.name for one in programs() if f"| `{one.name}" not in told] == []
