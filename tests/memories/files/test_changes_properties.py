"""Whatever people do to a file: every word of theirs goes somewhere, and nothing is asked twice."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from memories.files.changes import Changes, CurrentMemory, find_changes
from memories.files.grammar import KINDS, Document, ShownMemory, parse, render
from tests.memories.files import hostile


def known(memories: Iterable[ShownMemory]) -> list[CurrentMemory]:
    return [CurrentMemory(one.id, one.kind, one.text) for one in memories]


@hostile.unhurried
@given(hostile.memories(), hostile.files())
def test_a_rendered_file_asks_for_nothing(memories: list[ShownMemory], text: str) -> None:
    document = parse(render(memories, keeping=parse(text)))

    assert find_changes(document, document, memories=known(memories)) == Changes()


@hostile.unhurried
@given(hostile.memories(), hostile.files(), st.data())
def test_a_memory_that_the_person_left_alone_is_left_alone(
    memories: list[ShownMemory], text: str, data: st.DataObject
) -> None:
    """Whatever happened to it elsewhere, and whether or not the file knows."""
    document = parse(render(memories, keeping=parse(text)))
    since = [
        replace(one, text=data.draw(hostile.contents()), newer=data.draw(st.booleans()))
        for one in known(memories)
        if data.draw(st.booleans())
    ]

    assert find_changes(document, document, memories=since) == Changes()


@hostile.unhurried
@given(hostile.memories(), hostile.files())
def test_every_word_of_an_edited_file_goes_somewhere(
    memories: list[ShownMemory], text: str
) -> None:
    synced, edited, rows = parse(render(memories)), parse(text), known(memories)
    changes = find_changes(synced, edited, memories=rows)

    heard = {one.text.strip() for one in rows} | {one.content for one in changes.created}
    heard |= {one.content for one in changes.edited if one.content}
    heard |= {one.content for one in changes.disputed if one.content}
    assert {line.text.strip() for _, line in edited.statements} - {""} <= heard


@hostile.unhurried
@given(hostile.memories(), hostile.files())
def test_each_memory_is_asked_for_one_thing_at_most(memories: list[ShownMemory], text: str) -> None:
    changes = find_changes(parse(render(memories)), parse(text), memories=known(memories))

    asked = [one.id for one in changes.edited] + [one.id for one in changes.disputed]
    asked += changes.removed
    assert len(asked) == len(set(asked))
    assert {one.id for one in changes.edited} | set(changes.removed) <= {one.id for one in memories}


@hostile.unhurried
@given(hostile.memories(), hostile.files())
def test_an_edit_that_was_carried_out_asks_for_nothing_more(
    memories: list[ShownMemory], text: str
) -> None:
    edited = parse(text)
    changes = find_changes(parse(render(memories)), edited, memories=known(memories))
    rows, became = _carried_out(memories, changes)
    after = parse(render(rows, keeping=edited, became=became))

    assert find_changes(after, after, memories=known(rows)) == Changes()
    assert find_changes(Document(), after, memories=known(rows)).edited == ()
    assert {one.id for one in rows} == {line.id for _, line in after.statements if line.id}


def _carried_out(
    memories: list[ShownMemory], changes: Changes
) -> tuple[list[ShownMemory], dict[int, str | None]]:
    """As a service would: disputes are left to a person, each new line becomes a memory."""
    rows = {one.id: one for one in memories if one.id not in changes.removed}
    for edit in changes.edited:
        row = rows[edit.id]
        rows[row.id] = replace(row, text=edit.content or row.text, kind=edit.kind or row.kind)
    became: dict[int, str | None] = dict.fromkeys(changes.repeated)
    for number, new in enumerate(changes.created):
        id = f"mem_{100 + number:026}"
        rows[id] = ShownMemory(id, new.kind or next(iter(KINDS)), new.content)
        became[new.place] = id
    return list(rows.values()), became
