"""Paths and texts of the memory tool."""

from __future__ import annotations

import pytest

from memories.files import grammar, memory_tool
from memories.files.grammar import BadPath
from memories.files.memory_tool import ToolProblem


@pytest.mark.parametrize(
    ("path", "inside"),
    [
        ("/memories", ""),
        ("/memories/", ""),
        ("/memories//a//b.md/", "a/b.md"),
        ("/memories/项目/计划.md", "项目/计划.md"),
        ("/memories/cafe\u0301.md", "caf\u00e9.md"),
        ("/memories/a b…c.txt", "a b…c.txt"),
    ],
)
def test_a_path_has_one_name(path: str, inside: str) -> None:
    assert grammar.below_root(path) == inside


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/",
        "memories/a",
        "/memoriesa",
        "/etc/passwd",
        "/memories/../etc/passwd",
        "/memories/a/../../b",
        "/memories/./a",
        "/memories/..",
        "/memories/%2e%2e/a",
        "/memories/%2E%2E%2Fa",
        "/memories/..%5ca",
        "/memories/a\\..\\b",
        "/memories/a\x00.md",
        "/memories/a\nb",
        "/memories/\u202egpj.md",
        "/memories/.hidden",
        "/memories/a /b",
        "/memories/" + "a" * 101,
        "/memories/" + "记" * 90,
        "/memories/" + "/".join("abcdefghi"),
        "/memories/" + "/".join(["a" * 60] * 4),
        "/memories/\ud800",
    ],
)
def test_a_path_that_leads_elsewhere_or_nowhere_is_refused(path: str) -> None:
    with pytest.raises(BadPath):
        grammar.below_root(path)


def test_a_replacement_must_be_of_one_place() -> None:
    with pytest.raises(ToolProblem, match=r"Multiple occurrences .* in lines: 1, 3") as found:
        memory_tool.replaced_answer("/memories/a", "x\ny\nx", old="x", new="z")
    assert found.value.field == "old_str"
    with pytest.raises(ToolProblem, match="did not appear verbatim in /memories/a"):
        memory_tool.replaced_answer("/memories/a", "x", old="q", new="z")


@pytest.mark.parametrize(
    ("size", "written"), [(0, "0B"), (1023, "1023B"), (1024, "1K"), (1536, "1.5K"), (5 << 20, "5M")]
)
def test_sizes_are_written_as_the_tool_does(size: int, written: str) -> None:
    assert (
        memory_tool.listing_answer("/memories", {"a": size}).splitlines()[1]
        == f"{written}\t/memories"
    )
