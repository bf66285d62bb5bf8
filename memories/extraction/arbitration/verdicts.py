"""Decide what becomes of a candidate, given the similar known memories.

The pair head determines the relation of two statements; this module decides what follows. All
decisions are made here, whatever the source of the candidate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from memcenter.lib.text import segment
from memories.extraction.arbitration import editions, pairs
from memories.extraction.arbitration.editions import NEWER, NOTHING_NEW, Document, Finding
from memories.extraction.arbitration.pairs import (
    CONFLICTS,
    DEFAULT,
    LONGEST_MERGE,
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
_SURE_OF_BOTH = 0.97  # share of "unrelated" from which the other direction isn't read
_HESITATES = 0.92  # share of "unrelated" under which the head hesitates
_LEAST_LIKE = 0.31  # cosine of a memory that may support another
_MOST_READ = 12  # pairs for one candidate; a pair costs about ten milliseconds
_MOST_SUPPORTS = 3  # of one candidate
# Weights beside the cosine, and the sum from which a pair is worth reading (`likeliest_related`).
# On related pairs among 60 memories, three pairs hold .94 of the related ones, and twelve .97.
_SHARED_WORDS, _DENIAL, _WORTH_READING = 0.4, 0.05, 0.25
GONE = frozenset(["superseded", "archived"])
# The latest statement of an agent on a project holds; nobody is asked about it.
_OF_PROJECTS = frozenset(["requirement", "plan", "development", "testing", "insight"])
_ON_ITS_OWN = (Verdict.ADD, Verdict.KEEP_BOTH)
_AGREES = (Relation.SAME, Relation.REFINES)
_PLAN = "task"

APART = Finding(None)
BESIDE = Finding(Verdict.KEEP_BOTH, "both_hold")
# Each adds to the other, but the merged text would be too long.
UNJOINED = Finding(Verdict.KEEP_BOTH, "not_joined")


@dataclass(frozen=True)
class Met:
    """A known memory and its relation to the candidate, with the pair head's probability `share`.

    `may_support` means that both hold and that one may support the other, as far as it was read.
    """

    memory: Known
    finding: Finding
    share: float = 1.0
    may_support: bool = False
    is_read: bool = False


class BundledArbiter:
    """Decide by the pair head, without a chat model.

    `known` is in the given order (most similar first); of equal findings the first wins. A disabled
    memory counts only against a repetition, since it must neither grow nor return under a new text.

    With `most_pairs`, so few pairs are read for one candidate, in both directions together: those
    that are likeliest related. It is for callers who wait.
    """

    name = "bundled"

    def __init__(
        self,
        reader: PairReader,
        *,
        thresholds: Thresholds = DEFAULT,
        most_pairs: int | None = None,
    ) -> None:
        self._reader = reader
        self.thresholds = thresholds
        self._most_pairs = most_pairs

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
        found = {one.id: Met(one, told) for one in present if (told := _worded(candidate, one))}
        statements = self._worth_reading(candidate, [one for one in present if one.id not in found])
        readings = pairs.read(
            self._reader,
            [(one.content, candidate.content) for one in statements],
            thresholds=self.thresholds,
        )
        for one, reading in zip(statements, readings, strict=True):
            finding = _finding(candidate, one, reading)
            supports = _may_support(candidate, one, reading)
            found[one.id] = Met(one, finding, reading.share, supports, is_read=True)
        return [found[one.id] for one in present if one.id in found]

    def _worth_reading(self, candidate: Candidate, known: Sequence[Known]) -> Sequence[Known]:
        if self._most_pairs is None:
            return known[:_MOST_READ]
        return likeliest_related(candidate, known, most=self._most_pairs)

    def with_supports(
        self, decision: Decision, candidate: Candidate, met: Sequence[Met]
    ) -> Decision:
        """Add the memories that support a candidate which is stored on its own.

        They are few, most similar first. The head reads these pairs in both directions. It must not
        see a contradiction in either, and must hesitate in one to call them unrelated.
        """
        if decision.verdict not in _ON_ITS_OWN:
            return decision
        near = [one for one in met if one.may_support]
        near = sorted(near, key=lambda one: -one.memory.similarity)[: self._supports(met)]
        readings = pairs.read(
            self._reader,
            [(candidate.content, one.memory.content) for one in near],
            thresholds=self.thresholds,
        )
        found = zip(near, readings, strict=True)
        supports = [
            one.memory.id
            for one, back in found
            if back.relation not in CONFLICTS and (one.share < _HESITATES or _hesitates(back))
        ]
        return replace(decision, supports=tuple(supports))

    def _supports(self, met: Sequence[Met]) -> int:
        """Return how many pairs may still be read in the other direction."""
        if self._most_pairs is None:
            return _MOST_SUPPORTS
        return max(0, self._most_pairs - sum(one.is_read for one in met))


def likeliest_related(candidate: Candidate, known: Sequence[Known], *, most: int) -> list[Known]:
    """Return the known memories that most likely bear on the candidate, in the given order.

    They are similar in meaning, share words that few of the others have, or deny what it states.
    The best one is always among them, whatever it has in common with the candidate.
    """
    ours, denied = set(segment.terms(candidate.content)), pairs.denies(candidate.content)
    terms = {one.id: set(segment.terms(one.content)) for one in known}
    count = Counter(term for each in terms.values() for term in each)

    def weight(words: set[str]) -> float:
        return sum(1 / count[word] for word in words)

    scores = {
        one.id: one.similarity
        + _SHARED_WORDS * weight(ours & terms[one.id]) / (weight(terms[one.id]) or 1)
        + _DENIAL * (denied != pairs.denies(one.content))
        for one in known
    }
    best = sorted(known, key=lambda one: -scores[one.id])[:most]
    chosen = {one.id for one in best[:1]}
    chosen |= {one.id for one in best if scores[one.id] >= _WORTH_READING}
    return [one for one in known if one.id in chosen]


def decide(candidate: Candidate, met: Sequence[Met]) -> Decision:
    """Return the decision: the strongest finding is the verdict, the others are listed
    beside it.

    A project's page whose older edition is known changes no other page, whatever the head reads.
    """
    touched = [one for one in met if one.finding.verdict is not None]
    if not touched:
        return Decision(Verdict.ADD, kind=candidate.kind, reasons=("nothing_like_it",))
    beside = [one for one in touched if one.finding.verdict is Verdict.KEEP_BOTH]
    own = [one for one in touched if one not in beside and _is_own_page(candidate, one)]
    touched = [*own, *beside] if own else touched
    first = min(touched, key=lambda one: _rank(one.finding))
    others = [one for one in touched if one is not first and _may_change(one, first, candidate)]
    return _decision(candidate, first, others)


def merge(old: str, new: str) -> str | None:
    """Return one text for two statements: the fuller one, else both; None if that is too long."""
    text = pairs.fuller(old, new) or pairs.join([old, new])
    return text if len(text) <= LONGEST_MERGE else None


def _are_documents(candidate: Candidate, memory: Known) -> bool:
    return any(
        len(text) > pairs.LONGEST or "\n" in text.strip()
        for text in (candidate.content, memory.content)
    )


def _worded(candidate: Candidate, memory: Known) -> Finding | None:
    """Return what the wording alone tells; None if the pair head has to read the two."""
    new, old = Document(candidate.content), Document(memory.content)
    of_project = _are_of_projects(candidate, memory)
    found: Finding | None = None
    if _are_documents(candidate, memory):
        found = editions.edition_of(
            new, old, similarity=memory.similarity, of_project=of_project
        ) or _beside(memory)
    elif of_project and editions.have_other_subjects(new, old):
        found = _beside(memory)
    elif of_project and editions.have_one_subject(new, old):
        found = NEWER if editions.differ_in_one_value(new, old) else None
    return _checked(candidate, memory, found) if found else None


def _is_own_page(candidate: Candidate, one: Met) -> bool:
    """Tell whether the memory is the same page of a project by its wording or its name."""
    if not _are_of_projects(candidate, one.memory):
        return False
    if one.finding in (NOTHING_NEW, NEWER):
        return True
    new, old = Document(candidate.content), Document(one.memory.content)
    return bool(new.name) and new.name == old.name


def _may_change(one: Met, first: Met, candidate: Candidate) -> bool:
    """Tell whether a candidate that replaces `first` may replace or contradict this one too.

    A page replaces several pages only if they are worded alike, as older editions are.
    """
    if not (one.finding.is_conflict and _are_of_projects(candidate, one.memory)):
        return True
    return editions.are_worded_alike(Document(first.memory.content), Document(one.memory.content))


def _differ_in_one_value(candidate: Candidate, memory: Known) -> bool:
    return editions.differ_in_one_value(Document(candidate.content), Document(memory.content))


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
    elif relation in _AGREES and _said_again(candidate, memory):
        found = NEWER
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
    """Tell whether both hold, are alike, and the head isn't quite sure that they are unrelated."""
    both_hold = reading.relation is Relation.UNRELATED and memory.status == "active"
    unsure = both_hold and reading.share < _SURE_OF_BOTH
    return unsure and memory.similarity >= _LEAST_LIKE and not _begin_alike(candidate, memory)


def _hesitates(reading: Reading) -> bool:
    """Tell whether the head hesitates to call two statements unrelated.

    It is sure about a merely common topic ("likes tea", "likes coffee"), and hesitates in one
    direction if one statement makes the other likelier ("moves to Lisbon", "looks for a flat in
    Lisbon").
    """
    return reading.relation is not Relation.UNRELATED or reading.share < _HESITATES


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


def _said_again(candidate: Candidate, memory: Known) -> bool:
    """Tell whether a page that the head takes for the same or a refinement is a newer edition.

    The head takes another value for the same ("the next hire is a tester", "… a designer"), or
    would join the old one and the new one to one text.
    """
    if not _are_of_projects(candidate, memory):
        return False
    new, old = Document(candidate.content), Document(memory.content)
    if new.words == old.words or pairs.fuller(old.text, new.text) == old.text:
        return False
    return editions.have_one_subject(new, old) or editions.differ_in_one_value(
        new, old, telling=True
    )


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
    if _are_of_projects(candidate, memory) and _differ_in_one_value(candidate, memory):
        return NEWER
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


# Shares of letters, found by reading pairs of real project notes side by side.
