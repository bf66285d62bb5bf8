from __future__ import annotations

from hypothesis import given

from memories.files.grammar import Role, parse
from tests.memories.files import hostile

FILE = """\
# Memory of Alice

What I want every assistant to know.

## preference

- drinks tea <!-- mem_1 -->
- likes window seats
  even on short flights

## Shopping
- milk

## 事实
- lives in Lisbon <!-- mem_2 -->"""


@hostile.unhurried
@given(hostile.files() | hostile.texts())
def test_together_the_lines_are_the_file(text: str) -> None:
    assert parse(text).text == text


def test_a_file_is_read_by_its_sections() -> None:
    found = [(line.role, line.kind, line.text, line.id) for _, line in parse(FILE).statements]

    assert found == [
        (Role.MEMORY, "preference", "drinks tea", "mem_1"),
        (Role.NEW, "preference", "likes window seats", ""),
        (Role.MEMORY, "fact", "lives in Lisbon", "mem_2"),
    ]


def test_a_mark_left_open_swallows_nothing() -> None:
    text = "## fact\n```\n<!--\n<details>\n- drinks tea <!-- mem_1 -->\n"

    assert [line.id for _, line in parse(text).statements] == ["mem_1"]


def test_a_file_written_on_windows_says_the_same() -> None:
    windows = parse(FILE.replace("\n", "\r\n"))

    assert [line.text for _, line in windows.statements] == [
        line.text for _, line in parse(FILE).statements
    ]
    assert windows.end == "\r\n"
