"""The reader on sets that were blind once: no figure falls under its floor."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import reader as bench
from memories.extraction.bundled import BundledExtractor
from memories.reader import reader

# Sets that were blind until they were trained on, and the latest, which never was.
_RETIRED = bench.BLIND.parents[2] / "training" / "data"
RETIRED = sorted(_RETIRED.glob("*/??_blind?.jsonl"))
UNSEEN = sorted(bench.BLIND.glob("*.jsonl"))
# Least precision and recall (borders must fit too), most harmful memories, most noisy messages.
FLOORS = {
    "en": (0.78, 0.8, 6, 16),
    "zh": (0.68, 0.74, 18, 24),
    "es": (0.8, 0.75, 2, 2),
    "de": (0.8, 0.8, 2, 2),
    "fr": (0.75, 0.8, 2, 2),
    "ja": (0.8, 0.7, 2, 2),
}
# The same of the unseen set, where a memory is right whatever its borders.
UNSEEN_FLOORS = {"en": (0.85, 0.8, 7, 11), "zh": (0.9, 0.8, 6, 7)}


@pytest.mark.parametrize(
    ("files", "floors", "precise", "recalled"),
    [
        (RETIRED, FLOORS, "precision", "recall"),
        (UNSEEN, UNSEEN_FLOORS, "matter P", "matter R"),
    ],
)
def test_messages_keep_what_they_should(
    files: list[Path], floors: dict[str, tuple[float, ...]], precise: str, recalled: str
) -> None:
    said, _ = bench.read_rows(files)
    found = bench.messages(said, BundledExtractor(reader()), show=False)

    assert set(found) == set(floors)
    for language, (precision, recall, harmful, noisy) in floors.items():
        figures = found[language]
        assert figures[precise] >= precision, (language, figures)
        assert figures[recalled] >= recall, (language, figures)
        assert figures["harmful"] <= harmful, (language, figures)
        assert figures["of these noisy"] <= noisy, (language, figures)
        assert figures["leaked"] == 0, (language, figures)


@pytest.mark.parametrize(
    ("files", "least"), [(RETIRED, {"en": 0.9, "zh": 0.9}), (UNSEEN, {"en": 0.86, "zh": 0.88})]
)
def test_relations_of_pairs_are_right(files: list[Path], least: dict[str, float]) -> None:
    _, compared = bench.read_rows(files)

    found = bench.pairs(compared, show=False)
    assert {one: found[one]["relation"] >= share for one, share in least.items()} == dict.fromkeys(
        least, True
    )
