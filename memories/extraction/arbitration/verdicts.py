"""Decide what to do with a candidate, given similar memories.

The reader model determines how two statements relate. This module derives the verdict from the
relation, for the candidates of every extractor.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from foundation.text import segment
from memories.extraction.arbitration import conflicts, page_editions, pairs
from memories.extraction.arbitration.conflicts import BOTH_HOLD, CONTRADICTS
from memories.extraction.arbitration.page_editions import NEWER, NOTHING_NEW, Finding
from memories.extraction.arbitration.pairs import (
    CONFLICTS,
    DEFAULT,
    PairReader,
    PairRelation,
    Relation,
    Thresholds,
)
from memories.extraction.corrections.cancellations import PLANS
from memories.extraction.corrections.values import numbers_of_series, without_values
from memories.extraction.types import Candidate, Decision, KnownMemory, OtherVerdict, Verdict
from memories.extraction.wording.documents import Document
from memories.extraction.wording.owners import Ownership

# If several known memories are affected, the finding whose verdict comes first here wins.
_RANK: tuple[Verdict | None, ...] = (
    Verdict.SKIP, Verdict.REPLACE, Verdict.REVIEW, Verdict.MERGE, Verdict.KEEP_BOTH,
)  # fmt: skip
# With a lower confidence, a candidate may not replace a known memory; the user decides.
SURE_ENOUGH = 0.5
# Minimum cosine (of the bundled embedder's vectors) of texts on the same matter.
SAME_MATTER = 0.55
_SURE_OF_CONTRADICTION = 0.95  # replaces `SURE_OF_STRANGERS` for a contradiction
_PERHAPS_OTHER = 0.3  # a detail isn't merged if "unrelated" is more probable than this
_SURE_OF_BOTH = 0.96  # a pair is compared in reverse if "unrelated" is less probable than this
_HESITATES = 0.897  # the encoder is unsure if "unrelated" is less probable than this
_LEAST_LIKE = 0.31  # minimum cosine of a memory that may support a candidate
_MOST_READ = 12  # pairs compared for one candidate; a pair takes about ten milliseconds
_SAME_STATEMENT = 0.5  # minimum share of the shorter memory's terms that both memories contain
_MOST_SUPPORTS = 3  # memories that support one candidate
GONE = frozenset(["superseded", "archived"])
# An agent's latest statement about a project holds without a review.
_OF_PROJECTS = frozenset(["requirement", "plan", "development", "testing", "insight"])
_ON_ITS_OWN = (Verdict.ADD, Verdict.KEEP_BOTH)
_AGREES = (Relation.SAME, Relation.REFINES)
_EVENT = "event"
KnownMemories = Sequence[KnownMemory]
ENDS = "no_longer"
# The memory may depend on another memory that ends; the person is asked.
MAY_BE_OVER = Finding(Verdict.REVIEW, ENDS)

UNRELATED = Finding(None)
# Each statement adds to the other, but the merged text would be too long.
UNJOINED = Finding(Verdict.KEEP_BOTH, "not_joined")


@dataclass(frozen=True)
class Comparison:
    """A known memory, compared with the candidate.

    `finding` is the verdict that follows from the comparison. `reading` is the relation according
    to the reader model, or None if the model wasn't asked.
    """

    memory: KnownMemory
    finding: Finding
    reading: PairRelation | None = None
    corrected: str = ""  # the text of the memory with a corrected value

    @property
    def share(self) -> float:
        """Return the reader model's probability of the relation, or 1 if it wasn't asked."""
        return self.reading.share if self.reading else 1.0


class BundledArbiter:
    """Decide on candidates with the reader model, without a chat model.

    The memories are compared in the given order (most similar first); the first of several equally
    strong findings wins. A disabled memory is never changed, but a candidate that repeats it is
    skipped.

    `most_pairs` limits how many pairs are compared for one candidate, in both directions together;
    the pairs most likely to be related are compared. Callers that wait for the result set a limit.
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

    def arbitrate(self, candidate: Candidate, known: KnownMemories, *, now: datetime) -> Decision:
        comparisons = self.compare(candidate, known)
        return self.with_supports(decide(candidate, comparisons), candidate, comparisons)

    def compare(self, candidate: Candidate, known: KnownMemories) -> list[Comparison]:
        """Return each known memory that was compared with the candidate, and how the two relate.

        Superseded and archived memories are skipped. If a memory has the candidate's text, or the
        text that the candidate corrects, return only this memory.
        """
        present = [memory for memory in known if memory.status not in GONE]
        same, wrong = pairs.fold(candidate.content), pairs.fold(candidate.overrules)
        for memory in present:
            if pairs.fold(memory.content) == same:
                return [Comparison(memory, Finding(Verdict.SKIP, "same_text"))]
            if wrong and pairs.fold(memory.content) == wrong and memory.status != "disabled":
                return [Comparison(memory, Finding(Verdict.REPLACE, "corrected"))]
        found = {
            memory.id: Comparison(memory, worded)
            for memory in present
            if (worded := _finding_by_wording(candidate, memory))
        }
        unread = [memory for memory in present if memory.id not in found]
        read = self._read_pairs(candidate, self._worth_reading(candidate, unread))
        found |= {pair.memory.id: pair for pair in read}
        for memory, text in conflicts.corrected_texts(candidate, present):
            finding = Finding(Verdict.MERGE, "corrected")
            found[memory.id] = Comparison(memory, finding, corrected=text)
        return [found[memory.id] for memory in present if memory.id in found]

    def _read_pairs(self, candidate: Candidate, known: KnownMemories) -> Iterator[Comparison]:
        """Yield how the candidate relates to each memory, in the given order.

        If `most_pairs` is set, stop at the first memory that says the same thing, since the
        verdict is then SKIP. Corrections and project pages are compared with all memories.
        """
        quickly = self._most_pairs is not None
        may_end = quickly and not candidate.corrects and candidate.kind not in _OF_PROJECTS
        for memory in known:
            pair = (memory.content, candidate.content)
            [reading] = pairs.read(self._reader, [pair], thresholds=self.thresholds)
            finding = _finding(candidate, memory, reading)
            yield Comparison(memory, finding, reading)
            if may_end and finding.verdict is Verdict.SKIP:
                return

    def _worth_reading(self, candidate: Candidate, known: KnownMemories) -> KnownMemories:
        if self._most_pairs is None:
            return known[:_MOST_READ]
        return pairs.likeliest_related(candidate, known, most=self._most_pairs)

    def with_supports(
        self, decision: Decision, candidate: Candidate, comparisons: Sequence[Comparison]
    ) -> Decision:
        """Add supporting memories to a decision that stores the candidate as a new memory.

        The reader model has compared the memories with the candidate; it now compares the most
        similar ones in the reverse direction (see `_pairs_left`). A memory supports the candidate
        if the model finds no conflict, and in one direction is unsure that they are unrelated.
        """
        if decision.verdict not in _ON_ITS_OWN:
            return decision
        near = [pair for pair in comparisons if _may_support(candidate, pair)]
        near = sorted(near, key=lambda pair: -pair.memory.similarity)[
            : self._pairs_left(comparisons)
        ]
        readings = pairs.read(
            self._reader,
            [(candidate.content, pair.memory.content) for pair in near],
            thresholds=self.thresholds,
        )
        found = zip(near, readings, strict=True)
        supports = [
            pair.memory.id
            for pair, back in found
            if back.relation not in CONFLICTS and _hesitates(pair.reading, back)
        ]
        return replace(decision, supports=tuple(supports))

    def _pairs_left(self, comparisons: Sequence[Comparison]) -> int:
        """Return how many pairs may be compared in reverse, within `most_pairs` if it is set."""
        if self._most_pairs is None:
            return _MOST_SUPPORTS
        return max(0, self._most_pairs - sum(pair.reading is not None for pair in comparisons))


