"""The reader on sets that were blind once: no figure falls under its floor."""

from __future__ import annotations

import pytest

from bench import reader as bench
from memories.extraction.bundled import BundledExtractor
from memories.reader import reader

FILES = sorted(bench.BLIND.glob("*.jsonl"))
# Least precision and recall (borders must fit too), most harmful memories, most noisy messages.
FLOORS = {
    "en": (0.5, 0.6, 30, 30),
    "zh": (0.5, 0.6, 30, 30),
    "es": (0.4, 0.5, 10, 8),
    "de": (0.4, 0.5, 10, 8),
    "fr": (0.4, 0.5, 10, 8),
    "ja": (0.4, 0.5, 10, 8),
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


@pytest.mark.parametrize(("language", "least"), [("en", 0.65), ("zh", 0.65)])
def test_relations_of_pairs_are_right(language: str, least: float) -> None:
    _, compared = bench.read_rows(FILES)

    assert bench.pairs(compared, show=False)[language]["relation"] >= least
