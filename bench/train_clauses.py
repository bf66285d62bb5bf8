"""Trains the clause classifier on `bench/data/clauses`, and says how it does on unheard voices.

    .venv/bin/python bench/train_clauses.py [--check]

Logistic regression (multinomial, L2) by Adam in numpy; the same sentences give the same weights.
Figures come from cross-validation in which every voice is wholly inside one of five parts, so that
no speaker's turns of phrase are both learned and tested. The weights that are written are trained
on all voices. `--check` only measures.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.clause_card import Held, card
from memcenter.providers.bundled import BundledEmbedder
from memories.extraction.classifier.features import Clause, Vectors, matrix
from memories.extraction.classifier.model import NONE, WEIGHTS, Weights, log_odds, probabilities

DATA = Path(__file__).resolve().parent / "data" / "clauses"
LANGUAGES = ("en", "zh")
_PENALTY = 0.0007
_ROUNDS, _RATE = 300, 0.05
_PARTS = 5


@dataclass(frozen=True)
class Example:
    clause: Clause
    voice: str
    name: str  # the class: a kind, or "none:" and the reason


def examples() -> list[Example]:
    return [one for path in sorted(DATA.glob("*.jsonl")) for one in _of_file(path)]


def _of_file(path: Path) -> Iterator[Example]:
    language = path.name[:2]
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        name = f"{NONE}:{row['why']}" if row["label"] == NONE else row["label"]
        yield Example(Clause(row["text"], language), f"{language} {row['voice']}", name)


def embedded(rows: Sequence[Example]) -> Vectors:
    embedder = BundledEmbedder()
    texts = [row.clause.text for row in rows]
    parts = [embedder.embed(texts[at : at + 64]) for at in range(0, len(texts), 64)]
    return matrix([row.clause for row in rows], np.vstack(parts))


def trained(rows: Vectors, targets: Vectors) -> Vectors:
    """The table of weights, bias last. Adam: Kingma and Ba, ICLR 2015."""
    table = np.zeros((rows.shape[1] + 1, targets.shape[1]), dtype=np.float32)
    mean, square = np.zeros_like(table), np.zeros_like(table)
    for step in range(1, _ROUNDS + 1):
        error = (probabilities(rows, table) - targets) / len(rows)
        slope = np.vstack([rows.T @ error, error.sum(axis=0)])
        slope[:-1] += _PENALTY * table[:-1]
        mean = 0.9 * mean + 0.1 * slope
        square = 0.99 * square + 0.01 * slope**2
        rate = _RATE if step < _ROUNDS * 2 // 3 else _RATE * 0.3
        table -= rate * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-8)
    return table


def unheard(rows: Vectors, targets: Vectors, parts: Sequence[int]) -> Vectors:
    """What each clause gets from a table that was trained without its voice."""
    shares = np.zeros_like(targets)
    of = np.array(parts)
    for part in range(_PARTS):
        table = trained(rows[of != part], targets[of != part])
        shares[of == part] = probabilities(rows[of == part], table)
    return shares


def scaled(odds: Vectors, kept: Vectors) -> tuple[float, float]:
    """Slope and intercept under which `odds` predict `kept` best (Newton's method)."""
    design = np.stack([odds, np.ones_like(odds)], axis=1)
    line = np.array([1.0, 0.0])
    for _ in range(20):
        chance = 1 / (1 + np.exp(-design @ line))
        weight = chance * (1 - chance) + 1e-9
        line = line + np.linalg.solve(
            design.T @ (design * weight[:, None]), design.T @ (kept - chance)
        )
    return float(line[0]), float(line[1])


def measured(rows: Sequence[Example], features: Vectors) -> tuple[Weights, list[Held]]:
    classes = tuple(sorted({row.name for row in rows}))
    targets = np.eye(len(classes), dtype=np.float32)[[classes.index(row.name) for row in rows]]
    voices = sorted({row.voice for row in rows})
    shares = unheard(features, targets, [voices.index(row.voice) % _PARTS for row in rows])
    weights = Weights(classes, trained(features, targets), scaling={})
    kept = weights.kept
    odds = np.array([log_odds(float(row[kept].sum())) for row in shares])
    worth = targets[:, kept].sum(axis=1)
    for language in LANGUAGES:
        at = np.array([row.clause.language == language for row in rows])
        weights.scaling[language] = scaled(odds[at], worth[at])
    return weights, list(_held(rows, shares, odds, weights))


def _held(
    rows: Sequence[Example], shares: Vectors, odds: Vectors, weights: Weights
) -> Iterator[Held]:
    for row, share, odd in zip(rows, shares, odds, strict=True):
        slope, intercept = weights.scaling[row.clause.language]
        kept, refused = weights.kept, weights.refused
        yield Held(
            language=row.clause.language,
            name=row.name,
            keep=float(1 / (1 + np.exp(-(slope * odd + intercept)))),
            kind=weights.classes[kept[int(share[kept].argmax())]],
            reason=weights.classes[refused[int(share[refused].argmax())]],
        )


def write(weights: Weights) -> None:
    np.savez_compressed(
        WEIGHTS,
        classes=np.array(weights.classes),
        table=weights.table.astype(np.float16),
        languages=np.array(LANGUAGES),
        scaling=np.array([weights.scaling[language] for language in LANGUAGES]),
    )


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--check", action="store_true", help="measure and write nothing")
    options = parser.parse_args(arguments)
    rows = examples()
    weights, held = measured(rows, embedded(rows))
    voices = len({row.voice for row in rows})
    text = card(held, voices=voices)
    print(text)
    if not options.check:
        write(weights)
        WEIGHTS.with_suffix(".md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
