"""How well the learned reader tells what supports a statement from what is of the same topic.

`supports.tsv` has a language, the answer, and two statements on each line.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from foundation.providers.embedders import BundledEmbedder
from memories.extraction.arbitration.verdicts import BundledArbiter
from memories.extraction.types import Candidate, Decision, KnownMemory, Verdict
from memories.reader import reader

NOW = datetime(2026, 11, 3, tzinfo=UTC)
_LINES = (Path(__file__).parent / "supports.tsv").read_text().splitlines()
PAIRS = [tuple(line.split("\t")) for line in _LINES]


def decided(language: str, answer: str) -> list[Decision]:
    found = [(old, new) for one, kind, old, new in PAIRS if (one, kind) == (language, answer)]
    embedder, arbiter = BundledEmbedder(), BundledArbiter(reader())
    known, said = (embedder.embed([pair[side] for pair in found]) for side in (0, 1))
    likeness: Sequence[float] = (known * said).sum(axis=1).tolist()
    return [
        arbiter.arbitrate(
            Candidate(kind="fact", content=new, importance=0.5, confidence=0.8, quote=new),
            [KnownMemory(id="mem_old", kind="fact", content=old, similarity=max(0.0, cosine))],
            now=NOW,
        )
        for (old, new), cosine in zip(found, likeness, strict=True)
    ]


def linked(decisions: Sequence[Decision]) -> float:
    """The share of those that stand beside one another."""
    beside = [one for one in decisions if one.verdict in (Verdict.ADD, Verdict.KEEP_BOTH)]
    return sum(bool(one.supports) for one in beside) / len(beside)


@pytest.mark.parametrize(("language", "least"), [("en", 0.5), ("zh", 0.4)])
def test_what_supports_is_often_linked(language: str, least: float) -> None:
    assert linked(decided(language, "supports")) >= least


@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_is_merely_of_one_topic_hardly_ever_is(language: str) -> None:
    assert linked(decided(language, "topic")) <= 0.1
