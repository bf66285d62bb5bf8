"""The reader on sets that were blind once: no figure falls under its floor."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import reader as bench
from memories.extraction.bundled import BundledExtractor
from memories.reader import reader

# The last sets that were blind until they were trained on; and the tenth (English, Chinese), which
# were never trained on, with the sixth of the other languages, which are trained on since the
# eighth step of the card.
_ROWS = bench.BLIND.parents[2] / "training" / "data"
RETIRED = [
    *sorted(_ROWS.glob("messages/??_blind7.jsonl")),
    *(_ROWS / "messages" / f"{language}_blind1.jsonl" for language in ("de", "es", "fr", "ja")),
    *sorted(_ROWS.glob("pairs/??_blind6.jsonl")),
]
UNSEEN = sorted([*bench.BLIND.glob("*10.jsonl"), *bench.BLIND.glob("*6.jsonl")])
# Least precision and recall (borders must fit too), most harmful memories, most noisy messages. The
# mean of several readers remembers its training rows less exactly than a single one.
FLOORS = {
    "en": (0.77, 0.92, 1, 2),
    "zh": (0.72, 0.93, 1, 2),
    "es": (0.9, 0.88, 1, 1),
    "de": (0.88, 0.93, 1, 1),
    "fr": (0.82, 0.95, 1, 1),
    "ja": (0.93, 0.92, 1, 1),
}
# The same of the unseen sets, where a memory is right whatever its borders. The last four languages
# have some 40 wanted statements each, so one is 2.5 points, and the kernels for 4-bit weights round
# differently on other processors: French had .88 on one and .85 on another.
UNSEEN_FLOORS = {
    "en": (0.88, 0.84, 2, 5),
    "zh": (0.87, 0.79, 5, 6),
    "es": (0.87, 0.93, 1, 4),
    "de": (0.8, 0.87, 2, 4),
    "fr": (0.9, 0.9, 2, 5),
    "ja": (0.8, 0.92, 1, 3),
}


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
    ("files", "least"), [(RETIRED, {"en": 0.98, "zh": 0.98}), (UNSEEN, {"en": 0.87, "zh": 0.84})]
)
def test_relations_of_pairs_are_right(files: list[Path], least: dict[str, float]) -> None:
    _, compared = bench.read_rows(files)

    found = bench.pairs(compared, show=False)
    assert {one: found[one]["relation"] >= share for one, share in least.items()} == dict.fromkeys(
        least, True
    )
