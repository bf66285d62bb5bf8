"""The blind sets of the memory block, and how their figures are told apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bench import block
from bench.block import Person

PEOPLE = [person for path in sorted(block.DATA.glob("*.jsonl")) for person in block.read(path)]


def test_each_language_has_twelve_people() -> None:
    assert [one.language for one in PEOPLE] == ["en"] * 12 + ["zh"] * 12


@pytest.mark.parametrize("person", PEOPLE, ids=lambda one: one.name)
def test_a_person_has_memories_and_prompts_that_name_them(person: Person) -> None:
    places = set(range(len(person.memories)))
    assert 12 <= len(places) <= 16
    assert len(person.prompts) == 6
    for prompt in person.prompts:
        must, must_not = set(prompt["must"]), set(prompt["must_not"])
        assert must | must_not <= places
        assert not must & must_not


@pytest.mark.parametrize("person", PEOPLE, ids=lambda one: one.name)
def test_every_prompt_needs_the_persons_constraints_and_pinned_memories(person: Person) -> None:
    always = {
        place
        for place in range(len(person.memories))
        if person.group_of(place) in ("constraint", "pinned")
    }
    assert always
    assert all(always <= set(prompt["must"]) for prompt in person.prompts)


def test_a_memory_counts_in_the_group_for_which_it_is_wanted() -> None:
    memories: list[dict[str, Any]] = [
        {"content": "Allergic to nuts", "kind": "constraint"},
        {"content": "Lives in Leeds", "kind": "fact", "pinned": True},
        {"content": "Keep answers short", "kind": "preference"},
        {"content": "Plays the cornet", "kind": "fact"},
    ]
    prompts: list[dict[str, Any]] = [{"must": [0, 1, 2, 3]}, {"must": [0, 1, 2]}]
    person = Person("one", "en", memories, prompts)
    groups = [person.group_of(place) for place in range(4)]
    assert groups == ["constraint", "pinned", "standing", "ordinary"]


def test_a_file_that_is_missing_or_empty_is_named(tmp_path: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    with pytest.raises(SystemExit, match=r"empty\.jsonl holds no people"):
        block.read_all([empty])
    with pytest.raises(SystemExit, match=r"away\.jsonl does not exist"):
        block.read_all([tmp_path / "away.jsonl"])


def test_no_file_at_all_is_told() -> None:
    with pytest.raises(SystemExit, match="Name a file of people"):
        block.read_all([])
