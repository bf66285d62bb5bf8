"""Long messages with somebody else's text, and long stories of people's own.

The two sets of `bench/data/long_messages` were written by people who had seen no code. Each row has
`own`, the facts of the person as they stand in the text.
"""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memories import language_steps
from memories.extraction.types import Candidate, TurnText, Utterance

NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
SETS = Path(__file__).parents[2] / "bench/data/long_messages"
STORED = 0.5  # candidates below this aren't even asked about


def test_somebody_elses_text_teaches_little_and_an_own_story_much() -> None:
    rows: list[dict[str, Any]] = [
        json.loads(line)
        for path in sorted(SETS.glob("*.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()[::2]
    ]
    extractor, found = language_steps.bundled_extractor(), Counter[str]()
    for row in rows:
        text = row["text"]
        candidates = extractor.extract(
            TurnText(Utterance(text, NOW), Utterance("", NOW))
        ).candidates
        kept = [one for one in candidates if one.confidence >= STORED]
        own = [(text.index(fact), text.index(fact) + len(fact)) for fact in row["own"]]
        is_story = row["kind"] == "own"
        found["facts"] += is_story * len(own)
        found["kept facts"] += is_story * sum(any(_meets(one, f) for one in kept) for f in own)
        if not is_story:
            found["texts"] += 1
            found["foreign"] += sum(not any(_meets(one, fact) for fact in own) for one in kept)
    assert found["texts"] == 38
    assert found["foreign"] <= 30, found  # before the request was read with the ends: over 200
    assert found["kept facts"] >= 0.75 * found["facts"], found


def _meets(one: Candidate, fact: tuple[int, int]) -> bool:
    start, end = one.quote_start, one.quote_start + len(one.quote)
    return start < fact[1] and fact[0] < end
