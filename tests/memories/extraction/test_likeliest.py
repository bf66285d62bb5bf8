"""Of many known memories, the few that are read hold the one that bears on the candidate."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from foundation.providers.embedders import BundledEmbedder
from memories.extraction.arbitration.pairs import likeliest_related
from memories.extraction.types import Candidate, KnownMemory

PAIRS = Path(__file__).parents[3] / "bench" / "data" / "pairs"
_ASIDE = ("different", "unrelated")
_MEMORIES, _TRIED, _MET = 60, 100, 24


def _pairs(language: str) -> list[tuple[str, str]]:
    files = sorted(PAIRS.glob(f"{language}-*.jsonl"))
    rows = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    return [(row["old"], row["new"]) for row in rows if row["relation"] not in _ASIDE]


@pytest.mark.parametrize(("language", "floor"), [("en", 0.9), ("zh", 0.9)])
def test_three_of_sixty_hold_the_related_one(language: str, floor: float) -> None:
    rng, embedder = random.Random(7), BundledEmbedder()
    pairs = _pairs(language)
    texts = sorted({old for old, _ in pairs})
    vectors = dict(zip(texts, embedder.embed(texts), strict=True))
    tried = rng.sample(pairs, _TRIED)
    found = 0
    for (old, new), asked in zip(tried, embedder.embed([new for _, new in tried]), strict=True):
        own = {old, *rng.sample(texts, _MEMORIES - 1)}
        near = sorted(
            (KnownMemory(text, "fact", text, float(vectors[text] @ asked)) for text in own),
            key=lambda one: -one.similarity,
        )
        candidate = Candidate(kind="fact", content=new, importance=0.5, confidence=0.8, quote=new)
        chosen = likeliest_related(candidate, near[:_MET], most=3)
        assert len(chosen) <= 3
        found += old in {one.content for one in chosen}
    assert found / _TRIED >= floor
