"""Decide what becomes of a candidate, given the similar known memories.

The pair head determines the relation of two statements; this module decides what follows. All
decisions are made here, whatever the source of the candidate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from memcenter.lib.text import segment
from memories.extraction.arbitration import pairs
from memories.extraction.arbitration.editions import Document, Finding, edition_of
from memories.extraction.arbitration.pairs import (
    CONFLICTS,
    DEFAULT,
    PairReader,
    Reading,
    Relation,
    Thresholds,
)
from memories.extraction.corrections import numbers_of_series, without_values
from memories.extraction.types import Beside, Candidate, Decision, Known, Verdict

# The finding that wins if several known memories are affected.
_RANK = (
    Verdict.SKIP, Verdict.REPLACE, Verdict.REVIEW, Verdict.MERGE, Verdict.KEEP_BOTH,
)  # fmt: skip
# Below this a candidate may not replace a known memory; a person decides.
SURE_ENOUGH = 0.5
# The bundled embedder's cosine that all pairs on one matter reach, and unrelated pairs don't.
SAME_MATTER = 0.55
# Below this cosine, texts without a common word are about different matters unless the head is this
# sure: it was trained on few unrelated pairs.
STRANGERS, SURE_OF_STRANGERS = 0.35, 0.9
_SURE_OF_BOTH = 0.94  # share of "unrelated" under which the head hesitates
_LEAST_LIKE = 0.31  # cosine of a memory that may support another
LONGEST_MERGE = 400  # characters
_MOST_READ = 12  # pairs for one candidate; a pair costs about ten milliseconds
_MOST_SUPPORTS = 3  # of one candidate
GONE = frozenset(["superseded", "archived"])
# The latest statement of an agent on a project holds; nobody is asked about it.
_OF_PROJECTS = frozenset(["requirement", "plan", "development", "testing", "insight"])
_ON_ITS_OWN = (Verdict.ADD, Verdict.KEEP_BOTH)
_PLAN = "task"

APART = Finding(None)
BESIDE = Finding(Verdict.KEEP_BOTH, "both_hold")
# Each adds to the other, but the merged text would be too long.
UNJOINED = Finding(Verdict.KEEP_BOTH, "not_joined")


@dataclass(frozen=True)
class Met:
    """A known memory and its relation to the candidate, with the pair head's probability `share`.

    `may_support` means that both hold and the head isn't sure that they are unrelated.
    """

    memory: Known
    finding: Finding
    share: float = 1.0
    may_support: bool = False


class BundledArbiter:
    """Decide by the pair head, without a chat model.

    `known` is in the given order (most similar first); of equal findings the first wins. A disabled
    memory counts only against a repetition, since it must neither grow nor return under a new text.
    """

    name = "bundled"

    def __init__(self, reader: PairReader, *, thresholds: Thresholds = DEFAULT) -> None:
        self._reader = reader
        self.thresholds = thresholds

    def arbitrate(self, candidate: Candidate, known: Sequence[Known], *, now: datetime) -> Decision:
        met = self.meet(candidate, known)
        return self.with_supports(decide(candidate, met), candidate, met)

    def meet(self, candidate: Candidate, known: Sequence[Known]) -> list[Met]:
        """Return the relation to each known memory; only the repeated one if one has the
        same text.
        """
        present = [one for one in known if one.status not in GONE]
        same, wrong = pairs.fold(candidate.content), pairs.fold(candidate.overrules)
        for one in present:
            if pairs.fold(one.content) == same:
                return [Met(one, Finding(Verdict.SKIP, "same_text"))]
            if wrong and pairs.fold(one.content) == wrong and one.status != "disabled":
                return [Met(one, Finding(Verdict.REPLACE, "corrected"))]
        documents = [one for one in present if _are_documents(candidate, one)]
        statements = [one for one in present if one not in documents][:_MOST_READ]
        readings = pairs.read(
            self._reader,
            [(one.content, candidate.content) for one in statements],
            thresholds=self.thresholds,
        )
        found = {one.id: Met(one, _edition(candidate, one)) for one in documents}
        for one, reading in zip(statements, readings, strict=True):
            finding = _finding(candidate, one, reading)
            found[one.id] = Met(one, finding, reading.share, _may_support(candidate, one, reading))
        return [found[one.id] for one in present if one.id in found]

    def with_supports(
        self, decision: Decision, candidate: Candidate, met: Sequence[Met]
    ) -> Decision:
        """Add the memories that support a candidate which is stored on its own.

        They are few, most similar first. The head reads these pairs in both directions and must not
        see a contradiction in either.
        """
        if decision.verdict not in _ON_ITS_OWN:
            return decision
        near = [one for one in met if one.may_support]
        near = sorted(near, key=lambda one: -one.memory.similarity)[:_MOST_SUPPORTS]
        readings = pairs.read(
            self._reader,
            [(candidate.content, one.memory.content) for one in near],
            thresholds=self.thresholds,
        )
        found = zip(near, readings, strict=True)
        supports = [one.memory.id for one, back in found if back.relation not in CONFLICTS]
        return replace(decision, supports=tuple(supports))


def decide(candidate: Candidate, met: Sequence[Met]) -> Decision:
    """Return the decision: the strongest finding is the verdict, the others are listed
    beside it.
    """
    touched = [one for one in met if one.finding.verdict is not None]
    if not touched:
        return Decision(Verdict.ADD, kind=candidate.kind, reasons=("nothing_like_it",))
    first = min(touched, key=lambda one: _rank(one.finding))
    return _decision(candidate, first, [one for one in touched if one is not first])


def merge(old: str, new: str) -> str | None:
    """Return one text for two statements: the fuller one, else both; None if that is too long."""
    text = pairs.fuller(old, new) or pairs.join([old, new])
    return text if len(text) <= LONGEST_MERGE else None


def _are_documents(candidate: Candidate, memory: Known) -> bool:
    return any(
        len(text) > pairs.LONGEST or "\n" in text.strip()
        for text in (candidate.content, memory.content)
    )


def _edition(candidate: Candidate, memory: Known) -> Finding:
    new, old = Document(candidate.content), Document(memory.content)
    found = edition_of(new, old, similarity=memory.similarity) or _beside(memory)
    return _checked(candidate, memory, found)


def _finding(candidate: Candidate, memory: Known, reading: Reading) -> Finding:
    relation = reading.relation
    # A constraint protects: nothing that is about another matter ends it, however sure the head is.
    is_doubtful = reading.share < SURE_OF_STRANGERS or memory.kind == "constraint"
    if is_doubtful and are_strangers(candidate, memory):
        relation = Relation.UNRELATED
    if relation in CONFLICTS and _is_plan(candidate) and memory.kind != _PLAN:
        found = BESIDE  # who will move next week lives where they live until then
    elif _differ_by_value(candidate, memory):
        found = _of_another_value(candidate, memory)
    elif relation is Relation.SAME:
        found = Finding(Verdict.SKIP, "same_meaning")
    elif relation is Relation.REFINES:
        found = _refined(candidate, memory)
    elif relation is Relation.UNRELATED:
        found = _beside(memory)
    else:
        found = _changed(candidate, memory, relation)
    return _checked(candidate, memory, found)


def _may_support(candidate: Candidate, memory: Known, reading: Reading) -> bool:
    """Tell whether the head hesitates to call two statements unrelated.

    It is sure about a merely common topic ("likes tea", "likes coffee"), and hesitates if one
    statement makes the other likelier ("moves to Lisbon", "looks for a flat in Lisbon").
    """
    both_hold = reading.relation is Relation.UNRELATED and memory.status == "active"
    hesitates = both_hold and reading.share < _SURE_OF_BOTH
    return hesitates and memory.similarity >= _LEAST_LIKE and not _begin_alike(candidate, memory)


def _begin_alike(candidate: Candidate, memory: Known) -> bool:
    """Tell whether both begin with the same two words, like items of a list ("I like …")."""
    first, second = (_first_words(one.content) for one in (candidate, memory))
    return first == second and first[-1:] not in (["am"], ["have"], ["在"])


def _first_words(text: str) -> list[str]:
    return [word for word in segment.words(pairs.fold(text)) if word[0].isalnum()][:2]


def are_strangers(candidate: Candidate, memory: Known) -> bool:
    """Tell whether the two share neither words nor meaning, so that only a sure head
    relates them.
    """
    shared = set(segment.terms(candidate.content)) & set(segment.terms(memory.content))
    return not shared and memory.similarity < STRANGERS


def _is_plan(candidate: Candidate) -> bool:
    return candidate.kind == _PLAN or any(one.endswith(".planned") for one in candidate.reasons)


def _are_of_projects(candidate: Candidate, memory: Known) -> bool:
    return candidate.kind in _OF_PROJECTS and memory.kind in _OF_PROJECTS


def _differ_by_value(candidate: Candidate, memory: Known) -> bool:
    """Tell whether both say the same of a project except for a date or a number."""
    if not _are_of_projects(candidate, memory):
        return False
    texts = [without_values(pairs.fold(one.content)) for one in (candidate, memory)]
    return texts[0] == texts[1]


def _of_another_value(candidate: Candidate, memory: Known) -> Finding:
    """The newer value wins; milestones 1 and 2 are different matters, and both stay."""
    if numbers_of_series(candidate.content) != numbers_of_series(memory.content):
        return BESIDE
    return Finding(Verdict.REPLACE, "newer_value")


def _may_replace_unasked(candidate: Candidate, memory: Known) -> bool:
    """Tell whether both belong to a project and begin with the same word, so have one subject."""
    first = [segment.words(pairs.fold(one.content))[:1] for one in (candidate, memory)]
    return _are_of_projects(candidate, memory) and first[0] == first[1]


def _beside(memory: Known) -> Finding:
    return BESIDE if memory.similarity >= SAME_MATTER else APART


def _refined(candidate: Candidate, memory: Known) -> Finding:
    """Keep the fuller text; merge the two if each has words of its own."""
    text = pairs.fuller(memory.content, candidate.content)
    if text == candidate.content:
        return Finding(Verdict.REPLACE, "says_more")
    if text == memory.content:
        return Finding(Verdict.SKIP, "weaker")
    if (candidate.kind == "event") != (memory.kind == "event"):
        return _beside(memory)  # what happened is no detail of what holds
    return Finding(Verdict.MERGE, "adds_detail")


def _changed(candidate: Candidate, memory: Known, relation: Relation) -> Finding:
    """For an end, the statement that reports it becomes the current text."""
    if relation is Relation.ENDED:
        return Finding(Verdict.REPLACE, "no_longer")
    if candidate.corrects:
        return Finding(Verdict.REPLACE, "corrected")
    surely = relation is Relation.NEWER or candidate.explicit
    if surely or _may_replace_unasked(candidate, memory):
        return Finding(Verdict.REPLACE, "newer_value")
    return Finding(Verdict.REVIEW, "contradicts")


def _checked(candidate: Candidate, memory: Known, finding: Finding) -> Finding:
    """Ask the person about a change that isn't sure, or was said before the known memory."""
    if memory.status == "disabled" and finding.verdict is not Verdict.SKIP:
        return APART
    changes = finding.verdict is Verdict.REPLACE and finding.reason != "says_more"
    if not changes or candidate.corrects or candidate.explicit:
        return finding
    if candidate.confidence < SURE_ENOUGH:
        return Finding(Verdict.REVIEW, "contradicts")
    return Finding(Verdict.REVIEW, "said_earlier") if is_earlier(candidate, memory) else finding


def is_earlier(candidate: Candidate, memory: Known) -> bool:
    """Tell whether it is about a time before the memory was said."""
    told, since = candidate.occurred_at, memory.said_at
    return bool(told and since and told < since - timedelta(days=1))


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
