"""The reader on sets that were blind once: no figure falls under its floor."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import reader as bench
from memories.extraction.bundled import BundledExtractor
from memories.reader import reader

# The last sets that were blind until they were trained on; and sets that were never trained on.
_ROWS = bench.BLIND.parents[2] / "training" / "data"
_OTHERS = ("de", "es", "fr", "ja")
RETIRED = [
    *sorted(_ROWS.glob("messages/??_blind7.jsonl")),
    *(_ROWS / "messages" / f"{language}_blind1.jsonl" for language in _OTHERS),
    *sorted(_ROWS.glob("pairs/??_blind6.jsonl")),
]
UNSEEN = sorted(
    [
        *bench.BLIND.glob("??_messages1[2-5].jsonl"),
        *(bench.BLIND / f"{language}_messages{n}.jsonl" for language in _OTHERS for n in (7, 8)),
        *bench.BLIND.glob("??_pairs1[01].jsonl"),
        *bench.BLIND.glob("??_pairs1.jsonl"),
    ]
)
# Least precision and recall (borders must fit too), most harmful memories, most noisy messages. The
# mean of several readers remembers its training rows less exactly than a single one.
FLOORS = {
    "en": (0.76, 0.89, 1, 1),
    "zh": (0.7, 0.92, 1, 1),
    "es": (0.9, 0.92, 1, 1),
    "de": (0.86, 0.91, 1, 1),
    "fr": (0.82, 0.97, 1, 1),
    "ja": (0.91, 0.92, 1, 1),
}
# The same of the unseen sets, where a memory is right whatever its borders. The last four languages
# have 74 to 97 wanted statements each, so one is a point, and the kernels for 4-bit weights round
# differently on other processors: French once had .88 on one and .85 on another.
UNSEEN_FLOORS = {
    "en": (0.81, 0.765, 17, 33),
    "zh": (0.855, 0.775, 12, 30),
    "es": (0.885, 0.765, 3, 7),
    "de": (0.875, 0.755, 3, 9),
    "fr": (0.79, 0.725, 8, 10),
    "ja": (0.82, 0.785, 5, 6),
}
MOST_ENDING = 2  # candidates that only end an earlier statement
RELATIONS = {"en": 0.98, "zh": 0.98}
UNSEEN_RELATIONS = {"en": 0.79, "zh": 0.81, "es": 0.6, "de": 0.8, "fr": 0.75, "ja": 0.82}


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
        assert figures["ending"] <= MOST_ENDING, (language, figures)
        assert figures["leaked"] == 0, (language, figures)


@pytest.mark.parametrize(("files", "least"), [(RETIRED, RELATIONS), (UNSEEN, UNSEEN_RELATIONS)])
def test_relations_of_pairs_are_right(files: list[Path], least: dict[str, float]) -> None:
    _, compared = bench.read_rows(files)

    found = bench.pairs(compared, show=False)
    assert {one: found[one]["relation"] >= share for one, share in least.items()} == dict.fromkeys(
        least, True
    )