def decide(candidate: Candidate, comparisons: Sequence[Comparison]) -> Decision:
    """Return the decision: the verdict of the strongest finding, or ADD if no memory is related.

    `others` of the decision lists the other memories that the candidate may change. A memory that
    may end together with the target is listed with the verdict REVIEW. If some of the memories are
    editions of the candidate's project page, the candidate changes only these.
    """
    touched = [pair for pair in comparisons if pair.finding.verdict is not None]
    if not touched:
        return Decision(Verdict.ADD, kind=candidate.kind, reasons=("nothing_like_it",))
    kept = [pair for pair in touched if pair.finding.verdict is Verdict.KEEP_BOTH]
    own = [pair for pair in touched if pair not in kept and _is_own_page(candidate, pair)]
    touched = [*own, *kept] if own else touched
    first = min(touched, key=lambda pair: _RANK.index(pair.finding.verdict))
    others = [
        pair if may_change else replace(pair, finding=MAY_BE_OVER)
        for pair in touched
        if pair is not first
        and (
            (may_change := _may_change(pair, first, candidate))
            or _may_end_too(pair, first, candidate)
        )
    ]
    if first.corrected:
        candidate = replace(candidate, kind=first.memory.kind)
    return decision_on(
        candidate, first.memory, first.finding, others=others, merged=first.corrected
    )


