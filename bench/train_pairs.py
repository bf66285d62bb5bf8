"""Trains the judge of pairs on `bench/data/pairs`, and says how it does on unheard topics.

    .venv/bin/python bench/train_pairs.py [--check]

Logistic regression (multinomial, L2) by Adam in numpy; the same pairs give the same weights.
Figures come from cross-validation in which every topic is wholly inside one of six parts. A person
has many memories and most have nothing to do with each other, so each statement is also learned
beside the two nearest ones of other topics; numbered topics are no themes and give none. The odd
half of the labelled arbitration pairs and the extra ones are learned too, but count for nothing in
the figures. `--check` only measures.
"""

from __future__ import annotations

import argparse
import json
import sys
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.pair_card import Held, card
from memcenter.providers.bundled import BundledEmbedder
from memories.extraction.arbitrate import read
from memories.extraction.arbitration.comparing import compare
from memories.extraction.arbitration.pair_features import PairFeatures, Vector, features
from memories.extraction.arbitration.pair_judge import CLASSES, WEIGHTS, row_of, softmax
from memories.extraction.arbitration.pairing import Finding, Pair

DATA = Path(__file__).resolve().parent / "data"
LANGUAGES = ("en", "zh")
_CLASS_OF = {
    "same": "same",
    "paraphrase": "same",
    "update": "update",
    "correction": "clash",
    "contradiction": "clash",
    "refinement": "more",
    "different": "different",
}
_PENALTY = 0.002
_ROUNDS, _RATE = 250, 0.05
_PARTS = 6
_STRANGERS, _STRANGER_WEIGHT = 2, 0.25


@dataclass(frozen=True)
class Example:
    old: str
    new: str
    name: str
    relation: str  # as labelled; "stranger" for statements of two topics
    language: str
    topic: str
    ours: bool = True  # counts in the figures


@dataclass(frozen=True)
class Seen:
    example: Example
    pair: Pair
    finding: Finding
    found: PairFeatures


def written(language: str) -> Iterator[Example]:
    for path in sorted((DATA / "pairs").glob(f"{language}-*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            name = "same" if row.get("weaker") else _CLASS_OF[row["relation"]]
            yield Example(row["old"], row["new"], name, row["relation"], language, row["topic"])


def also_learned(language: str) -> Iterator[Example]:
    """Never of the part `report`; what was flagged as a correction says nothing of the texts."""
    for name in (f"extra-{language}", language):
        path = DATA / "arbitration" / f"{name}.jsonl"
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            flagged = row["candidate"].get("corrects") or row["candidate"].get("explicit")
            if row["part"] == "report" or flagged or row["class"] not in _CLASS_OF:
                continue
            old, new = row["known"]["text"], row["candidate"]["text"]
            label = "same" if "SKIP" in row["expected"] else _CLASS_OF[row["class"]]
            yield Example(old, new, label, row["class"], language, old, ours=False)


def strangers(rows: Sequence[Example]) -> Iterator[Example]:
    """Each statement beside the nearest known ones of other topics."""
    known = list(dict.fromkeys((row.old, row.topic) for row in rows))
    asked = list(dict.fromkeys((row.new, row.topic) for row in rows))
    cosines = _vectors([text for text, _ in asked]) @ _vectors([text for text, _ in known]).T
    for (new, topic), row in zip(asked, cosines, strict=True):
        others = [at for at in np.argsort(-row) if known[at][1] != topic][:_STRANGERS]
        for at in others:
            yield Example(known[at][0], new, "different", "stranger", rows[0].language, topic)


def _vectors(texts: Sequence[str]) -> Vector:
    embedder = BundledEmbedder()
    parts = [embedder.embed(texts[at : at + 64]) for at in range(0, len(texts), 64)]
    return np.vstack(parts)


def examples() -> list[Example]:
    found: list[Example] = []
    for language in LANGUAGES:
        own = list(written(language))
        themed = [row for row in own if not row.topic[-1].isdigit()]
        found += [*own, *also_learned(language), *strangers(themed)]
    return found


def seen(rows: Sequence[Example]) -> list[Seen]:
    texts = list(dict.fromkeys(text for row in rows for text in (row.old, row.new)))
    at = {text: number for number, text in enumerate(texts)}
    vectors = _vectors(texts)
    return [_seen(row, float(vectors[at[row.old]] @ vectors[at[row.new]])) for row in rows]


def _seen(row: Example, cosine: float) -> Seen:
    pair = Pair(
        new=read(row.new),
        old=read(row.old),
        similarity=max(0.0, cosine),
        corrects=False,
        decided=False,
    )
    finding = compare(pair)
    return Seen(row, pair, finding, features(pair, finding))


def trained(rows: Vector, targets: Vector, weights: Vector) -> Vector:
    """The table of weights, bias last. Adam: Kingma and Ba, ICLR 2015."""
    table = np.zeros((rows.shape[1] + 1, targets.shape[1]), dtype=np.float32)
    mean, square = np.zeros_like(table), np.zeros_like(table)
    share = (weights / weights.sum())[:, None]
    for step in range(1, _ROUNDS + 1):
        error = (softmax(rows @ table[:-1] + table[-1]) - targets) * share
        slope = np.vstack([rows.T @ error, error.sum(axis=0)])
        slope[:-1] += _PENALTY * table[:-1]
        mean = 0.9 * mean + 0.1 * slope
        square = 0.99 * square + 0.01 * slope**2
        rate = _RATE if step < _ROUNDS * 2 // 3 else _RATE * 0.3
        table -= rate * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-8)
    return table


def unheard(
    rows: Vector, targets: Vector, weights: Vector, parts: Sequence[int]
) -> Iterator[Vector]:
    """For each part the table that was trained without it."""
    of = np.array(parts)
    for part in range(_PARTS):
        keep = of != part
        yield trained(rows[keep], targets[keep], weights[keep])


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--check", action="store_true", help="measure only, write nothing")
    options = parser.parse_args(arguments)
    cases = seen(examples())
    names = tuple(sorted({name for case in cases for name in case.found.named}))
    rows = np.stack([row_of(case.found, names) for case in cases])
    classes = [CLASSES.index(case.example.name) for case in cases]
    targets = np.eye(len(CLASSES), dtype=np.float32)[classes]
    strange = np.array([case.example.relation == "stranger" for case in cases])
    weights = np.where(strange, _STRANGER_WEIGHT, 1.0).astype(np.float32)
    parts = [zlib.crc32(case.example.topic.encode()) % _PARTS for case in cases]
    tables = list(unheard(rows, targets, weights, parts))
    held = [
        Held.of(case, row, names=names, table=tables[part])
        for case, row, part in zip(cases, rows, parts, strict=True)
        if case.example.ours
    ]
    text = card(held)
    print(text)
    if not options.check:
        table = trained(rows, targets, weights).astype(np.float16)
        np.savez_compressed(WEIGHTS, names=np.array(names), table=table)
        WEIGHTS.with_suffix(".md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
