"""The arbiter: what becomes of a candidate beside the memories that are like it.

The pair head says how the two statements stand to each other; this module says what follows. It is
the one place that decides, whoever wrote the candidate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from memcenter.lib import segment
from memories.extraction import pairs
from memories.extraction.arbitration.editions import Document, Finding, edition_of
from memories.extraction.pairs import (
    CONFLICTS,
    DEFAULT,
    LONGEST,
    PairReader,
    Reading,
    Relation,
    Thresholds,
    fold,
)
from memories.extraction.types import Beside, Candidate, Decision, Known, Verdict

# Which finding wins when several known memories touch the candidate.
_RANK = (
    Verdict.SKIP, Verdict.REPLACE, Verdict.REVIEW, Verdict.MERGE, Verdict.KEEP_BOTH,
)  # fmt: skip
# Below this a candidate may not push out what is known; a person decides.
SURE_ENOUGH = 0.5
# At this cosine of the bundled embedder all pairs on one matter are in, unrelated ones are out.
SAME_MATTER = 0.55
# Below this cosine two texts without a common word are about different matters, unless the head is
# as sure as this: it has read few pairs that have nothing to do with each other.
STRANGERS, SURE_OF_STRANGERS = 0.35, 0.9
LONGEST_MERGE = 400  # characters
_MOST_READ = 12  # pairs for one candidate; a pair costs about ten milliseconds
GONE = frozenset(["superseded", "archived"])
_PLAN = "task"

APART = Finding(None)
BESIDE = Finding(Verdict.KEEP_BOTH, "both_hold")
# Each adds to the other, but one text of both would be too long.
UNJOINED = Finding(Verdict.KEEP_BOTH, "not_joined")


@dataclass(frozen=True)
class Met:
    """A known memory and how the candidate stands to it. `share` is how sure the head is."""

    memory: Known
    finding: Finding
    share: float = 1.0


class BundledArbiter:
    """Decides by the pair head, without a chat model.

    `known` is taken as it comes (most similar first); of equal findings the first wins. Only a
    repeat counts against a disabled memory, since what the user switched off must neither grow
    nor come back under a new text.
    """

    name = "bundled"

    def __init__(self, reader: PairReader, *, thresholds: Thresholds = DEFAULT) -> None:
        self._reader = reader
        self.thresholds = thresholds

    def arbitrate(self, candidate: Candidate, known: Sequence[Known], *, now: datetime) -> Decision:
        return decide(candidate, self.meet(candidate, known))

    def meet(self, candidate: Candidate, known: Sequence[Known]) -> list[Met]:
        """How the candidate stands to each known memory; where one says the same text, only it."""
        present = [one for one in known if one.status not in GONE]
        wanted = fold(candidate.content)
        for one in present:
            if fold(one.content) == wanted:
                return [Met(one, Finding(Verdict.SKIP, "same_text"))]
        documents = [one for one in present if _are_documents(candidate, one)]
        statements = [one for one in present if one not in documents][:_MOST_READ]
        readings = pairs.read(
            self._reader,
            [(one.content, candidate.content) for one in statements],
            thresholds=self.thresholds,
        )
        found = {one.id: Met(one, _edition(candidate, one)) for one in documents}
        for one, reading in zip(statements, readings, strict=True):
            found[one.id] = Met(one, _finding(candidate, one, reading), reading.share)
        return [found[one.id] for one in present if one.id in found]


def decide(candidate: Candidate, met: Sequence[Met]) -> Decision:
    """The strongest finding is the verdict; the others stand beside it."""
    touched = [one for one in met if one.finding.verdict is not None]
    if not touched:
        return Decision(Verdict.ADD, kind=candidate.kind, reasons=("nothing_like_it",))
    first = min(touched, key=lambda one: _rank(one.finding))
    return _decision(candidate, first, [one for one in touched if one is not first])


def merge(old: str, new: str) -> str | None:
    """One text of two statements: the fuller one, else both; None where that is too long."""
    text = pairs.fuller(old, new) or pairs.join([old, new])
    return text if len(text) <= LONGEST_MERGE else None


def _are_documents(candidate: Candidate, memory: Known) -> bool:
    return any(
        len(text) > LONGEST or "\n" in text.strip() for text in (candidate.content, memory.content)
    )


def _edition(candidate: Candidate, memory: Known) -> Finding:
    new, old = Document(candidate.content), Document(memory.content)
    found = edition_of(new, old, similarity=memory.similarity) or _beside(memory)
    return _checked(candidate, memory, found)


def _finding(candidate: Candidate, memory: Known, reading: Reading) -> Finding:
    relation = reading.relation
    if reading.share < SURE_OF_STRANGERS and _are_strangers(candidate, memory):
        relation = Relation.UNRELATED
    if relation in CONFLICTS and _is_plan(candidate) and memory.kind != _PLAN:
        found = BESIDE  # who will move next week lives where they live until then
    elif relation is Relation.SAME:
        found = Finding(Verdict.SKIP, "same_meaning")
    elif relation is Relation.REFINES:
        found = _refined(candidate, memory)
    elif relation is Relation.UNRELATED:
        found = _beside(memory)
    else:
        found = _changed(candidate, relation)
    return _checked(candidate, memory, found)


def _are_strangers(candidate: Candidate, memory: Known) -> bool:
    """Whether the two share neither words nor meaning: then only a sure head relates them."""
    shared = set(segment.terms(candidate.content)) & set(segment.terms(memory.content))
    return not shared and memory.similarity < STRANGERS


def _is_plan(candidate: Candidate) -> bool:
    return candidate.kind == _PLAN or candidate.data.get("holds") == "planned"


def _beside(memory: Known) -> Finding:
    return BESIDE if memory.similarity >= SAME_MATTER else APART


def _refined(candidate: Candidate, memory: Known) -> Finding:
    """The fuller text stays; where each has words of its own the two are merged."""
    text = pairs.fuller(memory.content, candidate.content)
    if text == candidate.content:
        return Finding(Verdict.REPLACE, "says_more")
    if text == memory.content:
        return Finding(Verdict.SKIP, "weaker")
    return Finding(Verdict.MERGE, "adds_detail")


def _changed(candidate: Candidate, relation: Relation) -> Finding:
    """Of an end, the statement that tells of it becomes the standing text."""
    if relation is Relation.ENDED:
        return Finding(Verdict.REPLACE, "no_longer")
    if candidate.corrects:
        return Finding(Verdict.REPLACE, "corrected")
    if relation is Relation.NEWER or candidate.explicit:
        return Finding(Verdict.REPLACE, "newer_value")
    return Finding(Verdict.REVIEW, "contradicts")


def _checked(candidate: Candidate, memory: Known, finding: Finding) -> Finding:
    """A change that isn't sure, or was said before what is known, is asked about."""
    if memory.status == "disabled" and finding.verdict is not Verdict.SKIP:
        return APART
    changes = finding.verdict is Verdict.REPLACE and finding.reason != "says_more"
    if not changes or candidate.corrects or candidate.explicit:
        return finding
    if candidate.confidence < SURE_ENOUGH:
        return Finding(Verdict.REVIEW, "contradicts")
    said, known_since = candidate.occurred_at, memory.said_at
    if said and known_since and said < known_since - timedelta(days=1):
        return Finding(Verdict.REVIEW, "said_earlier")
    return finding


def _rank(finding: Finding) -> int:
    return _RANK.index(finding.verdict) if finding.verdict else len(_RANK)


def _decision(candidate: Candidate, met: Met, others: Sequence[Met]) -> Decision:
    finding, memory = met.finding, met.memory
    text = None
    if finding.verdict is Verdict.MERGE:
        text = merge(memory.content, candidate.content)
        finding = finding if text else UNJOINED
    assert finding.verdict is not None
    grows = finding.verdict is Verdict.MERGE or finding.reason == "says_more"
    keeps_kind = grows and "constraint" in (candidate.kind, memory.kind)
    return Decision(
        finding.verdict,
        target_id=memory.id,
        content=text,
        kind="constraint" if keeps_kind else candidate.kind,
        reasons=(finding.reason,),
        beside=tuple(
            Beside(one.memory.id, one.finding.verdict, one.finding.reason)
            for one in others
            if one.finding.verdict is not None
        ),
    )
