"""The reader on sets that were blind once: no figure falls under its floor."""

from __future__ import annotations

import pytest

from bench import reader as bench
from memories.extraction.bundled import BundledExtractor
from memories.reader import reader

# The set in use, and those that were blind until they were trained on.
_RETIRED = bench.BLIND.parents[2] / "training" / "data"
FILES = [*sorted(bench.BLIND.glob("*.jsonl")), *sorted(_RETIRED.glob("*/??_blind?.jsonl"))]
# Least precision and recall (borders must fit too), most harmful memories, most noisy messages.
FLOORS = {
    "en": (0.78, 0.8, 6, 16),
    "zh": (0.68, 0.74, 18, 24),
    "es": (0.8, 0.75, 2, 2),
    "de": (0.8, 0.8, 2, 2),
    "fr": (0.75, 0.8, 2, 2),
    "ja": (0.8, 0.7, 2, 2),
}


def test_messages_keep_what_they_should() -> None:
    said, _ = bench.read_rows(FILES)
    found = bench.messages(said, BundledExtractor(reader()), show=False)

    assert set(found) == set(FLOORS)
    for language, (precision, recall, harmful, noisy) in FLOORS.items():
        figures = found[language]
        assert figures["precision"] >= precision, (language, figures)
        assert figures["recall"] >= recall, (language, figures)
        assert figures["harmful"] <= harmful, (language, figures)
        assert figures["of these noisy"] <= noisy, (language, figures)
        assert figures["leaked"] == 0, (language, figures)


@pytest.mark.parametrize(("language", "least"), [("en", 0.9), ("zh", 0.9)])
def test_relations_of_pairs_are_right(language: str, least: float) -> None:
    _, compared = bench.read_rows(FILES)

    assert bench.pairs(compared, show=False)[language]["relation"] >= least
