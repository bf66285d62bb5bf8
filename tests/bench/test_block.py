"""The blind sets of the memory block, and how their figures are told apart."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from bench import block
from bench.block import Person

PEOPLE = [person for path in sorted(block.DATA.glob("*.jsonl")) for person in block.read(path)]
# In the second set a constraint is wanted only where an answer may touch it.
FIRST = [one for one in PEOPLE if not one.name.startswith("second_")]


def test_each_language_has_its_prompts_in_both_sets() -> None:
    count: Counter[str] = Counter()
    for one in PEOPLE:
        count[one.name.rpartition("-")[0]] += len(one.prompts)
    assert count == {"en": 72, "zh": 72, "second_en": 133, "second_zh": 133}


@pytest.mark.parametrize("person", PEOPLE, ids=lambda one: one.name)
def test_a_person_has_memories_and_prompts_that_name_them(person: Person) -> None:
    places = set(range(len(person.memories)))
    assert 12 <= len(places) <= 16
    for prompt in person.prompts:
        must, must_not = set(prompt["must"]), set(prompt["must_not"])
        assert must | must_not <= places
        assert not must & must_not


@pytest.mark.parametrize("person", FIRST, ids=lambda one: one.name)
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
