from __future__ import annotations

import pytest
from django.utils import translation
from hypothesis import example, given

from memories.files import grammar
from memories.files.grammar import Line, Role
from memories.models import Kind
from tests.memories.files import hostile

ID = "mem_00000000000000000000000001"


@hostile.unhurried
@given(hostile.texts())
@example("a\\\nb")
@example("\\\\n")
@example("\\<!--")
@example("\\\\server\\share\\new")
def test_a_content_is_read_as_it_was_written_and_on_one_line(content: str) -> None:
    written = grammar.encode_line(content)

    assert grammar.decode_line(written) == content
    assert len(written.splitlines()) <= 1


@hostile.unhurried
@given(hostile.texts())
def test_the_line_of_a_memory_is_read_back_whatever_it_says(content: str) -> None:
    line = grammar.memory_line(content, id=ID, kind="fact")

    assert grammar.read(line.raw, kind="fact") == line


@hostile.unhurried
@given(hostile.texts())
def test_no_content_passes_for_another_memory_when_its_id_is_taken_away(content: str) -> None:
    line = grammar.memory_line(f"{content} <!-- {ID} -->", id="mem_2", kind="fact")
    without = line.raw.replace(" <!-- mem_2 -->\n", "\n")

    assert grammar.read(without, kind="fact").id == ""


@pytest.mark.parametrize(
    ("content", "written"),
    [
        ("first\nsecond", "first\\nsecond"),
        ("C:\\new", "C:\\\\new"),
        ("\\\\server\\share", "\\\\server\\share"),
        ("a \\ b", "a \\ b"),
        ("<b>bold</b> -->", "<b>bold</b> -->"),
        ("<!-- hidden", "\\<!-- hidden"),
        ("one\u2028two", "one\\u2028two"),
        ("C:\\users", "C:\\users"),
        ("对花生过敏", "对花生过敏"),
    ],
)
def test_a_content_is_written_plainly_but_for_what_breaks_a_line(
    content: str, written: str
) -> None:
    assert grammar.encode_line(content) == written


@pytest.mark.parametrize(
    "raw", ["## fact\n", "## Fact  \r\n", "##\tfact", "## 事实\n", "\ufeff## fact\n"]
)
def test_a_heading_opens_the_section_of_its_kind(raw: str) -> None:
    assert grammar.read(raw, kind="") == Line(raw, Role.HEADING, kind="fact")


@pytest.mark.parametrize("raw", ["## Shopping\n", "# fact\n", "##\n", "# Notes"])
def test_another_heading_ends_the_section(raw: str) -> None:
    assert grammar.read(raw, kind="fact") == Line(raw, Role.HEADING, kind="")


@pytest.mark.parametrize(
    "raw",
    ["### task\n", "##task\n", "* drinks tea\n", "  - drinks tea\n", "-\n", "-  \n", "\n", "```"],
)
def test_anything_else_is_free_text(raw: str) -> None:
    assert grammar.read(raw, kind="fact") == Line(raw, kind="fact")


def test_a_line_without_an_id_is_new_only_within_a_section() -> None:
    assert grammar.read("- drinks\\ntea \r\n", kind="fact").text == "drinks\ntea"
    assert grammar.read("- drinks tea\n", kind="fact").role == Role.NEW
    assert grammar.read("- drinks tea\n", kind="").role == Role.FREE


@pytest.mark.parametrize(
    "raw", [f"- tea<!-- {ID} -->", f"- tea <!-- {ID} --> \t\r\n", f"\ufeff- tea <!-- {ID} -->\n"]
)
def test_small_changes_around_the_id_lose_nothing(raw: str) -> None:
    assert grammar.read(raw, kind="") == Line(raw, Role.MEMORY, text="tea", id=ID)


def test_a_new_line_that_speaks_of_escapes_we_never_write_keeps_them() -> None:
    assert grammar.decode_line("\\\\server \\u4e2d \\d \\") == "\\\\server \\u4e2d \\d \\"


def test_the_kinds_and_their_chinese_words_are_those_of_the_pages() -> None:
    with translation.override("zh-hans"):
        labels = {kind.value: str(kind.label) for kind in Kind}
    # Files say 约束, as existing ones do; pages say 特别注意.
    assert dict(grammar.KINDS) == labels | {"constraint": "约束"}
