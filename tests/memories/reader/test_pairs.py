"""Pairs that look like a change or a repeat and are neither, read by the real pair head."""

from datetime import UTC, datetime

import pytest

from foundation.providers.embedders import BundledEmbedder
from memories.extraction.arbitration.verdicts import BundledArbiter
from memories.extraction.types import Candidate, KnownMemory, Verdict
from memories.reader import reader

NOW = datetime(2026, 11, 3, tzinfo=UTC)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Doesn't like tea", "Likes green tea with honey"),
        ("plays on Mondays", "also Wednesdays"),
        ("also Wednesdays", "plays on Mondays"),
        ("喜欢吃川菜", "每周吃一次川菜"),
        ("每周吃一次川菜", "喜欢吃川菜"),
        ("Works as a nurse", "Quit the job at Acme"),
        ("Quit the job at Acme", "Works as a nurse"),
        ("喜欢喝茶", "不喜欢喝茶的人"),
        ("不喜欢喝茶的人", "喜欢喝茶"),
    ],
)
def test_two_that_hold_together_neither_replace_nor_contradict_each_other(
    old: str, new: str
) -> None:
    known, said = BundledEmbedder().embed([old, new])
    decision = BundledArbiter(reader()).arbitrate(
        Candidate(kind="fact", content=new, importance=0.5, confidence=0.8, quote=new),
        [
            KnownMemory(
                id="mem_old", kind="fact", content=old, similarity=float((known * said).sum())
            )
        ],
        now=NOW,
    )
    assert decision.verdict in (Verdict.ADD, Verdict.KEEP_BOTH), decision.reasons