def _are_documents(candidate: Candidate, memory: KnownMemory) -> bool:
    return any(
        len(text) > pairs.LONGEST or "\n" in text.strip()
        for text in (candidate.content, memory.content)
    )


def _finding_by_wording(candidate: Candidate, memory: KnownMemory) -> Finding | None:
    """Return the finding that follows from the wording alone, or None."""
    new, old = Document(candidate.content), Document(memory.content)
    of_project = _are_of_projects(candidate, memory)
    found: Finding | None = None
    if _are_documents(candidate, memory):
        found = page_editions.edition_of(
            new, old, similarity=memory.similarity, of_project=of_project
        ) or _finding_if_both_hold(memory)
    elif of_project and page_editions.have_other_subjects(new, old):
        found = _finding_if_both_hold(memory)
    elif of_project and page_editions.have_one_subject(new, old):
        found = NEWER if page_editions.differ_in_one_value(new, old) else None
    return restrict_finding(candidate, memory, found) if found else None


def _is_own_page(candidate: Candidate, pair: Comparison) -> bool:
    """Return whether the memory is an edition of the candidate's project page, by text or name."""
    if not _are_of_projects(candidate, pair.memory):
        return False
    if pair.finding in (NOTHING_NEW, NEWER):
        return True
    new, old = Document(candidate.content), Document(pair.memory.content)
    return bool(new.name) and new.name == old.name


def _may_change(pair: Comparison, first: Comparison, candidate: Candidate) -> bool:
    """Return whether a candidate that replaces `first` may also change the memory of `pair`.

    If `pair` is a conflict, both memories must say the same thing. The texts of two project pages
    must be as similar as editions of one page.
    """
    if not pair.finding.is_conflict:
        return True
    if _are_of_projects(candidate, pair.memory):
        return page_editions.are_worded_alike(
            Document(first.memory.content), Document(pair.memory.content)
        )
    terms = [set(segment.terms(compared.memory.content)) for compared in (first, pair)]
    return len(terms[0] & terms[1]) >= _SAME_STATEMENT * min(map(len, terms))


def _may_end_too(pair: Comparison, first: Comparison, candidate: Candidate) -> bool:
    """Return whether a candidate that ends the memory of `first` may also end that of `pair`."""
    named = (conflicts.telling_words(text) for text in (candidate.content, pair.memory.content))
    return pair.finding.reason == first.finding.reason == ENDS and bool(set.intersection(*named))


def _finding(candidate: Candidate, memory: KnownMemory, reading: PairRelation) -> Finding:
    if conflicts.is_doubtful(candidate, memory, reading):
        return _finding_if_both_hold(memory)
    relation = reading.relation
    new, old = Document(candidate.content), Document(memory.content)
    is_rewritten = _are_of_projects(candidate, memory) and page_editions.is_rewritten(new, old)
    # Constraints protect the user: a statement on another matter never ends a constraint.
    contradicts = relation is Relation.CONTRADICTS
    sure = _SURE_OF_CONTRADICTION if contradicts else conflicts.SURE_OF_STRANGERS
    is_doubtful = memory.kind == "constraint" or relation is Relation.REFINES
    if (is_doubtful or reading.share < sure) and conflicts.are_strangers(candidate, memory):
        relation = Relation.UNRELATED
    limited = conflicts.find_override(candidate, memory, replace(reading, relation=relation))
    if relation in CONFLICTS and conflicts.is_only_planned(candidate, memory, relation):
        found = BOTH_HOLD  # the current state holds until the planned change happens
    elif limited:
        found = limited
    elif _differ_by_value(candidate, memory):
        found = _value_finding(candidate, memory)
    elif relation in _AGREES and is_rewritten:
        found = NEWER
    elif relation is Relation.SAME:
        found = Finding(Verdict.SKIP, "same_meaning")
    elif relation is Relation.REFINES:
        found = _refinement_finding(candidate, memory, reading)
    elif relation is Relation.UNRELATED:
        found = _finding_if_both_hold(memory)
    else:
        found = _conflict_finding(candidate, memory, relation)
    ends_surely = relation is Relation.ENDED and reading.share >= conflicts.SURE_OF_STRANGERS
    return restrict_finding(candidate, memory, found, ends_surely=ends_surely)


