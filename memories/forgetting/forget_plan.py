"""Compute how texts change when some of their sources are forgotten, without database access.

A version of a memory (`Text`) depends on its sources (`VersionSource`). A version that was merged,
consolidated, restored or derived also depends on other versions (`inputs`), and contains copies of
their sources.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from memories.extraction.arbitration.pairs import join


@dataclass(frozen=True)
class VersionSource:
    """A source on which a version depends.

    Copies of the source in other versions have the same `key`. `statement` is the text that was
    learned from the source. A `joint` source supports only a part of the text: a text with several
    joint sources is erased when any of them is forgotten.
    """

    key: Hashable
    forgotten: bool
    statement: str = ""
    joint: bool = False


@dataclass(frozen=True)
class Text:
    """A version of a memory's text, with its sources and the ids of its input versions.

    `sources` is ordered oldest first. `candidate` is the statement that this version added to the
    texts of its inputs; it comes from the first source that no input has. `by_person` means that a
    user or client wrote the text. The content of a `consolidated` version is a list of the texts of
    its inputs, as written by the bundled consolidator.
    """

    id: int
    memory: int
    content: str
    candidate: str = ""
    by_person: bool = False
    consolidated: bool = False
    erased: bool = False
    sources: Sequence[VersionSource] = ()
    inputs: Sequence[int] = ()


@dataclass(frozen=True)
class VersionOutcome:
    """The text of a version after its sources are forgotten.

    `content` is "" if no remaining source supports the text.
    """

    content: str
    candidate: str
    changed: bool

    @property
    def erased(self) -> bool:
        return not self.content


def plan(texts: Iterable[Text], *, gone: Collection[int] = ()) -> dict[int, VersionOutcome]:
    """Return the outcome for each version, by id.

    All versions of the memories in `gone` are erased. Any other version is kept if its own
    statement and its inputs are unchanged, or if it is `by_person` and one of its sources remains.
    Otherwise the version is derived again from the remaining inputs and its own statement, or
    erased if nothing of these remains. Versions are processed in the order of their ids, since
    inputs have smaller ids than the versions made from them.
    """
    by_id = {one.id: one for one in texts}
    outcomes: dict[int, VersionOutcome] = {}
    for number in sorted(by_id):
        text = by_id[number]
        outcomes[number] = (
            VersionOutcome("", "", changed=not text.erased)
            if text.erased or text.memory in gone
            else _outcome(text, by_id, outcomes)
        )
    return outcomes


def _outcome(
    text: Text, by_id: Mapping[int, Text], outcomes: Mapping[int, VersionOutcome]
) -> VersionOutcome:
    remaining = [one for one in text.sources if not one.forgotten]
    inputs = [one for one in text.inputs if one in by_id]
    kept = VersionOutcome(text.content, text.candidate, changed=False)
    if len(remaining) == len(text.sources) and not any(outcomes[one].changed for one in inputs):
        return kept
    if text.sources and not remaining:
        return VersionOutcome("", "", changed=True)
    if text.by_person:
        return kept
    before, candidate = text.candidate or ("" if inputs else text.content), _candidate(text, by_id)
    if not inputs:
        if not candidate and _lost_a_part(text, by_id):
            return VersionOutcome("", "", changed=True)
        same = candidate in ("", before)
        return kept if same else VersionOutcome(candidate, candidate, changed=True)
    if candidate == before and not any(outcomes[one].changed for one in inputs):
        return kept
    if text.consolidated:
        content = join(outcomes[one].content for one in _leaves(text, by_id))
    else:
        content = join([*(outcomes[one].content for one in inputs), candidate])
    return VersionOutcome(content, candidate, changed=content != text.content)


def _leaves(text: Text, by_id: Mapping[int, Text]) -> list[int]:
    found: set[int] = set()
    for one in text.inputs:
        if one in by_id:
            found.update(_leaves(by_id[one], by_id) if by_id[one].consolidated else [one])
    return sorted(found)


def _candidate(text: Text, by_id: Mapping[int, Text]) -> str:
    """Return the statement that the version's own sources still support, or "".

    Own sources are those that no input has. If the first own source or any joint own source is
    forgotten, return the statement of another own source.
    """
    own = _own_sources(text, by_id)
    if not own:
        return ""
    if not own[0].forgotten and not _lost_a_part(text, by_id):
        merged = any(one in by_id for one in text.inputs)
        return text.candidate or ("" if merged else text.content)
    return next(
        (source.statement for source in own if not source.forgotten and source.statement), ""
    )


def _own_sources(text: Text, by_id: Mapping[int, Text]) -> list[VersionSource]:
    inputs = [one for one in text.inputs if one in by_id]
    inherited = {source.key for one in inputs for source in by_id[one].sources}
    return [source for source in text.sources if source.key not in inherited]


def _lost_a_part(text: Text, by_id: Mapping[int, Text]) -> bool:
    return any(source.joint and source.forgotten for source in _own_sources(text, by_id))
