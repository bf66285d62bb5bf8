"""What becomes of texts when something that they rest on is forgotten. Knows no database.

A version (`Text`) rests on its sources (`Rest`) and, when it was merged, consolidated, restored
or derived, on other versions (`inputs`, whose sources it has copies of).
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from memories.extraction.pairs import join


@dataclass(frozen=True)
class Rest:
    """One source. Copies of it have the same `key`; `statement` is what was drawn from it.

    A `joint` one says only a part: what rests on several of them goes with the first that does.
    """

    key: Hashable
    forgotten: bool
    statement: str = ""
    joint: bool = False


@dataclass(frozen=True)
class Text:
    """One version. `rests` are oldest first: the first that no input has gave the candidate.

    A `consolidated` one lists what its inputs say, in the manner of the bundled consolidator.
    """

    id: int
    memory: int
    content: str
    candidate: str = ""
    by_person: bool = False
    consolidated: bool = False
    erased: bool = False
    rests: Sequence[Rest] = ()
    inputs: Sequence[int] = ()


@dataclass(frozen=True)
class Outcome:
    """What a version says afterwards: `content` is empty when nothing holds it any longer."""

    content: str
    candidate: str
    changed: bool

    @property
    def erased(self) -> bool:
        return not self.content


def plan(texts: Iterable[Text], *, gone: Collection[int] = ()) -> dict[int, Outcome]:
    """The outcome of each version; all of those of the memories in `gone` are erased.

    A version is kept when its own words have lost nothing; it is derived again from the inputs
    and the candidate that remain; without any it is erased. What was made from it follows: ids
    grow, so inputs come before what was made from them.
    """
    by_id = {one.id: one for one in texts}
    outcomes: dict[int, Outcome] = {}
    for number in sorted(by_id):
        text = by_id[number]
        outcomes[number] = (
            Outcome("", "", changed=not text.erased)
            if text.erased or text.memory in gone
            else _outcome(text, by_id, outcomes)
        )
    return outcomes


def _outcome(text: Text, by_id: Mapping[int, Text], outcomes: Mapping[int, Outcome]) -> Outcome:
    remaining = [one for one in text.rests if not one.forgotten]
    inputs = [one for one in text.inputs if one in by_id]
    kept = Outcome(text.content, text.candidate, changed=False)
    if len(remaining) == len(text.rests) and not any(outcomes[one].changed for one in inputs):
        return kept
    if text.rests and not remaining:
        return Outcome("", "", changed=True)
    if text.by_person:
        return kept
    before, candidate = text.candidate or ("" if inputs else text.content), _candidate(text, by_id)
    if not inputs:
        if not candidate and _lost_a_part(text, by_id):
            return Outcome("", "", changed=True)
        same = candidate in ("", before)
        return kept if same else Outcome(candidate, candidate, changed=True)
    if candidate == before and not any(outcomes[one].changed for one in inputs):
        return kept
    if text.consolidated:
        content = join(outcomes[one].content for one in _leaves(text, by_id))
    else:
        content = join([*(outcomes[one].content for one in inputs), candidate])
    return Outcome(content, candidate, changed=content != text.content)


def _leaves(text: Text, by_id: Mapping[int, Text]) -> list[int]:
    """What a consolidated text was made from in the end, oldest first."""
    found: set[int] = set()
    for one in text.inputs:
        if one in by_id:
            found.update(_leaves(by_id[one], by_id) if by_id[one].consolidated else [one])
    return sorted(found)


def _candidate(text: Text, by_id: Mapping[int, Text]) -> str:
    """What the version's own sources still say: another one's words when the first is forgotten."""
    own = _own(text, by_id)
    if not own:
        return ""
    if not own[0].forgotten and not _lost_a_part(text, by_id):
        merged = any(one in by_id for one in text.inputs)
        return text.candidate or ("" if merged else text.content)
    return next((rest.statement for rest in own if not rest.forgotten and rest.statement), "")


def _own(text: Text, by_id: Mapping[int, Text]) -> list[Rest]:
    inputs = [one for one in text.inputs if one in by_id]
    inherited = {rest.key for one in inputs for rest in by_id[one].rests}
    return [rest for rest in text.rests if rest.key not in inherited]


def _lost_a_part(text: Text, by_id: Mapping[int, Text]) -> bool:
    return any(rest.joint and rest.forgotten for rest in _own(text, by_id))