def _may_support(candidate: Candidate, pair: Comparison) -> bool:
    """Return whether one of two statements may support the other.

    Both must hold and be similar in meaning, and the encoder must not be sure that they are
    unrelated.
    """
    memory, reading = pair.memory, pair.reading
    if reading is None or reading.relation is not Relation.UNRELATED or memory.status != "active":
        return False
    unsure = reading.unrelated_by_encoder < _SURE_OF_BOTH
    return unsure and memory.similarity >= _LEAST_LIKE and not _begin_alike(candidate, memory)


def _hesitates(*readings: PairRelation | None) -> bool:
    """Return whether, according to any of the readings, two statements may be related.

    If the statements only share a topic ("likes tea", "likes coffee"), the encoder is sure that
    they are unrelated. If one makes the other more likely ("moves to Lisbon", "looks for a flat in
    Lisbon"), the encoder is unsure.
    """
    return any(
        reading.relation is not Relation.UNRELATED or reading.unrelated_by_encoder < _HESITATES
        for reading in readings
        if reading
    )


def _begin_alike(candidate: Candidate, memory: KnownMemory) -> bool:
    """Return whether both statements begin with the same two words, such as "I like".

    Such statements are like items of a list, and don't support each other. Very common beginnings
    ("I am", "I have", 在 as second word) don't count.
    """
    first, second = (_first_words(statement.content) for statement in (candidate, memory))
    return first == second and first[-1:] not in (["am"], ["have"], ["在"])


def _first_words(text: str) -> list[str]:
    return [word for word in segment.words(pairs.fold(text)) if word[0].isalnum()][:2]


def _are_of_projects(candidate: Candidate, memory: KnownMemory) -> bool:
    return candidate.kind in _OF_PROJECTS and memory.kind in _OF_PROJECTS


def _differ_by_value(candidate: Candidate, memory: KnownMemory) -> bool:
    """Return whether two statements about a project differ only in a date or a number."""
    if not _are_of_projects(candidate, memory):
        return False
    texts = [without_values(pairs.fold(statement.content)) for statement in (candidate, memory)]
    return texts[0] == texts[1]


def _value_finding(candidate: Candidate, memory: KnownMemory) -> Finding:
    """Return the finding for two statements that differ only in a value.

    The new value replaces the old one. Numbered items ("milestone 1", "milestone 2") are both kept.
    """
    if numbers_of_series(candidate.content) != numbers_of_series(memory.content):
        return BOTH_HOLD
    return Finding(Verdict.REPLACE, "newer_value")


def _may_replace_unasked(candidate: Candidate, memory: KnownMemory) -> bool:
    """Return whether the candidate may replace the memory without asking the user.

    Both must be about a project and begin with the same word, which counts as their subject.
    """
    first = [segment.words(pairs.fold(statement.content))[:1] for statement in (candidate, memory)]
    return _are_of_projects(candidate, memory) and first[0] == first[1]


def _finding_if_both_hold(memory: KnownMemory) -> Finding:
    return BOTH_HOLD if memory.similarity >= SAME_MATTER else UNRELATED


def _refinement_finding(candidate: Candidate, memory: KnownMemory, pair: PairRelation) -> Finding:
    """Return the finding if one statement is more precise: keep the fuller text, or merge both.

    If the statements may be about different matters, keep both ("Lives in Brno", "Works in Brno at
    the hospital").
    """
    text = pairs.fuller_text(memory.content, candidate.content)
    if text == memory.content:
        return Finding(Verdict.SKIP, "weaker")
    if text == candidate.content and not candidate.kind == "event" != memory.kind:
        return Finding(Verdict.REPLACE, "says_more")
    if (candidate.kind in PLANS) != (memory.kind in PLANS):
        return _finding_if_both_hold(memory)  # a plan isn't a detail of a lasting statement
    if pair.unrelated > _PERHAPS_OTHER:
        return _finding_if_both_hold(memory)
    return Finding(Verdict.MERGE, "adds_detail")


