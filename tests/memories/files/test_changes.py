from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memories.files.changes import (
    Changes,
    CurrentMemory,
    DisputedChange,
    EditedMemory,
    NewStatement,
    Reason,
    find_changes,
)
from memories.files.grammar import Document, parse, render

TEA = CurrentMemory("mem_1", "preference", "drinks tea")
LISBON = CurrentMemory("mem_2", "fact", "lives in Lisbon")
NUTS = CurrentMemory("mem_3", "constraint", "allergic to peanuts")
ALL = [TEA, LISBON, NUTS]
FILE = render(ALL)
TEA_LINE = "- drinks tea <!-- mem_1 -->\n"
NEVER = Document()


def asked(
    text: str,
    *,
    memories: Sequence[CurrentMemory] = ALL,
    synced: str = FILE,
    elsewhere: Sequence[str] = (),
) -> Changes:
    return find_changes(parse(synced), parse(text), memories=memories, elsewhere=elsewhere)


def newer(memory: CurrentMemory, text: str | None = None) -> list[CurrentMemory]:
    changed = replace(memory, text=text or memory.text, newer=True)
    return [changed if one.id == memory.id else one for one in ALL]


def test_a_file_that_nobody_touched_asks_for_nothing() -> None:
    assert asked(FILE) == Changes()


def test_a_changed_line_edits_its_memory() -> None:
    changes = asked(FILE.replace("drinks tea", "drinks\\ncoffee"))

    assert changes == Changes(edited=(EditedMemory("mem_1", "drinks\ncoffee", None),))


def test_spaces_around_the_words_change_nothing() -> None:
    assert asked(FILE.replace("- drinks tea <", "-   drinks tea   <")) == Changes()


def test_a_line_moved_to_another_section_changes_its_kind() -> None:
    moved = FILE.replace(TEA_LINE, "").replace("## fact\n", "## fact\n" + TEA_LINE)

    assert asked(moved) == Changes(edited=(EditedMemory("mem_1", None, "fact"),))
    assert asked(moved.replace("drinks tea", "drinks coffee")) == Changes(
        edited=(EditedMemory("mem_1", "drinks coffee", "fact"),)
    )


def test_a_line_moved_out_of_every_section_keeps_its_kind() -> None:
    assert asked(TEA_LINE + FILE.replace(TEA_LINE, "")) == Changes()


def test_a_new_line_is_created_in_the_kind_of_its_section() -> None:
    changes = asked("## plan\n- move to Porto\n" + FILE)

    assert changes == Changes(created=(NewStatement(1, "move to Porto", "plan"),))


def test_a_new_line_that_the_last_sync_left_is_not_created_again() -> None:
    waiting = FILE + "- waits in the inbox\n"
    changes = asked(waiting + "- waits in the inbox\n", synced=waiting)

    assert [one.content for one in changes.created] == ["waits in the inbox"]
    assert asked(waiting, synced=waiting) == Changes()


def test_a_removed_line_goes_to_the_recycle_bin() -> None:
    assert asked(FILE.replace(TEA_LINE, "")) == Changes(removed=("mem_1",))


def test_an_emptied_line_is_a_removed_one() -> None:
    assert asked(FILE.replace("drinks tea", "")) == Changes(removed=("mem_1",))


def test_a_line_that_is_in_another_file_now_was_not_removed() -> None:
    assert asked(FILE.replace(TEA_LINE, ""), elsewhere=["mem_1"]) == Changes()


def test_a_line_that_came_from_another_file_edits_only_what_differs() -> None:
    skill = CurrentMemory("mem_4", "skill", "search, read, summarize")
    text = FILE + "\n## fact\n- search, read, summarize <!-- mem_4 -->\n"

    assert asked(text, memories=[*ALL, skill]) == Changes(
        edited=(EditedMemory("mem_4", None, "fact"),)
    )


def test_more_than_a_fifth_removed_is_for_a_person_to_decide() -> None:
    twenty = [CurrentMemory(f"mem_{number}", "fact", f"fact {number}") for number in range(20)]
    file = render(twenty)

    kept = asked(render(twenty[5:]), memories=twenty, synced=file)
    few = asked(render(twenty[4:]), memories=twenty, synced=file)

    assert few.removed == ("mem_0", "mem_1", "mem_2", "mem_3") and few.disputed == ()
    assert kept.removed == () and [one.reason for one in kept.disputed] == [Reason.MANY] * 5


def test_exactly_a_fifth_is_removed_and_fewer_than_five_always_are() -> None:
    many = [CurrentMemory(f"mem_{number}", "fact", f"fact {number}") for number in range(25)]

    fifth = asked(render(many[5:]), memories=many, synced=render(many))
    four = asked("", memories=many[:4], synced=render(many[:4]))

    assert len(fifth.removed) == 5 and fifth.disputed == ()
    assert len(four.removed) == 4 and four.disputed == ()


