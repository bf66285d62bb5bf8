from __future__ import annotations

from collections.abc import Sequence

from hypothesis import example, given

from memories.files.grammar import Role, ShownMemory, parse, render
from tests.memories.files import hostile

TEA = ShownMemory("mem_1", "preference", "drinks tea")
LISBON = ShownMemory("mem_2", "fact", "lives in Lisbon")
NUTS = ShownMemory("mem_3", "constraint", "allergic to\npeanuts")


def shown(text: str) -> list[tuple[str, str, str]]:
    return sorted(
        (line.id, line.kind, line.text)
        for _, line in parse(text).statements
        if line.role is Role.MEMORY
    )


@hostile.unhurried
@given(hostile.memories(), hostile.files())
@example([TEA], "- x <!-- mem_1 -->")
@example([LISBON], "## fact")
def test_rendering_again_gives_the_same_bytes(memories: list[ShownMemory], text: str) -> None:
    once = render(memories, keeping=parse(text))

    assert render(memories, keeping=parse(once)) == once
    assert render(reversed(memories), keeping=parse(once)) == once


@hostile.unhurried
@given(hostile.memories(), hostile.files())
def test_each_memory_stands_there_once_with_its_words_and_kind(
    memories: list[ShownMemory], text: str
) -> None:
    found = shown(render(memories, keeping=parse(text)))

    assert [(id, words) for id, _, words in found] == sorted((m.id, m.text) for m in memories)
    kinds = {memory.id: memory.kind for memory in memories}
    assert all(kind in ("", kinds[id]) for id, kind, _ in found)


@hostile.unhurried
@given(hostile.memories(), hostile.files())
def test_free_text_headings_and_new_lines_stay_as_they_stand(
    memories: list[ShownMemory], text: str
) -> None:
    before = [line.raw for line in parse(text).lines if line.role is not Role.MEMORY]
    after = [line.raw for line in parse(render(memories, keeping=parse(text))).lines]

    assert _stand_in_order([raw.rstrip("\r\n") for raw in before], after)


def _stand_in_order(wanted: Sequence[str], lines: Sequence[str]) -> bool:
    rest = iter(line.rstrip("\r\n") for line in lines)
    return all(one in rest for one in wanted)


def test_ten_thousand_lines_come_back_as_they_were() -> None:
    memories = hostile.many(10_000)
    text = render(memories)

    assert shown(text) == sorted((one.id, one.kind, one.text) for one in memories)
    assert render(memories, keeping=parse(text)) == text


def test_hostile_repetitions_are_read_like_any_other_text() -> None:
    content = "\\" * 200_000 + " " * 200_000 + "<!-- mem_" * 50_000 + "."
    memories = [ShownMemory("mem_1", "fact", content)]

    assert shown(render(memories)) == [("mem_1", "fact", content)]
    assert parse("# a" + " " * 200_000 + "b").lines[0].role is Role.HEADING


def test_a_first_file_has_a_section_for_each_kind_there_is() -> None:
    assert render([LISBON, NUTS, TEA]) == (
        "## preference\n\n- drinks tea <!-- mem_1 -->\n\n"
        "## fact\n\n- lives in Lisbon <!-- mem_2 -->\n\n"
        "## constraint\n\n- allergic to\\npeanuts <!-- mem_3 -->\n"
    )


def test_a_chinese_file_has_chinese_headings_and_keeps_those_there_are() -> None:
    once = render([TEA], keeping=parse("# 记忆\n"), chinese=True)

    assert once == "# 记忆\n\n## 偏好\n\n- drinks tea <!-- mem_1 -->\n"
    assert render([TEA, LISBON], keeping=parse(once)).startswith(once)


def test_what_is_new_follows_the_last_memory_of_its_section() -> None:
    text = "## fact\n- born in Porto <!-- mem_9 -->\n\nI wrote this.\n\n## task\n"
    porto = ShownMemory("mem_9", "fact", "born in Porto")

    assert render([LISBON, porto], keeping=parse(text)) == (
        "## fact\n- born in Porto <!-- mem_9 -->\n- lives in Lisbon <!-- mem_2 -->\n"
        "\nI wrote this.\n\n## task\n"
    )


def test_a_section_that_empties_and_fills_again_does_not_grow() -> None:
    full = render([LISBON])
    empty = render([], keeping=parse(full))

    assert empty == "## fact\n\n"
    assert render([LISBON], keeping=parse(empty)) == full


def test_a_memory_of_another_kind_by_now_moves_to_that_section() -> None:
    text = render([TEA, LISBON])
    moved = ShownMemory(TEA.id, "fact", TEA.text)

    assert render([moved, LISBON], keeping=parse(text)) == (
        "## preference\n\n\n## fact\n\n"
        "- lives in Lisbon <!-- mem_2 -->\n- drinks tea <!-- mem_1 -->\n"
    )


def test_a_new_line_becomes_the_memory_that_was_made_of_it_where_it_stands() -> None:
    text = "## fact\n- lives in Lisbon\n- likes Lisbon\n- still waits\n"
    rendered = render([LISBON], keeping=parse(text), became={1: LISBON.id, 2: None})

    assert rendered == "## fact\n- lives in Lisbon <!-- mem_2 -->\n- still waits\n"


def test_an_altered_copy_becomes_its_own_memory() -> None:
    text = "## fact\n- works in Porto <!-- mem_2 -->\n- lives in Lisbon <!-- mem_2 -->\n"
    porto = ShownMemory("mem_9", "fact", "works in Porto")

    assert render([LISBON, porto], keeping=parse(text), became={1: "mem_9"}) == text.replace(
        "Porto <!-- mem_2", "Porto <!-- mem_9"
    )


def test_lines_end_as_they_do_in_the_file() -> None:
    text = "# Memory\r\n\r\n## fact\r\n- lived in Porto <!-- mem_2 -->"

    assert render([TEA, LISBON], keeping=parse(text)) == (
        "# Memory\r\n\r\n## fact\r\n- lives in Lisbon <!-- mem_2 -->\r\n"
        "\r\n## preference\r\n\r\n- drinks tea <!-- mem_1 -->\r\n"
    )