def _conflict_finding(candidate: Candidate, memory: KnownMemory, relation: Relation) -> Finding:
    """Return the finding for a candidate that contradicts, updates or ends a memory."""
    if relation is Relation.ENDED:
        if conflicts.ends_part(candidate, memory):
            return BOTH_HOLD
        is_same = conflicts.name_same_matter(candidate, memory)
        return Finding(Verdict.REPLACE, ENDS) if is_same else CONTRADICTS
    new, old = Document(candidate.content), Document(memory.content)
    if _are_of_projects(candidate, memory) and page_editions.differ_in_one_value(new, old):
        return NEWER
    if conflicts.changes_part(candidate, memory):
        return CONTRADICTS
    if candidate.corrects:
        return Finding(Verdict.REPLACE, "corrected")
    is_newer = relation is Relation.NEWER and conflicts.name_same_matter(candidate, memory)
    if is_newer or candidate.explicit or _may_replace_unasked(candidate, memory):
        return Finding(Verdict.REPLACE, "newer_value")
    return CONTRADICTS


def restrict_finding(
    candidate: Candidate, memory: KnownMemory, finding: Finding, *, ends_surely: bool = False
) -> Finding:
    """Return the finding, or a safer one if the candidate may not change the memory at once.

    A disabled memory is never changed, but a candidate that repeats it is skipped. A statement
    about one person never changes a memory about another person. An explicit candidate needs no
    review. Otherwise, the user reviews a replacement that is uncertain or about an earlier time. A
    constraint protects the person, so it is replaced without a review only by another constraint
    that doesn't deny it, or by a statement that surely ends it.
    """
    if memory.status == "disabled" and finding.verdict is not Verdict.SKIP:
        return UNRELATED
    is_compared = _is_of_a_person(finding) and not _are_of_projects(candidate, memory)
    owners = Ownership.SAME
    if is_compared:
        owners = conflicts.owners(candidate, memory)
        finding = conflicts.protect_other_parts(candidate, memory, finding)
    if owners is Ownership.OTHER:
        return _finding_if_both_hold(memory)
    changes = finding.verdict is Verdict.REPLACE and finding.reason != "says_more"
    if not changes or candidate.explicit:
        return finding
    if owners is Ownership.UNSURE:
        return CONTRADICTS
    is_limit = memory.kind == "constraint" and not ends_surely
    if is_limit and (candidate.kind != "constraint" or conflicts.is_denial(candidate, memory)):
        return CONTRADICTS
    if candidate.corrects:
        return finding
    if candidate.confidence < SURE_ENOUGH:
        return CONTRADICTS
    return Finding(Verdict.REVIEW, "said_earlier") if is_earlier(candidate, memory) else finding


def _is_of_a_person(finding: Finding) -> bool:
    """Return whether a finding changes or repeats a memory that isn't an edition of a page."""
    return finding.verdict not in (None, Verdict.KEEP_BOTH) and finding not in (NOTHING_NEW, NEWER)


def is_earlier(candidate: Candidate, memory: KnownMemory) -> bool:
    """Return whether the candidate's time is more than a day before the memory was stated."""
    occurred, since = candidate.occurred_at, memory.said_at
    return bool(occurred and since and occurred < since - timedelta(days=1))


def decision_on(
    candidate: Candidate,
    memory: KnownMemory,
    finding: Finding,
    *,
    others: Sequence[Comparison] = (),
    merged: str = "",
) -> Decision:
    """Return the decision for a finding about a memory; `merged` is the merged text, if known."""
    text = None
    if finding.reason == "corrected" and (part := conflicts.corrected_part(candidate, memory)):
        text, finding = part, Finding(Verdict.MERGE, "corrected")
    elif finding.verdict is Verdict.MERGE:
        text = merged or pairs.merge(memory.content, candidate.content)
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
        others=tuple(
            OtherVerdict(other.memory.id, other.finding.verdict, other.finding.reason)
            for other in others
            if other.finding.verdict is not None
        ),
    )