def test_too_many_removals_do_not_hold_up_the_rest_of_the_edit() -> None:
    six = [CurrentMemory(f"mem_{number}", "fact", f"fact {number}") for number in range(6)]
    changes = asked("## fact\n- fact zero <!-- mem_0 -->\n", memories=six, synced=render(six))

    assert changes.edited == (EditedMemory("mem_0", "fact zero", None),)
    assert changes.removed == () and len(changes.disputed) == 5


def test_a_memory_changed_since_is_not_undone_by_a_file_that_lags_behind() -> None:
    assert asked(FILE, memories=newer(TEA, "drinks mate")) == Changes()


def test_where_both_changed_a_person_decides() -> None:
    changes = asked(FILE.replace("tea", "coffee"), memories=newer(TEA, "drinks mate"))

    assert changes.disputed == (
        DisputedChange("mem_1", Reason.NEWER, "drinks coffee", "preference"),
    ) and not (changes.edited)


def test_where_both_say_the_same_by_now_there_is_nothing_to_decide() -> None:
    edit = FILE.replace("tea", "coffee")

    assert asked(edit, memories=newer(TEA, "drinks coffee")) == Changes()


def test_newer_without_other_words_is_no_dispute() -> None:
    assert asked(FILE.replace("tea", "coffee"), memories=newer(TEA)).edited
    assert asked(FILE.replace(TEA_LINE, ""), memories=newer(TEA)).removed == ("mem_1",)


def test_a_kind_changed_since_is_a_dispute_too() -> None:
    kinder = [replace(TEA, kind="pattern", newer=True), LISBON, NUTS]

    assert asked(FILE.replace("tea", "coffee"), memories=kinder).disputed[0].reason == Reason.NEWER


def test_a_removed_line_of_a_memory_that_was_changed_since_is_a_dispute() -> None:
    changes = asked(FILE.replace(TEA_LINE, ""), memories=newer(TEA, "drinks mate"))

    assert changes == Changes(disputed=(DisputedChange("mem_1", Reason.NEWER),))


def test_the_file_wins_over_a_memory_that_is_not_newer() -> None:
    older = [replace(TEA, text="drinks mate"), LISBON, NUTS]

    assert asked(FILE.replace("tea", "coffee"), memories=older) == Changes(
        edited=(EditedMemory("mem_1", "drinks coffee", None),)
    )


def test_a_line_of_a_memory_that_went_since_asks_for_nothing_unless_it_was_edited() -> None:
    assert asked(FILE, memories=[LISBON, NUTS]) == Changes()
    assert asked(FILE.replace("tea", "coffee"), memories=[LISBON, NUTS]) == Changes(
        disputed=(DisputedChange("mem_1", Reason.GONE, "drinks coffee", "preference"),)
    )


def test_a_memory_created_since_is_not_taken_for_a_removed_one() -> None:
    assert (
        asked(FILE, memories=[*ALL, CurrentMemory("mem_4", "fact", "new", newer=True)]) == Changes()
    )


def test_a_summary_is_no_place_to_edit_a_long_content() -> None:
    long = [replace(TEA, long=True), LISBON, NUTS]
    moved = FILE.replace(TEA_LINE, "").replace("## fact\n", "## fact\n" + TEA_LINE)

    assert asked(FILE.replace("tea", "coffee"), memories=long) == Changes(
        disputed=(DisputedChange("mem_1", Reason.LONG, "drinks coffee", "preference"),)
    )
    assert asked(moved, memories=long) == Changes(edited=(EditedMemory("mem_1", None, "fact"),))
    assert asked(FILE.replace(TEA_LINE, ""), memories=long).removed == ("mem_1",)


def test_a_line_with_an_id_that_nobody_knows_is_a_new_memory() -> None:
    changes = asked("- drank milk <!-- mem_7 -->\n" + FILE)

    assert changes == Changes(created=(NewStatement(0, "drank milk", "", formerly="mem_7"),))


def test_an_altered_copy_is_a_new_memory_and_the_original_stays() -> None:
    copied = FILE.replace(TEA_LINE, TEA_LINE.replace("tea", "coffee") + TEA_LINE)

    assert asked(copied) == Changes(
        created=(NewStatement(2, "drinks coffee", "preference", formerly="mem_1"),)
    )


def test_a_mere_repetition_is_nothing_new() -> None:
    assert asked(FILE.replace(TEA_LINE, TEA_LINE * 2)) == Changes(repeated=(3,))


def test_a_file_that_never_was_synced_edits_what_differs_and_removes_nothing() -> None:
    changes = asked(TEA_LINE.replace("tea", "coffee"), synced="")

    assert changes == Changes(edited=(EditedMemory("mem_1", "drinks coffee", None),))
    assert asked(TEA_LINE.replace("tea", "coffee"), synced="", memories=newer(TEA)) == Changes(
        disputed=(DisputedChange("mem_1", Reason.NEWER, "drinks coffee", ""),)
    )
