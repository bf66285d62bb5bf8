"""The bundled arbiter: what becomes of a candidate beside the memories that are like it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime, timedelta

from memories.extraction.arbitration.chinese import read_chinese
from memories.extraction.arbitration.combining import combine
from memories.extraction.arbitration.editions import Document, edition_of
from memories.extraction.arbitration.english import read_english
from memories.extraction.arbitration.pairing import (
    APART,
    BESIDE,
    SAME_MATTER,
    UNJOINED,
    Finding,
    Pair,
)
from memories.extraction.arbitration.settling import settle
from memories.extraction.arbitration.statement import Statement
from memories.extraction.types import Beside, Candidate, Decision, Known, Verdict

# Which finding wins when several known memories touch the candidate.
_RANK = (
    Verdict.SKIP, Verdict.REPLACE, Verdict.REVIEW, Verdict.MERGE, Verdict.KEEP_BOTH,
)  # fmt: skip
# Below this a candidate may not push out what is known; a person decides.
SURE_ENOUGH = 0.5
# The rules are made for sentences. What is longer is compared as a whole or not at all.
LONGEST = 400
# What is so until it is otherwise, and by which findings a plan would end it.
_LASTING = frozenset(["home", "employer", "job", "school", "marital", "car"])
_NEWER = frozenset(["newer_value", "judged_newer"])
_GONE = frozenset(["superseded", "archived"])
_readings: ContextVar[dict[str, Statement] | None] = ContextVar("readings", default=None)


class BundledArbiter:
    """Decides by rules for Chinese and English and a small learned judge, without a model.

    `known` is taken as it comes (most similar first); of equal findings the first wins. Only a
    repeat counts against a disabled memory, since what the user switched off must neither grow
    nor come back under a new text.
    """

    name = "bundled"

    def arbitrate(self, candidate: Candidate, known: Sequence[Known], *, now: datetime) -> Decision:
        new = read(candidate.content[:LONGEST])
        found = [
            (finding, memory)
            for memory in known
            if memory.status not in _GONE
            for finding in [_finding(candidate, new, memory)]
            if finding.verdict is not None
        ]
        if not found:
            return Decision(Verdict.ADD, kind=candidate.kind, reasons=("nothing_like_it",))
        finding, memory = min(found, key=lambda pair: _rank(pair[0]))
        others = [pair for pair in found if pair[1].id != memory.id]
        return _decision(candidate, finding, memory, beside=_beside(others))


@contextmanager
def reading_once() -> Iterator[None]:
    """Within, each text is read once: where many candidates meet the same memories.

    Nothing of it is kept afterwards: what is forgotten must not live on in a process.
    """
    token = _readings.set({})
    try:
        yield
    finally:
        _readings.reset(token)


def read(text: str) -> Statement:
    """A memory's statement, by the rules of the language that it is written in."""
    readings = _readings.get()
    if readings is None:
        return _read(text)
    if text not in readings:
        readings[text] = _read(text)
    return readings[text]


def _read(text: str) -> Statement:
    chinese = sum("\u4e00" <= char <= "\u9fff" for char in text)
    latin = sum(char.isascii() and char.isalpha() for char in text)
    return read_chinese(text) if chinese * 4 > latin else read_english(text)


def _finding(candidate: Candidate, new: Statement, memory: Known) -> Finding:
    decided = candidate.corrects or candidate.explicit
    if _is_document(candidate.content) or _is_document(memory.content):
        finding = _documents(candidate, memory)
    else:
        old = read(memory.content)
        finding = settle(
            Pair(
                new=new, old=old, similarity=memory.similarity, decided=decided,
                corrects=candidate.corrects or new.corrects,
            )
        )  # fmt: skip
        if candidate.kind == "task" and memory.kind != "task":
            finding = _until_it_is_so(finding, old)
    if memory.status == "disabled" and finding.verdict is not Verdict.SKIP:
        return APART
    if finding.verdict is Verdict.REPLACE and finding.reason != "says_more" and not decided:
        return _doubted(candidate, finding, memory)
    return finding


def _until_it_is_so(finding: Finding, old: Statement) -> Finding:
    """Who will move next week lives where they live until then."""
    replaced = finding.verdict is Verdict.REPLACE and finding.reason in _NEWER
    return BESIDE if replaced and old.slot in _LASTING else finding


def _is_document(text: str) -> bool:
    """What is long, or has a title and more below it, is no sentence to take apart."""
    return len(text) > LONGEST or "\n" in text.strip()


def _documents(candidate: Candidate, memory: Known) -> Finding:
    if candidate.content.split() == memory.content.split():
        return Finding(Verdict.SKIP, "same_text")
    new, old = Document(candidate.content), Document(memory.content)
    edition = edition_of(new, old, similarity=memory.similarity)
    return edition or (BESIDE if memory.similarity >= SAME_MATTER else APART)


def _doubted(candidate: Candidate, finding: Finding, memory: Known) -> Finding:
    """A change that we aren't sure of, or that was said before what we know, is asked about."""
    if candidate.confidence < SURE_ENOUGH:
        return Finding(Verdict.REVIEW, "contradicts")
    said, known_since = candidate.occurred_at, memory.said_at
    if said and known_since and said < known_since - timedelta(days=1):
        return Finding(Verdict.REVIEW, "said_earlier")
    return finding


def _rank(finding: Finding) -> int:
    return _RANK.index(finding.verdict) if finding.verdict else len(_RANK)


def _beside(others: Sequence[tuple[Finding, Known]]) -> tuple[Beside, ...]:
    return tuple(
        Beside(memory.id, finding.verdict, finding.reason)
        for finding, memory in others
        if finding.verdict is not None
    )


def _decision(
    candidate: Candidate, finding: Finding, memory: Known, *, beside: tuple[Beside, ...]
) -> Decision:
    merged = finding.verdict is Verdict.MERGE
    text = combine(memory.content, candidate.content) if merged else None
    if merged and text is None:
        finding, merged = UNJOINED, False
    assert finding.verdict is not None
    keeps_kind = merged and "constraint" in (candidate.kind, memory.kind)
    return Decision(
        finding.verdict,
        target_id=memory.id,
        content=text if merged else None,
        kind="constraint" if keeps_kind else candidate.kind,
        reasons=tuple(filter(None, (finding.reason, finding.evidence))),
        beside=beside,
    )
