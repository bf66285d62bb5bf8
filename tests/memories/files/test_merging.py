"""Two edits of one file put together."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.files.changes import MergedLines, compare_lines, merge_lines

TEXTS = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "- d <!-- mem_1 -->\n", "\n"]), max_size=8)
BASE = "# Memory\n\n- one\n- two\n- three\n"


@pytest.mark.parametrize(
    ("ours", "theirs", "merged"),
    [
        (BASE.replace("one", "ONE"), BASE.replace("three", "THREE"), None),
        (BASE + "- four\n", BASE.replace("- one\n", ""), None),
        (BASE + "- four\n", BASE + "- four\n", MergedLines(BASE + "- four\n", clean=True)),
        (BASE + "- four\n", BASE + "- five\n", MergedLines(BASE + "- four\n", clean=False)),
        (BASE, "", MergedLines("", clean=True)),
    ],
)
def test_what_one_side_changed_is_taken_and_where_both_did_ours_stands(
    ours: str, theirs: str, merged: MergedLines | None
) -> None:
    found = merge_lines(BASE, ours, theirs)
    if merged is None:
        assert found.clean
        for line in {*ours.splitlines(), *theirs.splitlines()} - set(BASE.splitlines()):
            assert line in found.text
        for line in set(BASE.splitlines()) - (set(ours.splitlines()) & set(theirs.splitlines())):
            assert line not in found.text.splitlines()
    else:
        assert found == merged


@given(TEXTS.map("".join), TEXTS.map("".join))
def test_a_side_that_changed_nothing_leaves_the_other_as_it_is(base: str, other: str) -> None:
    assert merge_lines(base, other, base) == MergedLines(other, clean=True)
    assert merge_lines(base, base, other) == MergedLines(other, clean=True)
    assert merge_lines(base, other, other) == MergedLines(other, clean=True)


@given(TEXTS.map("".join), TEXTS.map("".join))
def test_a_comparison_tells_every_line_that_changed(old: str, new: str) -> None:
    lines = compare_lines(old, new)
    unseen = sum(one.count for one in lines)
    kept = sum(one.change == "same" for one in lines)
    removed = sum(one.change == "removed" for one in lines)
    added = sum(one.change == "added" for one in lines)
    assert kept + unseen + removed == len(old.splitlines())
    assert kept + unseen + added == len(new.splitlines())


def test_a_long_comparison_is_cut() -> None:
    lines = compare_lines("", "x\n" * 1_000, most=10)
    assert len(lines) == 11 and lines[-1].count == 990
